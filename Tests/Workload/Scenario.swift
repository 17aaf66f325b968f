import AppMigrations

/// An app whose launch is disturbed: where it keeps what, and what it finds.
struct Scenario: Hashable, Sendable, CustomStringConvertible {
    enum Journal: String, CaseIterable, Sendable { case rollback, wal }
    enum Store: String, CaseIterable, Sendable { case json, sqlite }
    /// When schema migrations are committed: in groups, each by itself, or all of a move at once.
    enum Commits: String, CaseIterable, Sendable { case grouped, each, atonce }
    /// The data that the launch finds: nothing, the data of version 1.0 with its records or without any, nothing and a
    /// snapshot to begin with, the data of version 2.0 with work for deferred steps, or that of 2.1, which died in
    /// the middle of it; or that of 1.0 in another folder, from which the files are moved, or copied as if it were on
    /// another volume; or that of 1.0 with migrations of another branch, which the launch undoes; or that of 1.0, of which the
    /// launch redefines a table; or nothing and a set of migrations of which the oldest were squashed, the data of a
    /// release that had them all, in its place or in another folder, or the data of one that lacks some, which the
    /// launch refuses; or that of 1.0 in a damaged database, which the launch salvages.
    enum Start: String, CaseIterable, Sendable {
        case fresh, upgrade, unrecorded, snapshot, waiting, halfway, moved, copied, branched, redefined
        case begun, squashed, outdated, salvaged
        case squashedMoved = "squashedmoved"
    }
    enum Backup: String, CaseIterable, Sendable { case unsaved, saved }
    /// The managers that share the store.
    enum Managers: String, CaseIterable, Sendable { case one, two }

    var journal: Journal
    var store: Store
    var commits: Commits
    var start: Start
    var backup: Backup
    var managers = Managers.one

    /// True if there is data of version 1.0.
    var isOldInstall: Bool { start != .fresh && start != .snapshot && start != .begun }

    /// True if the files of version 1.0 are in another folder.
    var moves: Bool { start == .moved || start == .copied || start == .squashedMoved }

    /// The folder in which the files of version 1.0 are then.
    static let oldFolder = "old"

    /// The version of the app that is launched: 2.1 has deferred steps, and 3.0 finishes those in the database.
    var version: AppVersion {
        switch start {
        case .waiting: "2.1"
        case .halfway: "3.0"
        default: "2.0"
        }
    }

    /// The version at which the launch stops, before another call completes it; nil for none.
    ///
    /// That version's step comes late, and then has run when the rest begins.
    var stop: AppVersion? { journal == .wal && isOldInstall ? "1.8-2" : nil }

    /// Its words with hyphens, as in `wal-json-grouped-upgrade-unsaved` and `wal-json-each-fresh-unsaved-two`.
    var description: String {
        ([journal.rawValue, store.rawValue, commits.rawValue, start.rawValue, backup.rawValue]
            + (managers == .one ? [] : [managers.rawValue]))
            .joined(separator: "-")
    }
}

extension Scenario: LosslessStringConvertible {
    init?(_ description: String) {
        let words = description.split(separator: "-").map(String.init)
        guard words.count == 5 || words.count == 6, let journal = Journal(rawValue: words[0]),
            let store = Store(rawValue: words[1]), let commits = Commits(rawValue: words[2]),
            let start = Start(rawValue: words[3]), let backup = Backup(rawValue: words[4]),
            let managers = Managers(rawValue: words.count == 6 ? words[5] : "one")
        else { return nil }
        self.init(
            journal: journal, store: store, commits: commits, start: start, backup: backup, managers: managers
        )
    }
}
