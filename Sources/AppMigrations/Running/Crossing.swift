import Foundation

/// A run on a thread of its own, and what it asks of its caller, who answers where it is: on its actor, in its task.
///
/// A cancelled task ends neither. A run that asks waits for the answer, so that only one of the two works at any time.
final class Crossing<Value: Sendable>: Sendable {
    indirect enum Message: Sendable {
        case question(AppCall, answer: @Sendable (Result<AppCall.Answer, any Error>) -> Void)
        case end(Result<Value, any Error>)
    }

    private struct State {
        /// What the caller has not received yet.
        var message: Message?
        var waiting: CheckedContinuation<Message, Never>?
    }

    private let state = Locked(State())

    /// Begins a run with the caller's priority.
    init(hearsEvents: Bool, _ run: @escaping @Sendable (Caller) throws -> Value) {
        onNewThread(Task.currentPriority.qualityOfService) { [self] in
            send(.end(Result { try run(Caller(hearsEvents: hearsEvents, ask: ask)) }))
        }
    }

    /// Returns what the run asks next, or how it has ended.
    func next(isolation: isolated (any Actor)?) async -> Message {
        await withCheckedContinuation(isolation: isolation) { continuation in
            let message = state.withLock { state in
                defer { state.message = nil }
                if state.message == nil { state.waiting = continuation }
                return state.message
            }
            if let message { continuation.resume(returning: message) }
        }
    }

    private func ask(_ call: AppCall) throws -> AppCall.Answer {
        let wasAnswered = DispatchSemaphore(value: 0)
        let answer = Locked<Result<AppCall.Answer, any Error>>(.success(.done))
        send(
            .question(call) { found in
                answer.withLock { $0 = found }
                wasAnswered.signal()
            })
        wasAnswered.wait()
        return try answer.withLock { $0 }.get()
    }

    private func send(_ message: Message) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            if state.waiting == nil { state.message = message }
            return state.waiting
        }
        waiting?.resume(returning: message)
    }
}
