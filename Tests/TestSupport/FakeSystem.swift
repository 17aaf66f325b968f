package import AppMigrations
import Foundation

/// A system that grants time before it suspends the process, until the test says that the time has expired.
public final class FakeSystem: Sendable {
    private struct State {
        var reasons: [String] = []
        var block: (@Sendable (Bool) -> Void)?
        var returned: [Bool] = []
    }

    private let state = Locked(State())

    /// Creates a system that has granted nothing yet.
    public init() {}

    /// The reasons for which it was asked for time.
    public var reasons: [String] { state.withLock { $0.reasons } }

    /// The arguments of the calls that have returned: true if the time has expired.
    public var returned: [Bool] { state.withLock { $0.returned } }

    /// The system that `ExpiringActivity` asks.
    package var request: ExpiringActivity.Request {
        { [self] reason, block in
            state.withLock { state in
                state.reasons.append(reason)
                state.block = block
            }
            call(block, isExpired: false)
        }
    }

    /// Says that the time granted last has expired.
    public func expire() {
        if let block = state.withLock({ $0.block }) { call(block, isExpired: true) }
    }

    private func call(_ block: @escaping @Sendable (Bool) -> Void, isExpired: Bool) {
        Thread.detachNewThread { [self] in
            block(isExpired)
            state.withLock { $0.returned.append(isExpired) }
        }
    }
}
