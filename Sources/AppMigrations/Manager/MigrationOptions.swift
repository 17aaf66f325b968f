/// What is asked for rarely when a ``MigrationManager`` is created.
public struct MigrationOptions {
    /// Tells at which version an install without a record is.
    public var adopting: Adoption?

    /// How long ``MigrationManager/migrate()`` waits for another run of the same manager, in this process or
    /// in another one.
    ///
    /// Five seconds by default.
    public var lockTimeout: Duration

    /// Creates options; what is left out has its default.
    public init(adopting: Adoption? = nil, lockTimeout: Duration = .seconds(5)) {
        self.adopting = adopting
        self.lockTimeout = lockTimeout
    }
}

/// An app's answer to the question at which version an install without a record is.
///
/// It is asked only when there is no record. Nil means: there is nothing here from before.
public struct Adoption {
    let version: () throws -> AppVersion?

    /// Creates an answer from a closure, which must not guess: when it cannot tell, it throws.
    public init(_ version: @escaping () throws -> AppVersion?) {
        self.version = version
    }
}
