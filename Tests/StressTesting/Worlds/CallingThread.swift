import AppMigrations
import Dispatch

/// Runs asynchronous work on the thread that waits for it.
///
/// The threads of Swift's pool may all be waiting already, each for a device of its own.
final class CallingThread: TaskExecutor {
    private let jobs = Locked<[UnownedJob]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    /// Runs a body, and returns when it is done.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let thread = CallingThread()
        let result = Locked<Result<Value, any Error>?>(nil)
        Task(executorPreference: thread) {
            let value: Result<Value, any Error>
            do { value = .success(try await body()) } catch { value = .failure(error) }
            result.withLock { $0 = value }
        }
        while true {
            if let result = result.withLock({ $0 }) { return try result.get() }
            thread.arrivals.wait()
            let job = thread.jobs.withLock { $0.removeFirst() }
            job.runSynchronously(on: thread.asUnownedTaskExecutor())
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        arrivals.signal()
    }
}
