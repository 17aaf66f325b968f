#!/bin/sh
# Times clean builds of what users build, and weighs stripped executables that link each library.
# Takes some minutes. Prints Markdown.
set -eu
cd "$(dirname "$0")"
swift=${SWIFT:-swift}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

seconds() {
    before=$(date +%s)
    "$swift" build --scratch-path "$scratch" -c "$1" --product "$2" >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        exit 1
    }
    echo $(($(date +%s) - before))
}

"$swift" package --scratch-path "$scratch" resolve >/dev/null 2>&1

echo '| clean build of an executable that links | debug | release |'
echo '| --- | --- | --- |'
for name in foundation scheduler grdb schema; do
    row="| $name"
    for configuration in debug release; do
        find "$scratch" -path "*/$configuration/*" -delete
        row="$row | $(seconds "$configuration" "linked-$name") s"
    done
    echo "$row |"
done

echo
echo '| executable that links | stripped, release |'
echo '| --- | --- |'
for name in foundation scheduler grdb schema; do
    seconds release "linked-$name" >/dev/null
    file="$("$swift" build --scratch-path "$scratch" -c release --show-bin-path)/linked-$name"
    strip -o "$scratch/stripped" "$file"
    echo "| $name | $(($(wc -c <"$scratch/stripped") / 1000)) kB |"
done
