#!/bin/sh
# Builds tests and what they need, and runs them. Then prints the slowest tests, and which requirements were missing.
# Fails if a test fails.
#
#   Scripts/test.sh [<argument of swift test> …]           the tests of the libraries, the tools and the samples
#   Scripts/test.sh --crashes [<argument of swift test> …]  the crash and fault tests, in short form
#
# .build/test-times.txt gets the seconds that each test takes from its start to its end: what it waits for the
# processor, for files, for other processes and for simultaneous tests is in them. `--no-parallel` leaves the last out.
# For a test with arguments, they are the sum of its cases.
set -u
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# Hundreds of tests may start processes at once, each with three open files.
ulimit -n 8192 2>/dev/null || true
# More tests at once gain nothing, and each would wait for all others. Swift 6.2 does not know it.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$((2 * $(getconf _NPROCESSORS_ONLN)))

mkdir -p .build
events=$PWD/.build/test-events.jsonl
times=$PWD/.build/test-times.txt
export TEST_TIMES="$times.new"
rm -f "$events" "$times" "$TEST_TIMES"

status=0
if [ "${1-}" = --crashes ]; then
    shift
    # SwiftPM does not build what an executable starts.
    "$swift" build --product Workload && "$swift" run CrashTests \
        --event-stream-output-path "$events" --event-stream-version 0 "$@" || status=$?
else
    # The product is made of all test targets, which leaves out what only the crash and fault tests need.
    "$swift" test --test-product AppMigrationsPackageTests --parallel \
        --event-stream-output-path "$events" --event-stream-version 0 "$@" || status=$?
fi

if [ -s "$TEST_TIMES" ]; then
    awk -F '\t' '
        { seconds[$2] += $1 }
        END { for (test in seconds) printf "%8.3f  %s\n", seconds[test], test }' "$TEST_TIMES" |
        sort -rn >"$times"
    rm "$TEST_TIMES"
    echo "The slowest tests, in seconds, of all in .build/test-times.txt:"
    head -n 20 "$times"
fi
# A suite that is skipped is no test: its id lacks a line and a column.
[ ! -e "$events" ] || awk '
    !/"kind":"testSkipped"/ || !/"testID":"[^"]*\.swift:[0-9]+:[0-9]+"/ { next }
    match($0, /"Needs [^":]*/) {
        requirement = substr($0, RSTART + 7, RLENGTH - 7)
        gsub(/\\\//, "/", requirement)
        tests[requirement]++
    }
    END {
        for (requirement in tests)
            list = list (list ? ", " : "") requirement " (" tests[requirement] (tests[requirement] > 1 ? " tests)" : " test)")
        if (list) print "Skipped for want of: " list
    }' "$events"
exit $status
