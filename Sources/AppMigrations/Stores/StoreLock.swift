/// The result of an attempt to lock a manager.
package enum StoreLock: Sendable {
    /// The lock is held until it is released.
    ///
    /// `wasReleased` is true if the last holder released the lock at its end, so that it has not died while it held it;
    /// false if that is unknown.
    case acquired(wasReleased: Bool = false, release: LockRelease)

    /// Somebody else holds the lock.
    case held(by: LockHolder)
}

/// Who holds a lock, as far as that is known.
package enum LockHolder: Sendable, Equatable, CustomStringConvertible {
    case thisProcess
    case process(Int)
    case unknown

    package var description: String {
        switch self {
        case .thisProcess: "this process"
        case .process(let id): "process \(id)"
        case .unknown: "another process"
        }
    }
}

/// Releases a lock.
package struct LockRelease: Sendable {
    private let unlock: @Sendable (_ isEnd: Bool) -> Void

    /// - Parameter unlock: releases the lock, and says whether its holder has come to its end.
    package init(_ unlock: @escaping @Sendable (_ isEnd: Bool) -> Void) {
        self.unlock = unlock
    }

    /// Releases the lock: what ran under it has come to its end.
    package func callAsFunction() { unlock(true) }

    /// Releases the lock as if its holder had died: whoever takes it next looks for deaths.
    package func abandon() { unlock(false) }
}

/// A lock that has been taken.
struct HeldLock: Sendable {
    /// True if the last holder may have died while it held the lock.
    let hasDied: Bool
    let release: LockRelease
}

extension StoreLock {
    /// The lock; nil if somebody else holds it.
    var held: HeldLock? {
        switch self {
        case .acquired(let wasReleased, let release): HeldLock(hasDied: !wasReleased, release: release)
        case .held: nil
        }
    }
}
