#!/bin/sh
# Runs the mutation tests, and prints a table: which crash and fault test notices which mutant of Tests/Mutants.
# Fails if a mutant survives.
#
#   Scripts/mutants.sh              tries all mutants
#   Scripts/mutants.sh <name> …     tries these
#   Scripts/mutants.sh --check      sees only whether each mutant finds its place in the sources
#
# No product contains a mutant: they are put into a copy of the sources.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
mutants=Tests/Mutants

# Puts all mutants into a folder of sources.
mutate_all() {
    misplaced=0
    for mutant in "$mutants"/*.mutant; do
        find "$1" -name '*.swift' -exec awk -v mutant="$mutant" -f "$mutants/mutate.awk" {} + >&2 || misplaced=1
    done
    [ $misplaced = 0 ] || return 1
    for module in "$1"/*; do
        if grep -rqF 'isMutant(' "$module"; then cp "$mutants/Mutant.swift" "$module"; fi
    done
}

if [ "${1-}" = --check ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    cp -R Sources "$scratch"
    mutate_all "$scratch/Sources"
    exit
fi
[ $# != 0 ] || set -- $(basename -s .mutant "$mutants"/*.mutant)
for name in "$@"; do
    [ -e "$mutants/$name.mutant" ] || { echo "error: no file $mutants/$name.mutant" >&2 && exit 1; }
done

copy=.build/mutants
log=$(mktemp)
trap 'rm -f "$log"' EXIT

mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests"
# Files keep their times, so that a second run builds little more than what the mutants are in.
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory "$copy"
mutate_all "$copy/Sources"
for product in Workload stress; do
    if ! "$swift" build --package-path "$copy" --product "$product" >"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
done
stress=$("$swift" build --package-path "$copy" --show-bin-path)/stress

# Arguments: a mutant's name. Prints the names of the tests that may notice it.
tests() {
    sed -n 's/^tests: //p' "$mutants/$1.mutant"
}

# A test that fails without a mutant would seem to notice each of them.
for test in $(for name in "$@"; do tests "$name"; done | tr ' ' '\n' | sort -u); do
    if ! "$stress" --short "$test" >"$log" 2>&1; then
        cat "$log" >&2
        echo "error: the test $test fails without a mutant" >&2
        exit 1
    fi
done

echo "| mutant | what it does | noticed by |"
echo "| --- | --- | --- |"
survivors=0
for name in "$@"; do
    noticed=
    for test in $(tests "$name"); do
        MUTANT=$name "$stress" --short "$test" >"$log" 2>&1 && continue
        # A test that could not run has noticed nothing.
        if grep -q "^$test: " "$log"; then noticed=$test && break; else cat "$log" >&2; fi
    done
    [ -n "$noticed" ] || survivors=$((survivors + 1))
    echo "| $name | $(head -n 1 "$mutants/$name.mutant") | ${noticed:-**nothing**} |"
done
[ $survivors = 0 ] || { echo "error: $survivors mutants survived" >&2 && exit 1; }
