/// A line about a migration, which is the same in whatever case its keywords and names are written.
struct LockLine: Hashable {
    let text: String
    // Swift takes two spellings of a character for the same, and SQLite does not.
    private let key: [[UInt8]]

    init(_ text: String) {
        self.text = text
        key = NormalSQL(text).tokens.map { token in
            let isText = token.text.utf8.first == UInt8(ascii: "'")
            return Array((isText ? token.text : token.text.lowercased()).utf8)
        }
    }

    static func == (line: LockLine, other: LockLine) -> Bool { line.key == other.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
