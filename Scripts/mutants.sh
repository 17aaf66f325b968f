#!/bin/sh
# Runs the mutation tests: puts mutants into a copy of the sources, and runs the crash and fault tests against each.
# Prints a table, and fails when a mutant survives. No product contains a mutant: the patch is applied to the copy alone.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
copy=.build/mutants
log=$(mktemp)
table=$(mktemp)
trap 'rm -f "$log" "$table"' EXIT

mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests"
# Files keep their times, so that a second run builds little more than what the patch touches.
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$copy"
git apply --directory="$copy" Tests/Mutants/mutants.patch
for product in Workload stress; do
    if ! "$swift" build --package-path "$copy" --product "$product" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
done
stress=$("$swift" build --package-path "$copy" --show-bin-path)/stress

echo "| mutant | what it does | noticed by |"
echo "| --- | --- | --- |"
grep -v '^#' Tests/Mutants/mutants.txt | while IFS='|' read -r mutant what tests; do
    noticed=
    for test in $tests; do
        MUTANT=$mutant "$stress" --short "$test" >"$log" 2>&1 && continue
        # A test that could not run has noticed nothing.
        if grep -q "^$test: " "$log"; then noticed=$test && break; else cat "$log" >&2; fi
    done
    echo "| $mutant | $what | ${noticed:-**nothing**} |"
done | tee "$table"
! grep -qF '**nothing**' "$table"
