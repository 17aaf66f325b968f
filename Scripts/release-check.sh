#!/bin/sh
# Checks what a release needs, before its tag.
#
#   Scripts/release-check.sh <version>           everything, in a fresh clone; takes about an hour
#   Scripts/release-check.sh --quick <version>   only what needs no build
set -eu
cd "$(dirname "$0")/.."

quick=
[ "${1-}" != --quick ] || { quick=yes; shift; }
version=${1:?which version is to be released, such as 0.1.0}
status=0
fail() {
    echo "error: $1" >&2
    status=1
}
# Arguments: a file, a regular expression that it has to hold, and what is missing otherwise.
holds() {
    grep -qE -- "$2" "$1" || fail "$1: $3"
}

dotted=$(echo "$version" | sed 's/\./\\./g')
[ -z "$(git status --porcelain)" ] || fail "The working tree has changes: commit them, or remove them."
[ -z "$(git tag --list "$version")" ] || fail "There is a tag $version already."
holds CHANGELOG.md "^## \\[$dotted\\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" "no section for $version with a date."
awk '/^## / { inside = /Unreleased/; next } inside && NF { found = 1 } END { exit found }' CHANGELOG.md ||
    fail "CHANGELOG.md: move what is under Unreleased into the section for $version."
holds README.md "Version $dotted:" "the maturity names another version than $version."
holds README.md "from: \"$dotted\"" "the installation names another version than $version."
holds Documentation/Comparison.md "\\| AppMigrations $dotted \\|" "the comparison names another version than $version."
holds Sources/Desk/app-migrations/AppMigrationsTool.swift "app-migrations $dotted," "--version prints another version than $version."
for file in LICENSE SECURITY.md .spi.yml Sources/AppMigrations/Resources/PrivacyInfo.xcprivacy; do
    [ -e "$file" ] || fail "$file is missing."
done
! git grep -nE '(branch|revision|path):' -- Package.swift | grep -F '.package(' >&2 ||
    fail "Package.swift: a release depends on versions only."
Scripts/links.sh || fail "There are dead links."

if [ -z "$quick" ] && [ "$status" = 0 ]; then
    clone=$(mktemp -d)
    trap 'rm -rf "$clone"' EXIT
    git clone --quiet . "$clone/AppMigrations"
    cd "$clone/AppMigrations"
    # The README's two commands first, as a newcomer runs them.
    for target in demo test test-crashes check docs; do
        echo "make $target, in a fresh clone"
        make "$target" </dev/null >"$clone/log" 2>&1 || {
            tail -n 40 "$clone/log" >&2
            fail "make $target fails in a fresh clone."
            break
        }
    done
fi
[ "$status" = 0 ] && echo "Ready: git tag $version"
exit $status
