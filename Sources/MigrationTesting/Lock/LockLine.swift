/// A line about a migration, which is the same in whatever case its keywords and names are written.
struct LockLine: Hashable {
    let text: String
    private let key: [String]

    init(_ text: String) {
        self.text = text
        key = NormalSQL(text).tokens.map { $0.text.first == "'" ? $0.text : $0.text.lowercased() }
    }

    static func == (line: LockLine, other: LockLine) -> Bool { line.key == other.key }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
