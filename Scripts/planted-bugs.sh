#!/bin/sh
# Plants bugs into a copy of the sources, one at a time, and asks the proofs whether they notice. Prints a table, and
# fails when a bug goes unnoticed. No product contains any of it: the bugs are a patch, applied to the copy alone.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
copy=.build/planted-bugs
log=$(mktemp)
table=$(mktemp)
trap 'rm -f "$log" "$table"' EXIT

mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests"
# Files keep their times, so that a second run builds little more than what the patch touches.
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$copy"
git apply --directory="$copy" Tests/PlantedBugs/bugs.patch
for product in Workload prove; do
    if ! "$swift" build --package-path "$copy" --product "$product" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
done
prove=$("$swift" build --package-path "$copy" --show-bin-path)/prove

echo "| planted bug | what it does | noticed by |"
echo "| --- | --- | --- |"
grep -v '^#' Tests/PlantedBugs/bugs.txt | while IFS='|' read -r bug what proofs; do
    noticed=
    for proof in $proofs; do
        PLANTED_BUG=$bug "$prove" --short "$proof" >"$log" 2>&1 && continue
        # A proof that could not be made at all has noticed nothing.
        if grep -q "^$proof: " "$log"; then noticed=$proof && break; else cat "$log" >&2; fi
    done
    echo "| $bug | $what | ${noticed:-**nothing**} |"
done | tee "$table"
! grep -qF '**nothing**' "$table"
