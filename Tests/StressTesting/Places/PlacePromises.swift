/// What is found at a path, or in a file that was set aside, by a look that shares no code with the package.
enum PlaceFinding: Hashable, Sendable {
    case nothing
    /// A folder, garbage, or half a copy.
    case unreadable
    case database(rows: Set<Int>, hasTables: Bool, isMarked: Bool)

    var rows: Set<Int> {
        if case .database(let rows, _, _) = self { rows } else { [] }
    }

    /// True for tables with rows or without, and for a record.
    var hasData: Bool {
        if case .database(_, true, _) = self { true } else { false }
    }

    var isMarked: Bool {
        if case .database(_, _, true) = self { true } else { false }
    }
}

/// What an app is promised of a database that moves, by value.
///
/// It knows of no decision.
///
/// - No row that the app has seen is replaced by an older one, and none that the person has deleted comes back: a launch
///   that opens the database shows what the launch before has left, unless the app has chosen another file.
/// - No row disappears: it is in one of the two places, or in a file set aside that the report names.
/// - No launch is refused when the file at the new place carries the mark of a move, nor after a launch has moved it there.
/// - A launch opens the one database with data, and refuses to choose between two, or beside one that it cannot read.
struct PlacePromises: Hashable, Sendable {
    /// Every row that was ever committed, and not deleted by the person.
    private var rows: Set<Int> = []
    /// What the app's next launch has to show; nil before the first, and after a choice.
    private var shown: Set<Int>?
    /// True if a launch has brought the database from the old place, and the app has chosen no other since.
    private var hasMoved = false

    init(_ new: PlaceFinding, _ old: PlaceFinding) { rows = new.rows.union(old.rows) }

    /// True if a launch has opened the database.
    var isOpened: Bool { shown != nil }

    /// Notes a row that another process has committed.
    mutating func noteRow(_ row: Int, atNew isAtNew: Bool) {
        rows.insert(row)
        if isAtNew { shown?.insert(row) }
    }

    /// Notes that the person has deleted every row, or chosen a file.
    mutating func noteDeletion(of deleted: Set<Int>) {
        rows.subtract(deleted)
        shown?.subtract(deleted)
    }

    mutating func noteChoice() { (shown, hasMoved) = (nil, false) }

    /// Checks a launch that has come to its end, with what stood at the places when it decided.
    ///
    /// - Parameter result: the rows that it shows, or the code of its error.
    mutating func launch(_ result: Result<Set<Int>, PlaceError>, _ new: PlaceFinding, _ old: PlaceFinding)
        -> String?
    {
        let candidates = [new, old].filter { $0 != .nothing }
        switch result {
        case .success(let found):
            if let shown, shown != found { return "shows \(found.sorted()) after \(shown.sorted())" }
            if !new.isMarked {
                if new.hasData, old.hasData { return "chooses between two databases" }
                if candidates.contains(.unreadable) { return "chooses beside what it cannot read" }
            }
            let wanted = new.isMarked || new.hasData ? new.rows : old.rows
            if found != wanted { return "shows \(found.sorted()) where there is \(wanted.sorted())" }
            shown = found
            if !new.hasData, !new.isMarked, old.hasData { hasMoved = true }
        case .failure(let error):
            if new.isMarked { return "is refused with \(error.code), though the database is marked" }
            if hasMoved { return "is refused with \(error.code), though the database was moved" }
            if !candidates.contains(.unreadable), !(new.hasData && old.hasData) {
                return "is refused with \(error.code), and nothing is the matter"
            }
        }
        return nil
    }

    /// Checks what is left after an event.
    func afterwards(_ findings: [PlaceFinding], unreadableBefore: Int) -> String? {
        let left = findings.reduce(into: Set<Int>()) { $0.formUnion($1.rows) }
        let missing = rows.subtracting(left)
        if !missing.isEmpty { return "rows \(missing.sorted()) are gone" }
        if findings.count(where: { $0 == .unreadable }) < unreadableBefore {
            return "what could not be read is gone"
        }
        return nil
    }
}

/// The code of a launch's error.
struct PlaceError: Error, Hashable { let code: String }
