/// One thing that a manager of a small app has to do.
///
/// A version is not enough to name it: a version can have a schema migration, steps in two databases, and a version change.
package enum SmallWork: Hashable, Sendable {
    case step(Int)
    /// The schema migrations of the first database.
    case move
    /// The closures for a version change, of a manager.
    case versionChange(Int)

    /// Tells works apart: the number of a step, the mark of the move, or a negative number.
    package var id: Int {
        switch self {
        case .step(let id): id
        case .move: SmallApp.Move.mark
        case .versionChange(let manager): -1 - manager
        }
    }

    package init(id: Int) {
        self = id < 0 ? .versionChange(-1 - id) : id == SmallApp.Move.mark ? .move : .step(id)
    }

    /// The work as Swift code.
    package var code: String {
        switch self {
        case .step(let id): ".step(\(id))"
        case .move: ".move"
        case .versionChange(let manager): ".versionChange(\(manager))"
        }
    }
}

extension SmallApp {
    /// The manager that has a work.
    package func manager(of work: SmallWork) -> Int {
        if case .versionChange(let manager) = work { manager } else { manager(of: work.id) }
    }
}
