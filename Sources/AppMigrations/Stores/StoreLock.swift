/// The result of an attempt to lock a manager.
public enum StoreLock: Sendable {
    /// The lock is held until the closure is called.
    case acquired(release: @Sendable () -> Void)

    /// Somebody else holds the lock. Says who, as far as that is known: `process 417`.
    case held(by: String)
}
