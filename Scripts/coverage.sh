#!/bin/sh
# Runs the tests, and prints how much of the two libraries they have run, and which lines they have not.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
scratch=$PWD/.build/coverage
# Profiles can be read by the tools of the compiler that has instrumented the code; others may be too old.
tools=$("$swift" -print-target-info | sed -n 's|.*"runtimeResourcePath": "\(.*\)/lib/swift".*|\1/bin|p')

# Code generators run while building, and are instrumented too.
LLVM_PROFILE_FILE=/dev/null
export LLVM_PROFILE_FILE
"$swift" build --build-tests --enable-code-coverage --scratch-path "$scratch"
unset LLVM_PROFILE_FILE

products=$("$swift" build --show-bin-path --scratch-path "$scratch")
rm -rf "$products/codecov"
"$swift" test --skip-build --enable-code-coverage --scratch-path "$scratch" --parallel

# The processes that tests have started count as well, those with an environment of their own too.
[ ! -e default.profraw ] || mv default.profraw "$products/codecov"
profile=$products/codecov/all.profdata
"$tools/llvm-profdata" merge -sparse -o "$profile" "$products"/codecov/*.profraw
tests=$products/AppMigrationsPackageTests.xctest
[ -d "$tests" ] && tests=$tests/Contents/MacOS/AppMigrationsPackageTests
cover() {
    "$tools/llvm-cov" "$1" -instr-profile "$profile" "$tests" -object "$products/app-migrations" \
        -object "$products/Journal" -object "$products/Launcher" -object "$products/SchemaLauncher" "$2"
}

echo "Lines that were not run:"
for library in AppMigrations SchemaMigrations; do
    cover show "$PWD/Sources/$library"
done | awk -v folder="$PWD/" '
    /^\/.*:$/ { file = substr($0, length(folder) + 1) }
    /^ *[0-9]+\| *0\|/ { line = $0 + 0; sub(/^[^|]*\|[^|]*\| */, ""); print "  " file line ": " $0 }'
for library in AppMigrations SchemaMigrations; do
    cover report "$PWD/Sources/$library" |
        awk -v library=$library '$1 == "TOTAL" { printf "%-17s %s of lines, %s of regions\n", library, $10, $4 }'
done
