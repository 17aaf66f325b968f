import Foundation

#if canImport(BackgroundTasks) && (os(iOS) || os(tvOS) || os(visionOS))
    import BackgroundTasks

    /// Runs deferred steps in a `BGProcessingTask`, which the system starts while the device is idle and charging.
    ///
    /// Add the identifier to `BGTaskSchedulerPermittedIdentifiers` in the app's Info.plist and the background mode
    /// `processing` to its capabilities. Register the task before the app has finished launching, as in the `init()` of a
    /// SwiftUI app, and schedule it when steps wait:
    ///
    /// ```swift
    /// DeferredBackgroundTask.register("com.example.fill") { try makeManager() }
    /// let launch = try await manager.migrate()
    /// if !launch.deferred.isEmpty { try? DeferredBackgroundTask.schedule("com.example.fill") }
    /// ```
    ///
    /// The task makes a manager, migrates, and runs deferred steps until all are done or its time is over. It completes
    /// exactly once, in every case. It schedules itself again only if ``DeferredReport/canContinue`` is true, or if the
    /// migration itself was held up by something that passes: a step that always fails does not start the app for ever.
    public enum DeferredBackgroundTask {
        /// Registers the task with the system.
        ///
        /// - Parameters:
        ///   - identifier: the task's identifier.
        ///   - makeManager: makes the app's manager with all steps registered, on the main actor.
        /// - Returns: false if the Info.plist does not list the identifier.
        @available(iOSApplicationExtension, unavailable)
        @available(tvOSApplicationExtension, unavailable)
        @available(visionOSApplicationExtension, unavailable)
        @discardableResult
        public static func register(
            _ identifier: String, makeManager: @escaping @MainActor () throws -> MigrationManager
        ) -> Bool {
            // On the main queue, the work begins after the expiration handler is set.
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: .main) { task in
                let completion = Completion(task: task)
                task.expirationHandler = BackgroundRun.begin(makeManager) { ending in
                    // Before the task completes, since the system may then suspend the process at once. Where the system
                    // refuses the request, the next launch schedules the task.
                    if ending.comesAgain { try? schedule(identifier) }
                    completion.task.setTaskCompleted(success: ending.isSuccess)
                }
            }
        }

        /// Asks the system to start the task when the device is idle and charging.
        ///
        /// A request that waits is replaced.
        ///
        /// - Parameter identifier: the identifier with which the task was registered.
        /// - Throws: `BGTaskScheduler.Error`: in a simulator, or when the user has turned off background work.
        public static func schedule(_ identifier: String) throws {
            let request = BGProcessingTaskRequest(identifier: identifier)
            request.requiresExternalPower = true
            try BGTaskScheduler.shared.submit(request)
        }

        /// The system's task, to be completed on the thread on which its work ends.
        ///
        /// `setTaskCompleted` may be called on any thread, and is called once.
        private struct Completion: @unchecked Sendable {
            let task: BGTask
        }
    }
#endif

/// A run of deferred steps in a background task of the system's.
enum BackgroundRun {
    /// Begins to migrate and to run deferred steps.
    ///
    /// - Parameters:
    ///   - makeManager: makes the manager.
    ///   - patience: how long the run may take to stop after the time has expired.
    ///   - end: is called once: when the run has ended, or does not stop in time.
    /// - Returns: the handler to call when the time expires.
    static func begin(
        _ makeManager: @escaping @MainActor () throws -> MigrationManager,
        patience: DispatchTimeInterval = .seconds(2), end: @escaping @Sendable (BackgroundEnding) -> Void
    ) -> @Sendable () -> Void {
        let hasEnded = Locked(false)
        let endOnce: @Sendable (BackgroundEnding) -> Void = { ending in
            let isFirst = hasEnded.withLock { hasEnded in
                defer { hasEnded = true }
                return !hasEnded
            }
            if isFirst { end(ending) }
        }
        let work = Task { @MainActor in
            do {
                let manager = try makeManager()
                try await manager.migrate()
                endOnce(BackgroundEnding(try await manager.runDeferred()))
            } catch {
                endOnce(BackgroundEnding(error))
            }
        }
        return {
            work.cancel()
            // The system kills an app that does not complete its task.
            DispatchQueue.global().asyncAfter(deadline: .now() + patience) { endOnce(.expired) }
        }
    }
}

/// How a background task ends.
struct BackgroundEnding: Equatable {
    let isSuccess: Bool
    /// True if the task should be scheduled again.
    let comesAgain: Bool

    /// The end of a run that did not stop when its time had expired.
    static let expired = BackgroundEnding(isSuccess: false, comesAgain: true)
}

extension BackgroundEnding {
    /// Judges a run.
    init(_ report: DeferredReport) {
        self.init(isSuccess: report.pending.isEmpty, comesAgain: report.canContinue)
    }

    /// Judges an error that kept deferred steps from running.
    init(_ error: any Error) {
        self.init(isSuccess: false, comesAgain: error is CancellationError || Obstacle.mayPass(error))
    }
}
