#!/bin/sh
# Builds and tests the package against a build of SQLite other than the system's, SQLCipher among them.
#
#   Scripts/with-sqlite.sh <folder> [<argument of swift test> …]
#
# The folder holds sqlite3.h, and libsqlite3 or libsqlcipher. What is built goes into .build/with-sqlite, with a copy of
# GRDB, which is changed for SQLCipher as its own Package.swift says.
#
#   PASSPHRASE=<text>   encrypts every database of the tests, as if every configuration's prepareDatabase set this
#                       passphrase; without apostrophes, quotes, backslashes, | and &
#   ONLY=build          runs no test
set -eu
case ${1-} in
'' | -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" && exit 2 ;;
esac
library=$(cd "$1" && pwd)
shift
arguments=$#
cd "$(dirname "$0")/.."
SWIFT=${SWIFT:-swift}

[ -e "$library/sqlite3.h" ] || { echo "error: $library has no sqlite3.h" >&2 && exit 1; }
name=
for candidate in sqlcipher sqlite3; do
    for file in "$library/lib$candidate".*; do [ ! -e "$file" ] || name=${name:-$candidate}; done
done
[ -n "$name" ] || { echo "error: $library has neither libsqlite3 nor libsqlcipher" >&2 && exit 1; }

[ -d .build/checkouts/GRDB.swift ] || $SWIFT package resolve
copy=$PWD/.build/with-sqlite/$(basename "$library")
grdb=$copy/GRDB.swift
mkdir -p "$copy/AppMigrations"
# Links, so that only what has changed is built again.
for entry in *; do
    [ "$entry" = Package.swift ] || ln -sfn "$PWD/$entry" "$copy/AppMigrations/$entry"
done
# Writes a file if it has other contents.
write() {
    cat >"$1.new"
    if cmp -s "$1.new" "$1"; then rm "$1.new"; else mv "$1.new" "$1"; fi
}
sed 's|\.package(url: "[^"]*/GRDB\.swift", [^)]*)|.package(path: "../GRDB.swift")|' Package.swift |
    write "$copy/AppMigrations/Package.swift"
[ -d "$grdb" ] || { cp -R .build/checkouts/GRDB.swift "$grdb" && chmod -R u+w "$grdb"; }

cipher=
if [ "$name" = sqlcipher ]; then
    awk -v package='dependencies.append(.package(path: "../SQLCipher.swift"))' '
        /GRDB\+SQLCipher: Delete/ { deletes = 1; next }
        /GRDB\+SQLCipher: Uncomment/ { deletes = 0; uncomments = 1; next }
        deletes && /systemLibrary\(/ { until_end = 1 }
        until_end { if (/\)/) { until_end = 0; deletes = 0 }; next }
        deletes { deletes = 0; next }
        uncomments && /^ *\/\// { sub(/\/\//, ""); if (/SQLCipher\.swift\.git/) $0 = package; print; next }
        { uncomments = 0; print }' .build/checkouts/GRDB.swift/Package.swift | write "$grdb/Package.swift"
    cipher=$copy/SQLCipher.swift
    mkdir -p "$cipher/Sources/SQLCipher"
    write "$cipher/Package.swift" <<EOF
// swift-tools-version:6.1
import PackageDescription

let package = Package(
    name: "SQLCipher.swift",
    products: [.library(name: "SQLCipher", targets: ["SQLCipher"])],
    targets: [.systemLibrary(name: "SQLCipher")])
EOF
    write "$cipher/Sources/SQLCipher/module.modulemap" <<EOF
module SQLCipher [system] {
    header "sqlite3.h"
    link "$name"
    export *
}
EOF
    # GRDB includes <SQLCipher/sqlite3.h>.
    write "$cipher/Sources/SQLCipher/sqlite3.h" <<EOF
#define SQLITE_HAS_CODEC 1
#include "$library/sqlite3.h"
EOF
fi
setups='[]'
if [ -n "${PASSPHRASE-}" ]; then
    # SQLCipher takes a tenth of a second to derive a key from a passphrase, and the tests open thousands of databases.
    setup="PRAGMA cipher_default_kdf_iter = 1000; PRAGMA key = '$PASSPHRASE'"
    setups="[{ try \$0.execute(sql: \"$setup\") }]"
    # For the tests that open databases without GRDB.
    export DATABASE_SETUP="$setup"
fi
configuration=GRDB/Core/Configuration.swift
sed "s|\(private var setups: .*\) = \[\]|\1 = $setups|" ".build/checkouts/GRDB.swift/$configuration" |
    write "$grdb/$configuration"

cd "$copy/AppMigrations"
# In the environment for the compilers that tests start, too.
export CPATH="${cipher:+$cipher/Sources:}$library"
set -- -Xlinker "-L$library" -Xlinker -rpath -Xlinker "$library" "$@"
if [ "${ONLY-}" = build ]; then
    $SWIFT build --build-tests "$@"
    exit
fi
$SWIFT test "$@"
# Arguments choose among the tests; without any, the crash and fault tests run too.
[ "$arguments" != 0 ] || $SWIFT run "$@" CrashTests
