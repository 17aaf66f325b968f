import Foundation

/// Does input and output on a thread where waiting hurts nobody: neither the caller's actor nor Swift's own few
/// threads.
package func offload<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}
