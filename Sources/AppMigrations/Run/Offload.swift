import Foundation

/// Does input and output on a thread of its own, where waiting hurts nobody: neither the caller's actor nor the few
/// threads that Swift and Dispatch share out.
///
/// The work begins even when all of those are blocked.
package func offload<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Result { try work() }) }
        thread.qualityOfService = Task.currentPriority.qualityOfService
        thread.start()
    }
}

extension TaskPriority {
    /// The same for a thread.
    fileprivate var qualityOfService: QualityOfService {
        switch self {
        case ...(.background): .background
        case ...(.utility): .utility
        case ..<(.high): .default
        default: .userInitiated
        }
    }
}
