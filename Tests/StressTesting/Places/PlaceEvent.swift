import DatabaseFiles

/// What can stand at a path at the beginning.
enum PlaceStart: String, CaseIterable, Sendable {
    case nothing, empty, tables, record, rows, marked, half, garbage, folder, journal, log
}

/// What can happen to a database that moves from one of two paths to the other.
enum PlaceEvent: Hashable, Sendable {
    case open
    /// As from another volume.
    case openByCopy
    /// The process dies before a change.
    case crash(DatabaseFile.MoveChange)
    /// A launch of a build that has the database at the old path still, and writes a row.
    case olderBuild
    /// An extension makes an empty file at the new path, or writes a row there.
    case extensionOpens, extensionWrites
    /// The person deletes every row.
    case deletion
    case keepNew, keepOld
    /// The app is launched while another process is inside a transaction, which ends before the first change.
    case openBesideWriter(atNew: Bool)
    /// The app is launched, and an extension makes a database at the new path before a change.
    case openBesideMaker(DatabaseFile.MoveChange)

    static let all: [PlaceEvent] =
        [.open, .openByCopy] + DatabaseFile.MoveChange.allCases.map(PlaceEvent.crash) + [
            .olderBuild, .extensionOpens, .extensionWrites, .deletion, .keepNew, .keepOld,
            .openBesideWriter(atNew: true), .openBesideWriter(atNew: false), .openBesideMaker(.mark),
            .openBesideMaker(.rename), .openBesideMaker(.nameCopy),
        ]

    var copies: Bool {
        switch self {
        case .openByCopy, .crash(.copy), .crash(.nameCopy), .crash(.removeOld), .openBesideMaker(.nameCopy):
            true
        default: false
        }
    }
}
