#!/bin/sh
# Builds the libraries' documentation into a static site, by the DocC of the Swift toolchain. A warning is an error.
# BASE_PATH is the path at which the site is hosted, such as the name of the repository for its GitHub Pages.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
docc=$(dirname "$(readlink -f "$(command -v "$swift")")")/docc
[ -x "$docc" ] || docc=$(xcrun --find docc)
scratch=$PWD/.build/docs
site=$PWD/site
# Each after those that it links to.
libraries="AppMigrations SchemaMigrations DatabaseBatches DatabaseFiles GRDBMigrations MigrationTesting"

# Copies a library's articles, whose links name files, so that they work in the repository too. In the copy they are
# DocC's: by the name of the article, or by its place on the site where it is another library's.
copy() {
    rm -rf "$2"
    mkdir -p "$2"
    cp -R "$1/." "$2"
    for article in "$2"/*.md; do
        awk '
            /^ *```/ { inCode = !inCode }
            !inCode {
                while (match($0, /\]\(\.\.\/\.\.\/[A-Za-z]+\/[A-Za-z]+\.docc\/[A-Za-z]+\.md(#[^)]*)?\)/)) {
                    split(substr($0, RSTART + 2, RLENGTH - 3), parts, "/")
                    page = parts[5]
                    sub(/\.md.*/, "", page)
                    page = tolower("/documentation/" parts[3] (page == parts[3] ? "" : "/" page))
                    $0 = substr($0, 1, RSTART + 1) page substr($0, RSTART + RLENGTH - 1)
                }
                while (match($0, /\]\([A-Za-z]+\.md(#[^)]*)?\)/)) {
                    page = substr($0, RSTART + 2, RLENGTH - 3)
                    sub(/\.md.*/, "", page)
                    $0 = substr($0, 1, RSTART + 1) "doc:" page substr($0, RSTART + RLENGTH - 1)
                }
            }
            { print }' "$article" >"$article.new"
        mv "$article.new" "$article"
    done
}

mkdir -p "$scratch/symbols"
archives=
for library in $libraries; do
    # The compiler writes down a module's symbols when it builds it, and what it adds to other modules' types.
    "$swift" build --quiet --scratch-path "$scratch" --target "$library" -Xswiftc -DDOCUMENTATION \
        -Xswiftc -emit-extension-block-symbols -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$scratch/symbols"
    rm -rf "$scratch/$library"
    mkdir -p "$scratch/$library"
    cp "$scratch/symbols/$library".symbols.json "$scratch/$library"
    # Only a library that extends types of others has a file for each of them.
    find "$scratch/symbols" -name "$library@*.symbols.json" -exec cp {} "$scratch/$library" \;
    dependencies=
    for archive in $archives; do dependencies="$dependencies --dependency $archive"; done
    # $dependencies is left unquoted: it is a list of options.
    copy "Sources/$library/$library.docc" "$scratch/$library.docc"
    "$docc" convert "$scratch/$library.docc" --additional-symbol-graph-dir "$scratch/$library" \
        --fallback-display-name "$library" --fallback-bundle-identifier "$library" \
        --enable-experimental-external-link-support $dependencies \
        --warnings-as-errors --output-path "$scratch/$library.doccarchive"
    archives="$archives $scratch/$library.doccarchive"
done
rm -rf "$site"
"$docc" merge $archives --synthesized-landing-page-name AppMigrations --output-path "$site"
[ -z "${BASE_PATH-}" ] || "$docc" process-archive transform-for-static-hosting "$site" --hosting-base-path "$BASE_PATH"
echo "The documentation is in site. Look at it with"
echo "    python3 -m http.server --directory site    # then open /documentation"
