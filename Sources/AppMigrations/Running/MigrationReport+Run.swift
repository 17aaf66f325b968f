extension MigrationReport {
    /// - Parameters:
    ///   - plan: the plan with which the launch has begun.
    ///   - run: what it has run last, whose plan may be another one.
    init(_ plan: LaunchPlan, _ workDone: CompletedWork, _ run: Run? = nil) {
        let last = run?.plan ?? plan
        version = plan.request.current
        launch = plan.places[0].launch
        returnedFromDowngrade = plan.returnsFromDowngrade
        isFirstLaunchOfVersion = plan.isFirstLaunchOfVersion
        newerDatabases = last.newerDatabases
        databasesOfOtherStores = plan.databasesOfOtherStores
        deferred = last.pendingDeferred(after: run)
        self.workDone = workDone
    }
}

extension DeferredReport {
    init(_ plan: DeferredPlan, _ run: DeferredRun? = nil) {
        completed = run?.workDone.completed ?? []
        settled = run?.ended.count ?? 0
        let unreadable = plan.unreadable.flatMap { database in
            database.steps.closures.filter(\.isDeferred).map {
                PendingWork(
                    database.steps.work(of: $0, manager: plan.readable.request.manager), isDeferred: true)
            }
        }
        pending = plan.readable.pendingDeferred(after: run) + unreadable
        failures = plan.failures + (run?.failures ?? []) + plan.unreadable.map(\.error)
        canContinue =
            pending.count - unreadable.count > run?.stuck.count ?? 0
            || plan.unreadable.contains { Obstacle.mayPass($0.error) }
    }
}

extension LaunchPlan {
    /// The databases with unknown migrations that stay.
    var newerDatabases: [NewerDatabase] {
        places.filter { !$0.state.newer.isEmpty }.map {
            NewerDatabase(database: $0.steps.name, schemaVersions: $0.state.newer)
        }
    }

    /// Returns the deferred steps that wait.
    ///
    /// - Parameter run: a run of the plan, which may have done some of them.
    func pendingDeferred(after run: Run? = nil) -> [PendingWork] {
        deferred.compactMap { pending in
            if run?.ended.contains(pending.key) == true { return nil }
            let record = places[pending.place].record
            return PendingWork(
                work(of: pending), isDeferred: true,
                run?.positions[pending.key] ?? record?.position(of: pending.step.id))
        }
    }

    /// The work to do, with what is known of it.
    var pendingWork: [PendingWork] {
        let now = pending.map { pending in
            // Of other steps, checkpoints do not count here.
            let position =
                pending.step.isDeferred ? places[pending.place].record?.position(of: pending.step.id) : nil
            var work = PendingWork(work(of: pending), isDeferred: false, position)
            (work.schemaVersions, work.undone) = (pending.schema.apply, pending.schema.undo)
            return work
        }
        return now + pendingDeferred()
    }

    /// True if an older version of the app has been launched since this one, or a newer one, was.
    fileprivate var returnsFromDowngrade: Bool {
        if case .upgrade = places[0].launch { places[0].state.record?.downgradedTo != nil } else { false }
    }

    /// True if no launch of this version, or of a newer one, has been completed.
    fileprivate var isFirstLaunchOfVersion: Bool {
        if places[0].launch.isDowngrade { return false }
        return places[0].state.record?.completed.map { $0 < request.current } ?? true
    }
}
