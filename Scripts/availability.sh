#!/bin/sh
# Checks that nothing is used that the oldest supported version of an Apple platform lacks, on a machine without Apple's
# SDKs. Prints file, line and symbol of each such use, and fails if there is one.
#
# The compiler on Linux ignores `@available(iOS 18, *)`, but keeps it. So this joins two things that come with Swift:
#   - the index store of the last build: which symbol each line of each target refers to;
#   - the symbol graphs of the modules, which say since when a symbol is available: of Swift's own libraries as they are
#     for Linux (the standard library and swift-foundation are the sources of Apple's as well), of GRDB and of
#     ArgumentParser.
# The oldest supported versions are those in Package.swift.
#
# It also finds integers in the libraries for apps that need 64 bits where the line names no such type: an Int of
# watchOS has 32 bits, and no compiler says that `1 << 53` is 0 there.
#
# What it cannot see: symbols without any availability in the Foundation for Linux that Apple's has only in newer
# systems, what only Apple's branches use (Scripts/apple-branches.sh compiles those), and what a macro expands to.
# A use that is in order, since `#available` or `#if os` guards it, is in Scripts/Availability/allowed.txt; so is an
# integer whose type another line names.
set -eu
cd "$(dirname "$0")/.."

# With Apple's SDKs the compiler checks this itself.
[ "$(uname -s)" = Linux ] || exit 0

swift=${SWIFT:-swift}
sources=Scripts/Availability
work=.build/availability
mkdir -p "$work"
bin=$("$swift" build --show-bin-path)
toolchain=$(dirname "$(dirname "$(readlink -f "$(command -v "$swift")")")")

if ! "$swift" build --build-tests >"$work/build.log" 2>&1; then
    cat "$work/build.log" >&2
    exit 1
fi

# Is made again when the compiler or the sources of the check are newer.
version=$("$swift" --version 2>/dev/null | head -n 1)
if [ "$(cat "$work/version" 2>/dev/null)" != "$version" ] ||
    [ -n "$(find "$sources" -newer "$work/version")" ]; then
    rm -rf "$work/symbols" "$work/version"
    "$toolchain/bin/clang" -O1 -o "$work/references" "$sources/references.c" \
        -I "$toolchain/local/include" -L "$toolchain/lib" -lIndexStore -Wl,-rpath,"$toolchain/lib"
    "$toolchain/bin/swiftc" -O -o "$work/availability" "$sources/availability.swift"
    echo "$version" >"$work/version"
fi

target=$("$swift" -print-target-info | sed -n 's/^ *"unversionedTriple" *: *"\(.*\)".*/\1/p')
for module in Swift _Concurrency _StringProcessing Synchronization Observation Dispatch FoundationEssentials \
    FoundationInternationalization Foundation Testing GRDB ArgumentParser; do
    graphs=$work/symbols/$module
    [ -e "$bin/Modules/$module.swiftmodule" ] && [ "$bin/Modules/$module.swiftmodule" -nt "$graphs" ] && rm -rf "$graphs"
    [ -d "$graphs" ] && continue
    mkdir -p "$graphs.new"
    "$toolchain/bin/swift-symbolgraph-extract" -module-name "$module" -target "$target" -output-dir "$graphs.new" \
        -I "$bin/Modules" -I .build/checkouts/GRDB.swift/Sources/GRDBSQLite -minimum-access-level public \
        -skip-synthesized-members >"$work/extract.log" 2>&1 ||
        { cat "$work/extract.log" >&2; exit 1; }
    "$work/availability" condense "$graphs.new" >"$graphs.new/availability.tsv"
    rm "$graphs.new"/*.json
    mv "$graphs.new" "$graphs"
done

cat "$work"/symbols/*/availability.tsv >"$work/symbols.tsv"
"$swift" package dump-package >"$work/package.json"
"$work/references" "$bin/index/store" "$PWD/" >"$work/references.tsv"
"$work/availability" check "$work/package.json" "$work/symbols.tsv" "$work/references.tsv" "$sources/allowed.txt" \
    Sources/AppMigrations Sources/SchemaMigrations Sources/DatabaseBatches \
    Sources/DatabaseFiles Sources/GRDBMigrations Sources/MigrationDiagnostics
