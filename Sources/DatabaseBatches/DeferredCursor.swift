/// Where a deferred step continues.
///
/// ```swift
/// manager.afterMigratingToVersion("2.1", in: dbQueue, startingAt: 0) { db, page in
///     let notes = try importPage(page, into: db)
///     return notes.isEmpty ? .done : .more(page + 1)
/// }
/// ```
public enum DeferredCursor<Cursor: Sendable>: Sendable {
    /// There is more to do, from this cursor on.
    case more(Cursor)
    /// Everything is done.
    case done
}
