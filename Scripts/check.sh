#!/bin/sh
# Checks what the Swift linter does not look at. Prints every offending file and fails if there is one.
set -eu
cd "$(dirname "$0")/.."

if [ ! -e .git ]; then
    echo "Not a git checkout: the checks of tracked files are skipped."
    exit 0
fi

status=0
report() {
    [ -z "$2" ] && return
    printf 'error: %s:\n%s\n' "$1" "$2" >&2
    status=1
}

# A listing that fails (git refuses the directory, say) ends the script; git grep exits with 1 for "no match".
git ls-files >/dev/null
report "trailing whitespace" "$(git grep -nIE '[[:space:]]+$' || [ $? = 1 ])"
report "ignored by .gitignore, yet tracked" "$(git ls-files --cached --ignored --exclude-standard)"
report "build products or resolved versions are tracked" \
    "$(git ls-files -- '*Package.resolved' '.build*' '*/.build/*' '*.swiftpm/*' '*.o' '*.swiftmodule')"
report "scripts that are not executable" \
    "$(git ls-files --stage -- '*.sh' .ci/run | grep -v '^100755 ' || [ $? = 1 ])"
for script in $(git ls-files -- '*.sh'); do
    sh -n "$script" || status=1
done
Scripts/mutants.sh --check || status=1
exit $status
