import Foundation

/// All threads that Dispatch shares out, made to wait.
///
/// Other tests wait too, so end it soon.
public final class BlockedDispatch: Sendable {
    // More than Dispatch ever starts threads: 64 on Apple's systems, 255 on others.
    private static let count = 400
    /// When to give up, so that a test fails rather than hangs.
    private static let limit: DispatchTimeInterval = .seconds(600)

    private let isOver = DispatchSemaphore(value: 0)
    private let timeouts = DispatchSemaphore(value: 0)

    /// Blocks the threads.
    public init() {
        let queue = DispatchQueue.global()
        for _ in 0..<Self.count {
            queue.async { [isOver, timeouts] in
                if isOver.wait(timeout: .now() + Self.limit) == .timedOut { timeouts.signal() }
            }
        }
    }

    /// Lets the threads go on, and returns whether they were blocked all the time.
    public func end() -> Bool {
        for _ in 0..<Self.count { isOver.signal() }
        return timeouts.wait(timeout: .now()) == .timedOut
    }
}
