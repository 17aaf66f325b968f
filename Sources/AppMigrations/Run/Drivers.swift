import Foundation

// The two ways to carry out a run, which differ in nothing but how they wait.
extension Stepper {
    /// Carries out every action on this thread.
    func run() throws {
        var result: Result<Ending, any Error>?
        while let action = next(after: result) {
            result = Result {
                switch action {
                case .elsewhere(let work): return try work()
                case .here(let body): try body()
                case .suspending: preconditionFailure("The synchronous forms refuse asynchronous steps.")
                case .pause(let duration): Thread.sleep(forTimeInterval: duration.inSeconds)
                }
                return .done
            }
        }
        if let error { throw error }
    }

    /// Runs the app's closures on the caller's actor, and everything else where waiting hurts nobody.
    func run(isolation: isolated (any Actor)?) async throws {
        var result: Result<Ending, any Error>?
        while let action = next(after: result) {
            do {
                result = .success(.done)
                switch action {
                case .elsewhere(let work): result = .success(try await offload(work))
                case .here(let body): try body()
                case .suspending(let body): try await body()
                // Cancelling ends the pause, and then the run.
                case .pause(let duration): try? await Task.sleep(for: duration)
                }
            } catch {
                result = .failure(error)
            }
        }
        if let error { throw error }
    }
}
