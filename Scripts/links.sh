#!/bin/sh
# Finds dead links: in Markdown files, those to files and to headings; in comments, those to articles. Asks no network.
#
# Links between articles name files, such as [The limits](Limits.md), so that they work where a repository is read, and
# Scripts/docs.sh makes DocC's links of them. DocC itself checks links to symbols.
set -eu
cd "$(dirname "$0")/.."

list=$(mktemp)
trap 'rm -f "$list"' EXIT
git ls-files --cached --others --exclude-standard >"$list"
articles=$(grep '\.md$' "$list")
comments=$(git grep -no '<doc:[A-Za-z]*>' -- 'Sources/*.swift' || [ $? = 1 ])

status=0
# $articles is left unquoted: it is a list of files, whose names have no blanks.
LC_ALL=C awk '
    function complain(problem) {
        printf "%s:%d: %s\n", FILENAME, FNR, problem
        failed = 1
    }
    # The anchor that GitHub gives to a heading.
    function anchor(heading) {
        sub(/^#+ +/, "", heading)
        gsub(/\]\([^)]*\)/, "", heading)
        heading = tolower(heading)
        gsub(/[!-,.\/:-@[-^`{-~]/, "", heading)
        gsub(/ /, "-", heading)
        return heading
    }
    function resolved(folder, path,    parts, count, i, kept, depth, result) {
        count = split(folder "/" path, parts, "/")
        depth = 0
        for (i = 1; i <= count; i++) {
            if (parts[i] == "" || parts[i] == ".") continue
            if (parts[i] == "..") depth--
            else kept[++depth] = parts[i]
            if (depth < 0) return ""
        }
        result = kept[1]
        for (i = 2; i <= depth; i++) result = result "/" kept[i]
        return result
    }
    function check(target,    path, heading, file) {
        if (target ~ /^(https?|mailto):/) return
        if (target ~ /^doc:/) { complain(target ": name the file, as in [The limits](Limits.md)"); return }
        if (target ~ /^\//) { complain(target ": begin with the folder of this file"); return }
        path = heading = target
        sub(/#.*/, "", path)
        if (!sub(/^[^#]*#/, "", heading)) heading = ""
        file = path == "" ? FILENAME : resolved(folder, path)
        if (!(file in exists)) { complain(target ": there is no such file"); return }
        if (heading != "" && !((file, heading) in anchors)) complain(target ": there is no such heading")
        # The site with the documentation has the articles alone.
        if (FILENAME ~ /\.docc\// && file !~ /\.docc\/[^\/]*$/) complain(target ": not in the documentation: name it instead")
    }
    pass == 0 {
        exists[$0]
        path = $0
        while (sub(/\/[^\/]*$/, "", path)) exists[path]
        next
    }
    FNR == 1 {
        folder = FILENAME
        if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
        inCode = 0
    }
    /^ *```/ { inCode = !inCode; next }
    inCode { next }
    pass == 1 {
        if ($0 ~ /^#+ /) {
            name = anchor($0)
            count = seen[FILENAME, name]++
            anchors[FILENAME, count ? name "-" count : name]
        }
        next
    }
    {
        gsub(/``[^`]*``|`[^`]*`/, "")
        rest = $0
        while (match(rest, /\]\([^) ]*[) ]|<doc:[^>]*>|^\[[^]]*\]: *[^ ]*|(src|srcset|href)="[^"]*"/)) {
            target = substr(rest, RSTART, RLENGTH)
            rest = substr(rest, RSTART + RLENGTH)
            sub(/^(\]\(|<|\[[^]]*\]: *|[a-z]*=")/, "", target)
            sub(/[)> "]$/, "", target)
            check(target)
        }
    }
    END { exit failed }' pass=0 "$list" pass=1 $articles pass=2 $articles || status=1

for comment in $comments; do
    article=${comment##*<doc:}
    library=${comment#Sources/}
    library=${library%%/*}
    [ -e "Sources/$library/$library.docc/${article%>}.md" ] && continue
    echo "$comment: there is no such article"
    status=1
done
exit $status
