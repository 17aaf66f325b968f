#!/bin/sh
# Runs the tests under the thread sanitizer, then under the address sanitizer, and prints how each run has ended.
# Fails if a test has failed, or if a sanitizer has reported anything, be it in a process that a test has started.
set -eu
cd "$(dirname "$0")/.."

status=0

# The crash and fault tests are written for Linux.
crash_tests=
[ "$(uname -s)" != Linux ] || crash_tests=CrashTests

# Arguments: the sanitizer, the options that all processes of the run are to have.
run() {
    scratch=$PWD/.build/$1
    log=$scratch/tests.log
    reports=$scratch/reports
    rm -rf "$reports"
    mkdir -p "$reports"
    echo "$1 sanitizer: building and testing into $log"
    # What a process prints may be lost, or be read by a test: reports go to files, one for each process.
    options="log_path=$reports/report:$2"
    export TSAN_OPTIONS="$options" ASAN_OPTIONS="$options" SANITIZER="$1"
    if "${SWIFT:-swift}" test --sanitize="$1" --scratch-path "$scratch" --parallel >"$log" 2>&1 &&
        { [ -z "$crash_tests" ] ||
            "${SWIFT:-swift}" run --sanitize="$1" --scratch-path "$scratch" "$crash_tests" >>"$log" 2>&1; }
    then
        ended=passed
    else
        ended=failed
        status=1
        grep -E 'error: |✘' "$log" >&2 || tail -n 20 "$log" >&2
    fi
    grep -E 'Test run with [0-9]+ tests? ' "$log" || ended="ended without a result"
    # Processes with an environment of their own report to their errors, and so into the log if a test fails.
    count=$(find "$log" "$reports" -type f -exec cat {} + |
        grep -cE '(WARNING|ERROR): [A-Za-z]+Sanitizer' || [ $? = 1 ])
    echo "$1 sanitizer: $ended, reports: $count"
    [ "$ended" = passed ] && [ "$count" = 0 ] && return
    status=1
    find "$reports" -type f -exec cat {} + >&2
}

run thread halt_on_error=0
# What leaks is 32 bytes of Foundation's, for each weak reference that `Progress.addChild` makes.
run address "detect_leaks=0:suppressions=$PWD/Tests/Sanitizers/address.supp"
exit $status
