# Puts a mutant, behind a condition, into the source files that are given. Fails, and says so, unless each text that it
# looks for is found exactly once. Needs the variable `mutant`, the path of the mutant's file.

# What matches a text and nothing else, with any white space where the text has some.
function pattern(text) {
    gsub(/[][\\.^$*+?(){}|]/, "\\\\&", text)
    gsub(/[ \t\n]+/, "[ \t\n]+", text)
    return text
}
BEGIN {
    name = mutant
    gsub(/.*\/|\.mutant$/, "", name)
    while ((getline line < mutant) > 0) {
        if (line == "find:") { part = "find"; edits++ }
        else if (line == "replace with:") part = "replacement"
        else if (part == "") continue
        else if (part == "find") wanted[edits] = wanted[edits] (wanted[edits] == "" ? "" : "\n") line
        else replacement[edits] = replacement[edits] (replacement[edits] == "" ? "" : "\n") line
    }
}
{ text[FILENAME] = text[FILENAME] $0 "\n" }
END {
    for (edit = 1; edit <= edits; edit++) {
        sub(/\n+$/, "", wanted[edit])
        sub(/\n+$/, "", replacement[edit])
        isSwitched += gsub(/MUTANT/, "isMutant(\"" name "\")", replacement[edit])
        count = 0
        if (wanted[edit] == "") { print mutant ": no text after `find:`"; exit 1 }
        for (file in text) {
            rest = text[file]
            before = 0
            while (match(rest, pattern(wanted[edit]))) {
                count++
                found = file
                start = before + RSTART
                end = start + RLENGTH
                before = end - 1
                rest = substr(text[file], end)
            }
        }
        if (count != 1) {
            print mutant ": found " count " times in the sources instead of once:\n" wanted[edit]
            exit 1
        }
        text[found] = substr(text[found], 1, start - 1) replacement[edit] substr(text[found], end)
        edited[found]
    }
    if (!isSwitched) { print mutant ": nothing depends on MUTANT"; exit 1 }
    for (file in edited) { printf "%s", text[file] > file }
}
