import Foundation

/// A file of the sources, as far as the direction of arrows is concerned: what it declares, names and imports.
struct SourceFile {
    /// The path in its module's folder, as in `Planning/LaunchPlan.swift`.
    let path: String
    /// The types that the file declares for other files, nested ones aside.
    private(set) var declared: Set<String> = []
    /// The names in the code that may be types: they begin with an upper-case letter, and with no type before them.
    private(set) var named: Set<String> = []
    private(set) var imported: Set<String> = []

    /// The first folder of the path; nil if the file is in none.
    var room: String? {
        let parts = path.split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : nil
    }

    init(path: String, code: String) {
        self.path = path
        for line in CodeLines(code) { read(line) }
    }

    private mutating func read(_ line: CodeLines.Line) {
        let words = line.words
        for word in words where word.isName && !word.followsDot { named.insert(word.text) }
        // What stands at the margin is neither nested nor local.
        guard line.isAtMargin else { return }
        if let index = words.firstIndex(where: { $0.text == "import" }), index <= 1, words.count > index + 1 {
            imported.insert(words[index + 1].text)
        }
        let kinds: Set = ["actor", "class", "enum", "protocol", "struct", "typealias"]
        guard let kind = words.firstIndex(where: { kinds.contains($0.text) }), words.count > kind + 1,
            !words[..<kind].contains(where: { ["extension", "fileprivate", "private"].contains($0.text) })
        else { return }
        declared.insert(words[kind + 1].text)
    }
}

/// The lines of a file without comments and without the text of strings.
struct CodeLines: Sequence {
    struct Word {
        let text: String
        let followsDot: Bool

        var isName: Bool { text.first?.isUppercase == true }
    }

    struct Line {
        let isAtMargin: Bool
        let words: [Word]
    }

    private let lines: [Line]

    init(_ code: String) {
        var lines: [Line] = []
        var isInText = false
        for line in code.split(separator: "\n", omittingEmptySubsequences: false) {
            let bytes = Array(line.utf8)
            // A text of several lines begins and ends with three quotes; what is interpolated there names no new types.
            let delimiters = line.components(separatedBy: "\"\"\"").count - 1
            if isInText {
                if delimiters % 2 == 1 { isInText = false }
                continue
            }
            let words = Self.words(bytes)
            lines.append(Line(isAtMargin: bytes.first.map { $0 != 32 } ?? false, words: words))
            if delimiters % 2 == 1 { isInText = true }
        }
        self.lines = lines
    }

    func makeIterator() -> [Line].Iterator { lines.makeIterator() }

    private static func words(_ bytes: [UInt8]) -> [Word] {
        var words: [Word] = []
        var word: [UInt8] = []
        var before: UInt8 = 32
        var isInString = false
        func isLetter(_ byte: UInt8) -> Bool {
            (65...90).contains(byte) || (97...122).contains(byte) || (48...57).contains(byte) || byte == 95
        }
        for (index, byte) in (bytes + [32]).enumerated() {
            if !isInString, isLetter(byte) {
                if word.isEmpty, index > 0 { before = bytes[index - 1] }
                word.append(byte)
                continue
            }
            if !word.isEmpty {
                words.append(
                    Word(text: String(decoding: word, as: UTF8.self), followsDot: before == UInt8(ascii: "."))
                )
                word = []
            }
            if byte == UInt8(ascii: "\""), index == 0 || bytes[index - 1] != UInt8(ascii: "\\") {
                isInString.toggle()
            }
            if !isInString, byte == UInt8(ascii: "/"), index + 1 < bytes.count, bytes[index + 1] == byte {
                break
            }
        }
        return words
    }
}
