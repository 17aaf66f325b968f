/// The state of one of the places of a database, as far as it decides which file the database is.
enum PlaceState: Equatable, CaseIterable {
    /// There is no file.
    case missing
    /// A database without a table, a ledger or a record.
    case empty
    /// A database with any of them, with rows or without.
    case data
    /// A database with any of them where one that carries the mark was moved away: an older version of the app has made it.
    case older
    /// A database that carries the mark of a complete move, and holds something else.
    case moved
    /// A database that carries the mark of a move that may not be complete, and holds something else.
    case marked
    /// A database that carries the mark of a move alone.
    case markedEmpty
    /// Something that cannot be read: damage, a folder, a link that leads nowhere.
    case unreadable
    /// The file that was copied to a place before this one, as it was then.
    case leftover
    /// Something after a place with the mark. It is not looked at.
    case ignored
}

/// The decision about the files at the places of one database: a pure function of their states.
///
/// The first place is where the database belongs; the others are where older versions of the app had it, the newest
/// first. The mark decides first, then the data:
///
/// | places | decision |
/// | --- | --- |
/// | the first one has the mark | it is the database; what stands elsewhere is ignored |
/// | an old one has it, of a complete move | what stands at older places is ignored; what an older version has made where it was before gives way; beside it only data counts |
/// | an old one has it, of a move that may not be complete | what stands at older places is ignored; beside newer ones only its data counts |
/// | one cannot be read, beside another | the app has to choose |
/// | two have data | the app has to choose |
/// | one has data | it is the database, and those without data give way |
/// | none has data | the first is the database, and the others give way |
///
/// Data is everything that the app could miss: rows, and also tables without rows, a ledger, or a record. So nothing that
/// the app has emptied comes back, and no record of what ran is lost.
enum MoveDecision: Equatable {
    /// There is no file.
    case none
    /// One file is the database.
    case keep(Int, settingAside: [Int], removing: [Int], ignoring: [Int])
    /// Several files may be the database.
    case two([Int])
    /// Some files cannot be read, and one of them may be the database.
    case unreadable([Int])

    init(_ states: [PlaceState]) {
        let places = states.indices.filter { states[$0] != .missing }
        let end = states.firstIndex { [.moved, .marked, .markedEmpty].contains($0) } ?? states.endIndex
        let candidates = places.filter { $0 <= end }
        let rest = places.filter { $0 > end }
        let unreadable = candidates.filter { states[$0] == .unreadable }
        let moved = candidates.filter { states[$0] == .moved }
        let counting: Set<PlaceState> = moved.isEmpty ? [.data, .older, .marked] : [.data, .moved]
        let data = candidates.filter { counting.contains(states[$0]) }
        if end != 0, !unreadable.isEmpty {
            self = .unreadable(unreadable)
        } else if data.count > 1 {
            self = .two(data)
        } else if let kept = data.first ?? candidates.last(where: { $0 == end }) ?? candidates.first {
            self = .keep(
                kept, settingAside: candidates.filter { $0 != kept },
                removing: rest.filter { states[$0] == .leftover },
                ignoring: rest.filter { states[$0] != .leftover })
        } else {
            self = .none
        }
    }
}
