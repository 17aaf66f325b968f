#!/bin/sh
# Compiles the branches of the sources that are meant for Apple's platforms, without a Mac, and runs the tests of one.
#
#   Scripts/apple-branches.sh [macos] [ios]      compiles and, for macOS, tests these flavours; all of them by default
#   Scripts/apple-branches.sh libraries          compiles what an app is made of, as for iOS
#
# A copy of the package has its conditionals rewritten: `canImport(Darwin)` and the platform are true there, what is
# Linux's is false. What Apple's systems have and Linux does not comes from Scripts/AppleBranches, with the signatures
# that Swift gives it on Apple's systems. So the compiler checks the syntax and the types of each branch, and the tests
# run the code; that Apple's systems do as the stubs do, only a Mac can tell.
set -eu
cd "$(dirname "$0")/.."

# A Mac compiles them anyway.
[ "$(uname -s)" = Linux ] || exit 0

swift=${SWIFT:-swift}
stubs=Scripts/AppleBranches
[ $# != 0 ] || set -- ios macos

# Arguments: a file of the original and its copy. Writes it only if it has changed, so that little is compiled again.
update() {
    if ! cmp -s "$1" "$2"; then
        mkdir -p "$(dirname "$2")"
        cp "$1" "$2"
    fi
}

# Prints a source file as the flavour sees it.
rewrite() {
    sed -E -e '/^[[:space:]]*#(if|elseif)[[:space:]]/ {
            s/canImport\((Darwin|BackgroundTasks)\)/APPLE/g
            s/canImport\((Glibc|Musl|Android|Bionic|WASILibc|WinSDK|CRT)\)/ELSEWHERE/g
            s/\bos\('"$os"'\)/APPLE/g
            s/\bos\([A-Za-z]+\)/ELSEWHERE/g
        }' -e 's/^([[:space:]]*)import (Darwin|BackgroundTasks)$/\1import AppleStubs/' \
        -e 's/^([[:space:]]*)@preconcurrency import Darwin$/\1@preconcurrency import Glibc/' "$1"
}

compile() {
    flavor=$1
    case $flavor in
    macos) os=macOS folder=macos builds=--build-tests ;;
    # What an app and its tests are made of, and the tests that a simulator runs: the rest is for developers' computers.
    ios) os=iOS folder=ios builds='--target=MigrationTesting --target=AppMigrationsTests --target=SchemaMigrationsTests --target=DatabaseBatchesTests --target=DatabaseFilesTests --target=GRDBMigrationsTests' ;;
    libraries) os=iOS folder=ios builds='--target=GRDBMigrations --target=DatabaseBatches --target=DatabaseFiles' ;;
    *) echo "error: no flavour $flavor" >&2 && exit 1 ;;
    esac
    copy=.build/apple-branches/$folder
    mkdir -p "$copy"
    list=$copy.files
    git ls-files --cached --others --exclude-standard >"$list"
    # What is gone from the original goes from the copy.
    (cd "$copy" && find . -path ./.build -prune -o -type f -print) | sed 's|^\./||' |
        grep -vE '^(Sources/AppleStubs/|Package.resolved$)' | sort >"$copy.there" || [ $? = 1 ]
    sort "$list" | comm -13 - "$copy.there" | while IFS= read -r file; do rm -f "$copy/$file"; done

    scratch=$copy.scratch
    while IFS= read -r file; do
        [ -f "$file" ] || continue
        case $file in
        Package.swift)
            # What is built for Linux only stays: the manifest runs here.
            sed -E -e 's/^#if !os\(Linux\)/#if true/' \
                -e 's/^let settings: \[SwiftSetting\] = \[/&.define("APPLE"), /' \
                -e 's/dependencies: \["CMigrationSystem", /&"AppleStubs", /' \
                -e 's/^    targets: \[/&.target(name: "AppleStubs"),/' \
                "$file" >"$scratch"
            ;;
        Sources/*.swift | Samples/*.swift | Tests/*.swift)
            rewrite "$file" >"$scratch"
            # What the stubs add to Foundation must be imported where it is used.
            if grep -q performExpiringActivity "$scratch"; then
                sed -i -E '0,/^((public|package) )?import Foundation$/s//&\nimport AppleStubs/' "$scratch"
            fi
            ;;
        *) cp "$file" "$scratch" ;;
        esac
        [ ! -x "$file" ] || chmod +x "$scratch"
        update "$scratch" "$copy/$file"
    done <"$list"
    for file in "$stubs"/*.swift; do update "$file" "$copy/Sources/AppleStubs/${file##*/}"; done
    # The dependencies as they are: nothing is fetched.
    [ ! -e Package.resolved ] || update Package.resolved "$copy/Package.resolved"
    mkdir -p "$copy/.build"
    for folder in checkouts repositories; do
        [ -e "$copy/.build/$folder" ] || [ ! -e ".build/$folder" ] || cp -R ".build/$folder" "$copy/.build/$folder"
    done
    [ -e "$copy/.build/workspace-state.json" ] || [ ! -e .build/workspace-state.json ] ||
        cp .build/workspace-state.json "$copy/.build/"

    log=$copy.log
    : >"$log"
    for build in $builds; do
        if ! "$swift" build --package-path "$copy" "$build" >>"$log" 2>&1; then
            # In terms of the originals.
            grep -E '^/.* error:' "$log" | sort -u | sed "s|^$PWD/$copy/||" >&2 || cat "$log" >&2
            echo "error: the branches for $os do not compile (in $copy)" >&2
            exit 1
        fi
    done
    # Files that were not compiled again have no warnings: with any, the copy is compiled anew next time.
    if grep -E "$folder/(Sources|Samples|Tests)/.* (warning|error):" "$log" >&2; then
        rm -rf "$copy/.build/debug" "$copy/.build/"*-linux-*
        echo "error: the branches for $os have warnings" >&2
        exit 1
    fi
    [ "$flavor" = macos ] || return 0
    if ! "$swift" test --package-path "$copy" --skip-build --parallel >"$log" 2>&1; then
        grep -E '^(✘|error:)' "$log" >&2 || cat "$log" >&2
        echo "error: tests fail with the branches for $os" >&2
        exit 1
    fi
    grep -E 'Test run with [0-9]+ tests?' "$log" | tail -n 1 | sed "s/^[^A-Z]*/Branches for $os: /"
}

for flavor; do compile "$flavor"; done
