import CMigrationSystem
package import Foundation

/// Does input and output on a thread of its own, where waiting hurts nobody: neither the caller's actor nor the few
/// threads that Swift and Dispatch share out.
///
/// The work begins even when all of those are blocked.
package func offload<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        onNewThread(Task.currentPriority.qualityOfService) {
            continuation.resume(with: Result { try work() })
        }
    }
}

/// Does work on a thread of its own; on one of Dispatch's, once it has one, if the system creates no more.
package func onNewThread(
    _ quality: QualityOfService = .default, _ work: @escaping @Sendable () -> Void
) {
    #if os(Linux) || os(Android)
        // Foundation's Thread does not tell that the system has created none.
        let body = Unmanaged.passRetained(ThreadBody(work))
        let error = app_migrations_start_thread(
            { context in
                guard let context else { return }
                Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
            }, body.toOpaque())
        guard error != 0 else { return }
        body.release()
        DispatchQueue.global().async(execute: work)
    #else
        let thread = Thread(block: work)
        thread.qualityOfService = quality
        thread.start()
    #endif
}

#if os(Linux) || os(Android)
    private final class ThreadBody {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
#endif

extension TaskPriority {
    /// The same for a thread.
    var qualityOfService: QualityOfService {
        switch self {
        case ...(.background): .background
        case ...(.utility): .utility
        case ..<(.high): .default
        default: .userInitiated
        }
    }
}
