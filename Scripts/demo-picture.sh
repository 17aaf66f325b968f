#!/bin/sh
# Draws Documentation/demo.svg from the output of the demo on a terminal. Run it while the machine is quiet: the picture
# shows how long each step took.
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
picture=Documentation/demo.svg
output=$(mktemp)
trap 'rm -f "$output"' EXIT

"$swift" build --quiet --product Journal
journal=$("$swift" build --show-bin-path)/Journal
if [ "$(uname -s)" = Linux ]; then
    script --quiet --return --command "'$journal' demo --no-slow" /dev/null >"$output" </dev/null
else
    script -q /dev/null "$journal" demo --no-slow >"$output" </dev/null
fi

# Some versions of awk count bytes and some count characters. In the C locale all of them count bytes.
LC_ALL=C awk '
    function columns(text) {
        gsub(/[\200-\277]/, "", text)  # continuation bytes of UTF-8
        return length(text)
    }
    # Each piece gets its own position and width, so that columns stay aligned in every font.
    function piece(text, color) {
        at = 24 + column * 8.4
        width = columns(text) * 8.4
        column += columns(text)
        gsub(/&/, "\\&amp;", text)
        gsub(/</, "\\&lt;", text)
        gsub(/>/, "\\&gt;", text)
        body = body sprintf("<text x=\"%.1f\" y=\"%d\" fill=\"%s\" textLength=\"%.1f\">%s</text>\n", at, y, color,
            width, text)
    }
    function styled(text, color) {
        # SVG drops blanks at the ends of a text, and joins several in the middle.
        while (match(text, /^ +|  +| +$/)) {
            rest = substr(text, RSTART + RLENGTH)
            if (RSTART > 1) piece(substr(text, 1, RSTART - 1), color)
            column += RLENGTH
            text = rest
        }
        if (text != "") piece(text, color)
        if (column > widest) widest = column
    }
    function line(text, color) {
        y += 20
        column = 0
        while (match(text, /\033\[[0-9]*m/)) {
            start = RSTART  # styled() changes it
            end = RSTART + RLENGTH
            styled(substr(text, 1, start - 1), color)
            code = substr(text, start + 2, end - start - 3)
            text = substr(text, end)
            color = code in colors ? colors[code] : plain
        }
        styled(text, color)
    }
    BEGIN {
        plain = "#d7dae0"
        colors["1"] = "#ffffff"
        colors["2"] = "#8b92a0"
        colors["32"] = "#98c379"
        y = 16
        line("$ make demo", "#61afef")
    }
    {
        gsub(/\r+$/, "")
        gsub(/\033\[\?7[lh]/, "")
        sub(/^.*\r\033\[K/, "")  # a progress bar that the line has replaced
        line($0, plain)
    }
    END {
        size = sprintf("width=\"%d\" height=\"%d\"", widest * 8.4 + 48, y + 24)
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" %s viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
            size, widest * 8.4 + 48, y + 24, "The output of make demo"
        printf "<rect %s rx=\"10\" fill=\"#1e2127\"/>\n", size
        print "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,DejaVu Sans Mono,monospace\" font-size=\"14\">"
        printf "%s</g>\n</svg>\n", body
    }' "$output" >"$picture.new"
mv "$picture.new" "$picture"
echo "Drew $picture."
