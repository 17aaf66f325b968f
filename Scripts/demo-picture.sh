#!/bin/sh
# Draws the README's picture from the output of the demo on a terminal: its first launches, on a light and on a dark page.
# Run it while the machine is quiet: the picture shows how long each step took.
#
#   Scripts/demo-picture.sh [<recorded output of the demo>]
set -eu
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
output=$(mktemp)
trap 'rm -f "$output"' EXIT

if [ $# -gt 0 ]; then
    cp "$1" "$output"
else
    "$swift" build --quiet --product Journal
    journal=$("$swift" build --show-bin-path)/Journal
    if [ "$(uname -s)" = Linux ]; then
        script --quiet --return --command "'$journal' demo --no-slow" /dev/null >"$output" </dev/null
    else
        script -q /dev/null "$journal" demo --no-slow >"$output" </dev/null
    fi
fi

# Arguments: the picture, and its colors: page, frame, text, headings, details, success, prompt.
draw() {
    # Some versions of awk count bytes and some count characters. In the C locale all of them count bytes.
    LC_ALL=C awk -v palette="$2" '
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
            bottom = y
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
            split(palette, palettes, " ")
            plain = palettes[3]
            colors["1"] = palettes[4]
            colors["2"] = palettes[5]
            colors["32"] = palettes[6]
            y = 16
            shown = 4
            line("$ make demo", palettes[7])
        }
        {
            gsub(/\r+$/, "")
            gsub(/\033\[\?7[lh]/, "")
            sub(/^.*\r\033\[K/, "")  # a progress bar that the line has replaced
        }
        # The launches up to the first one without work are enough to understand the output.
        /^\033\[1mJournal / { launches++ }
        launches <= shown {
            line($0, plain)
        }
        END {
            size = sprintf("width=\"%d\" height=\"%d\"", widest * 8.4 + 48, bottom + 24)
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" %s viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n",
                size, widest * 8.4 + 48, bottom + 24, "The first launches of make demo"
            printf "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"10\" fill=\"%s\" stroke=\"%s\"/>\n",
                widest * 8.4 + 47, bottom + 23, palettes[1], palettes[2]
            print "<g font-family=\"ui-monospace,SFMono-Regular,Menlo,DejaVu Sans Mono,monospace\" font-size=\"14\">"
            printf "%s</g>\n</svg>\n", body
        }' "$output" >"$1.new"
    mv "$1.new" "$1"
    echo "Drew $1."
}
draw Documentation/demo.svg '#f6f8fa #d1d9e0 #1f2328 #000000 #59636e #1a7f37 #0969da'
draw Documentation/demo-dark.svg '#1e2127 #1e2127 #d7dae0 #ffffff #8b92a0 #98c379 #61afef'
