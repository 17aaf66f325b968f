/// Says "not now": throw it from a step whose time has not come, and every later launch asks again.
///
/// ```swift
/// manager.whenMigratingToVersion("2.1") {
///     guard flags.hasNewSearch else { throw MigrationPostponed(reason: "the new search is switched off") }
///     try buildIndex()
/// }
/// ```
///
/// It counts neither as a failure nor as a crash. `migrate()` throws a ``MigrationError`` with the code `postponed`, and later
/// steps of the manager wait: give a part that others need not wait for a manager of its own.
public struct MigrationPostponed: Error, Sendable, Equatable {
    /// The reason, for messages: a clause such as `the keychain is locked`.
    let reason: String

    /// Creates the error.
    ///
    /// - Parameter reason: the reason, for messages: a clause such as `the keychain is locked`.
    public init(reason: String) {
        self.reason = reason
    }
}

extension MigrationPostponed: CustomStringConvertible {
    /// The reason.
    public var description: String { reason }
}
