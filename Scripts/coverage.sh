#!/bin/sh
# Runs the tests, and prints how much of the libraries they have run, and which lines they have not.
set -eu
cd "$(dirname "$0")/.."

# The libraries that apps link, and the executables that tests start.
libraries="AppMigrations DatabaseBatches DatabaseFiles GRDBMigrations MigrationDiagnostics SchemaMigrations"
executables="Accounts app-migrations embed-migrations EmbeddedSQL GettingStarted Journal Launcher QuickStart"
[ "$(uname -s)" != Linux ] || executables="$executables CrashTests Workload"

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
if [ "$(uname -s)" = Linux ]; then
    LLVM_PROFILE_FILE=$products/codecov/CrashTests%m.profraw "$products/CrashTests"
fi

# The processes that tests have started count as well, those with an environment of their own too.
[ ! -e default.profraw ] || mv default.profraw "$products/codecov"
profile=$products/codecov/all.profdata
"$tools/llvm-profdata" merge -sparse -o "$profile" "$products"/codecov/*.profraw
tests=$products/AppMigrationsPackageTests.xctest
[ ! -d "$tests" ] || tests=$tests/Contents/MacOS/AppMigrationsPackageTests
objects=
for executable in $executables; do objects="$objects -object $products/$executable"; done

# Arguments: llvm-cov's command, a library. Prints into a file: the status of a command before a pipe is lost.
report=$scratch/report.txt
cover() {
    # $objects is left unquoted: it is a list of options.
    "$tools/llvm-cov" "$1" -instr-profile "$profile" "$tests" $objects "$PWD/Sources/$2" >"$report"
    [ -s "$report" ] || {
        echo "error: llvm-cov has nothing to say of Sources/$2" >&2
        exit 1
    }
}

echo "Lines that were not run:"
for library in $libraries; do
    cover show "$library"
    awk -v folder="$PWD/" '
        /^\/.*:$/ { file = substr($0, length(folder) + 1) }
        /^ *[0-9]+\| *0\|/ { line = $0 + 0; sub(/^[^|]*\|[^|]*\| */, ""); print "  " file line ": " $0 }' "$report"
done
for library in $libraries; do
    cover report "$library"
    awk -v library="$library" '
        $1 == "TOTAL" { printf "%-20s %s of lines, %s of regions\n", library, $10, $4; found = 1 }
        END { exit !found }' "$report"
done
