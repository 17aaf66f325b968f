import Foundation

/// What a run does next, and how it goes on from there.
///
/// Runs do no input or output and call no closure of the app's: they return actions, which one of two drivers carries out.
/// The drivers differ in nothing but how they wait.
enum Action {
    typealias SuspendingBody = nonisolated(nonsending) () async throws -> Void

    /// Input and output: on any thread, where waiting hurts nobody.
    case elsewhere(@Sendable () -> Void, then: () -> Action)
    /// A closure of the app's: where the manager was called.
    case here(() throws -> Void, then: (Result<Void, any Error>) -> Action)
    /// A closure of the app's that may suspend: on the calling actor.
    case suspending(SuspendingBody, then: (Result<Void, any Error>) -> Action)
    case pause(Duration, then: () -> Action)
    /// The run has ended; with an error, if that is why.
    case end((any Error)?)

    /// Does input and output, and goes on with its result.
    static func elsewhere<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, then: @escaping (Result<Value, any Error>) -> Action
    ) -> Action {
        let result = Locked<Result<Value, any Error>>(.failure(CancellationError()))
        return .elsewhere(
            {
                let found = Result { try work() }
                result.withLock { $0 = found }
            }, then: { then(result.withLock { $0 }) })
    }
}

extension Action {
    /// Carries out this action, and all that follow, on this thread.
    func run() throws {
        var action = self
        while true {
            switch action {
            case .elsewhere(let work, let then):
                work()
                action = then()
            case .here(let body, let then): action = then(Result { try body() })
            case .suspending: preconditionFailure("The synchronous forms refuse asynchronous steps.")
            case .pause(let duration, let then):
                Thread.sleep(forTimeInterval: duration.inSeconds)
                action = then()
            case .end(let error):
                if let error { throw error }
                return
            }
        }
    }

    /// Carries out the app's closures on the caller's actor, and everything else where waiting hurts nobody.
    func run(isolation: isolated (any Actor)?) async throws {
        var action = self
        while true {
            switch action {
            case .elsewhere(let work, let then):
                try await offload(work)
                action = then()
            case .here(let body, let then): action = then(Result { try body() })
            case .suspending(let body, let then):
                let result: Result<Void, any Error>
                do { result = .success(try await body()) } catch { result = .failure(error) }
                action = then(result)
            case .pause(let duration, let then):
                // Cancelling ends the pause, and then the run.
                try? await Task.sleep(for: duration)
                action = then()
            case .end(let error):
                if let error { throw error }
                return
            }
        }
    }
}
