#!/bin/sh
# Makes sure the package can be built: Swift, and on Linux SQLite's development files.
# Silent when there is nothing to do.
set -eu

# The macOS SDK has SQLite.
[ "$(uname -s)" = Linux ] || exit 0

swift=$(command -v "${SWIFT:-swift}") || {
    echo "error: '${SWIFT:-swift}' was not found. Install Swift 6.2 or later from https://www.swift.org/install" \
        "and put it on your PATH." >&2
    exit 1
}

# Asks the compiler that will read the header: clang comes with Swift, pkg-config and gcc may be missing.
has_sqlite() {
    clang=$(dirname "$(readlink -f "$swift")")/clang
    [ -x "$clang" ] || clang=$(command -v clang) || { [ -e /usr/include/sqlite3.h ]; return; }
    echo '#include <sqlite3.h>' | "$clang" -E -x c - >/dev/null 2>&1
}

fail() {
    cat >&2 <<'EOF'
error: SQLite's development files are missing. Install them as root, then try again:
    Debian, Ubuntu:          apt-get update && apt-get install libsqlite3-dev
    Fedora, RHEL, Amazon:    dnf install sqlite-devel
    openSUSE:                zypper install sqlite3-devel
    Arch:                    pacman -S sqlite
EOF
    exit 1
}

if has_sqlite; then exit 0; fi
command -v apt-get >/dev/null || fail

if [ "$(id -u)" = 0 ]; then
    sudo=
elif sudo -n true 2>/dev/null; then
    sudo='sudo -n'
else
    fail
fi

# $sudo is left unquoted: it is nothing, or a command and its option.
apt() {
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" </dev/null
}
install() {
    apt install -y --no-install-recommends libsqlite3-dev
}

echo "Installing libsqlite3-dev with apt-get: SQLite's header is missing."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The first attempt fails when the package lists are missing or out of date.
if ! install >"$log" 2>&1 && ! { apt update && install; } >"$log" 2>&1; then
    cat "$log" >&2
    fail
fi
has_sqlite || fail
