extension MigrationError {
    /// Creates the error for work in which the process has died too often.
    ///
    /// - Parameters:
    ///   - deaths: how often it has, in this build of the app.
    ///   - call: the function of the manager that runs the work.
    ///   - migration: the first of its migrations that is not applied; nil for a closure.
    static func gaveUp(
        _ work: MigrationWork, _ step: MigrationStep, _ deaths: Int, by call: String,
        in migration: String? = nil
    ) -> MigrationError {
        let times = deaths == 1 ? "once" : "\(deaths) times"
        // Without its schema an app cannot go on.
        let skipping = step.isSchemaStep ? "" : "; skip(error.work) goes on without it"
        let pending = migration.map { ", and migration `\($0)` is not applied" } ?? ""
        var error = MigrationError(
            .gaveUp, "\(step.titleAndSource) was not retried: the process died in it \(times)\(pending)",
            remedy: "A new build of the app retries it, as does \(call)(retrying: error.work)\(skipping).",
            work: work, attempt: deaths)
        error.migration = migration
        return error
    }

    /// Creates the error for a closure that only the asynchronous form of a call runs.
    static func asynchronous(
        _ title: String, in call: String, manager: String, version: AppVersion?
    ) -> MigrationError {
        MigrationError(
            .misuse, "\(title) is asynchronous",
            remedy: """
                Call it as `try await manager.\(call)()` in an async function. At the top level of main.swift, Swift calls the \
                synchronous form in any case: put the call into a function there.
                """,
            manager: manager, version: version)
    }

    /// Creates the error for the condition of a step that has thrown.
    init(ofCondition step: MigrationStep, _ error: any Error, work: MigrationWork) {
        let obstacle = Obstacle(error)
        self.init(
            obstacle?.code ?? .stepFailed,
            "the condition of \(step.titleAndSource) \(error.verb): \(error.quotation)",
            remedy: obstacle?.remedy
                ?? "Fix the condition\(step.isDeferred ? "" : ", or settle the step with skip(_:)").",
            work: work,
            underlyingError: error)
        isRepeated = obstacle == nil
    }

    /// Creates the error for a step whose condition holds after the step has run.
    static func stillNeeded(_ step: MigrationStep, _ work: MigrationWork) -> MigrationError {
        var error = MigrationError(
            .stepFailed, "\(step.titleAndSource) has run, and its condition still holds",
            remedy: "Let the step change what its condition asks for: otherwise each launch would run it.",
            work: work)
        error.isRepeated = true
        return error
    }

    /// Creates the error for data of an unknown version.
    static func undecided(
        _ place: PlaceSteps, _ state: PlaceState, _ request: LaunchRequest
    ) -> MigrationError {
        guard state.evidence != .replaced, !state.hasForgotten(request.line) else {
            return MigrationError(
                .damagedStore,
                "\(place.name) was damaged and has been replaced, and knows no version of line \(request.line)",
                remedy: "Call replaceRecord(assuming:) for this manager as well. Nothing was changed.",
                manager: request.manager)
        }
        return MigrationError(
            .undecided,
            "\(place.name) has tables, but no record or `adopting` says which app version created them",
            remedy: """
                Pass an `adopting` that does: for example .databaseHasTables(dbQueue, means: "1.0"), or a closure that \
                returns the current version if the app has just created them. Nothing was changed.
                """,
            manager: request.manager)
    }

    /// Creates the error for a place that has lost its record.
    ///
    /// - Parameter steps: the steps that may have run or not; none if that is so of all.
    static func lostRecord(
        _ place: PlaceSteps, _ steps: [String], _ request: LaunchRequest
    ) -> MigrationError {
        let unknown =
            steps.isEmpty
            ? "which steps have run" : "whether \(steps.joined(separator: ", ")) has run"
        return MigrationError(
            .damagedStore,
            "the record in \(place.name) was lost when the database was salvaged, and nothing else says \(unknown)",
            remedy: """
                Nothing was changed. Call replaceRecord(assuming:) with the version that the data is at: steps above it run, and \
                deferred closures at or below it, which may have been waiting.
                """,
            manager: request.manager)
    }
}
