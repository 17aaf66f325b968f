/// An app whose launch is disturbed: where it keeps what, and what it finds.
struct Scenario: Hashable, Sendable, CustomStringConvertible {
    enum Journal: String, CaseIterable, Sendable { case rollback, wal }
    enum Store: String, CaseIterable, Sendable { case json, sqlite }
    /// When schema migrations are committed: in groups, each by itself, or all of a move at once.
    enum Commits: String, CaseIterable, Sendable { case grouped, each, atonce }
    /// What the launch finds: nothing, the data of version 1.0, or nothing and a snapshot to begin with.
    enum Start: String, CaseIterable, Sendable { case fresh, upgrade, snapshot }
    enum Backup: String, CaseIterable, Sendable { case unsaved, saved }

    var journal: Journal
    var store: Store
    var commits: Commits
    var start: Start
    var backup: Backup

    /// Its words with hyphens, as in `wal-json-grouped-upgrade-unsaved`.
    var description: String {
        [journal.rawValue, store.rawValue, commits.rawValue, start.rawValue, backup.rawValue]
            .joined(separator: "-")
    }
}

extension Scenario: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: "-").map(String.init)
        guard words.count == 5, let journal = Journal(rawValue: words[0]),
            let store = Store(rawValue: words[1]), let commits = Commits(rawValue: words[2]),
            let start = Start(rawValue: words[3]), let backup = Backup(rawValue: words[4])
        else { return nil }
        self.init(journal: journal, store: store, commits: commits, start: start, backup: backup)
    }
}
