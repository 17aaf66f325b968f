#!/bin/sh
# Checks what the Swift linter does not look at. Prints every offending file and fails if there is one.
set -eu
cd "$(dirname "$0")/.."

if [ ! -e .git ]; then
    echo "Not a git checkout: the checks of tracked files are skipped."
    exit 0
fi

status=0
# Arguments: a problem, and what has it: nothing is in order.
report() {
    [ -z "$2" ] && return
    printf 'error: %s:\n%s\n' "$1" "$2" >&2
    status=1
}

# Each listing is assigned first: only then does one that fails (git refuses the directory, say) end the script.
# git grep and grep exit with 1 for "no match".
# A file of the samples has the line ends of Windows.
found=$(git grep -nIE '[[:space:]]+$' -- ':!Tests/SampleMigrations' || [ $? = 1 ])
report "trailing whitespace" "$found"
found=$(git ls-files --cached --ignored --exclude-standard)
report "ignored by .gitignore, yet tracked" "$found"
found=$(git ls-files -- '*Package.resolved' '.build*' '*/.build/*' '*.swiftpm/*' '*.o' '*.swiftmodule')
report "build products or resolved versions are tracked" "$found"
scripts=$(git ls-files --stage -- '*.sh' .ci/run)
found=$(echo "$scripts" | grep -v '^100755 ' || [ $? = 1 ])
report "scripts that are not executable" "$found"
# GRDB has no such product when it is made for SQLCipher, and then the package could not even be resolved.
found=$(git grep -nI 'GRDBSQLite' -- Package.swift Sources Samples Tests || [ $? = 1 ])
report "a use of GRDB's product GRDBSQLite, which is not there with SQLCipher: use CMigrationSQLite" "$found"
# Words that the documentation avoids, as a regular expression, and what to write instead. In SQL they may be names.
avoid() {
    found=$(git grep -nIiwE "$1" -- ':!*.sql' ':!Scripts/check.sh' || [ $? = 1 ])
    report "$2" "$found"
}
avoid 'mend(s|ed|ing)?' 'write "fix" instead of "mend"'
avoid 'planted' 'write "mutant" instead of "planted bug"'
avoid 'ways? back' 'write "down migration", "reversible" or "irreversible" instead of "way back"'
avoid 'kin' 'name the platforms, or whatever is meant, instead of "kin"'
avoid 'proofs?|prov(e|es|ed|en|ing)' 'write "test", "check", "verify" or "evidence" instead of "proof" or "prove"'

found=$(git grep -nE '^ *@Suite(\(".*\))?$' -- 'Tests/*.swift' | grep -vF '.timed' || [ $? = 1 ])
report 'suites without .timed, so that "make test" does not measure their tests' "$found"

for script in $(git ls-files -- '*.sh'); do
    sh -n "$script" || status=1
done
links=$(Scripts/links.sh) || true
report "dead links" "$links"
Scripts/mutants.sh --check || status=1
exit $status
