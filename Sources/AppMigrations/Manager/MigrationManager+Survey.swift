import Foundation

// What the synchronous and the asynchronous launch share: everything but waiting.
extension MigrationManager {
    /// What is pending, as seen without writing or locking.
    func survey(_ extent: MigrationExtent) throws -> MigrationSurvey {
        let inquiries = try inquiries(extent)
        return try survey(extent, inquiries, views: inquiries.map { try $0.look() })
    }

    /// Whom to ask, and about what.
    ///
    /// Checks the registration first.
    func inquiries(_ extent: MigrationExtent) throws -> [PlaceInquiry] {
        let places = self.places
        let target = target(of: extent)
        try checkRegistration(places: places)
        try checkNotAbove(target)
        let due = steps.filter { $0.version <= ceiling }
        return places.map { place in
            let here = places.count == 1 ? due : due.filter { $0.place.id == place.id }
            return PlaceInquiry(
                place: place, manager: name,
                moves: here.filter { $0.isMove && $0.version <= target }
                    .sorted { $0.version < $1.version },
                closures: here.filter { !$0.isMove })
        }
    }

    /// Plans, from what the places have shown.
    func survey(
        _ extent: MigrationExtent, _ inquiries: [PlaceInquiry], views: [PlaceView]
    ) throws -> MigrationSurvey {
        var answer: AppVersion??
        return try MigrationSurvey(
            subject, Array(zip(inquiries, views)), known: decision?.launches ?? [:],
            target: target(of: extent)
        ) {
            if let answer { return answer }
            let version = try options.adopting?.version()
            answer = .some(version)
            return version
        }
    }

    /// The report of a launch on which there is nothing to do; nil when there is.
    func reportIfSettled(_ survey: MigrationSurvey, _ extent: MigrationExtent) throws -> MigrationReport? {
        if case .waits = options.role { try checkMigrated(survey, extent) }
        guard survey.isSettled(extent) else { return nil }
        let report = report(on: survey)
        progress.completedUnitCount = progress.totalUnitCount
        tell(.launchRecognized(report.launch))
        tell(.finished(report))
        return report
    }

    /// The run that carries out a survey.
    func run(_ survey: MigrationSurvey, _ extent: MigrationExtent, _ interruption: Interruption)
        -> MigrationRun
    {
        let report = report(on: survey)
        tell(.launchRecognized(report.launch))
        return MigrationRun(
            survey: survey, extent: extent, changes: changes, progress: progress, interruption: interruption,
            report: report, tell: tell)
    }

    /// The report of a launch on which nothing has run yet.
    ///
    /// From now on, the kind of launch is decided.
    private func report(on survey: MigrationSurvey) -> MigrationReport {
        let decision = self.decision ?? decide(survey)
        self.decision = Decision(
            launches: decision.launches.merging(survey.launches) { known, _ in known },
            returnedFromDowngrade: decision.returnedFromDowngrade,
            isFirstLaunchOfVersion: decision.isFirstLaunchOfVersion)
        return MigrationReport(
            manager: name, launch: survey.findings[0].launch,
            returnedFromDowngrade: decision.returnedFromDowngrade,
            isFirstLaunchOfVersion: decision.isFirstLaunchOfVersion)
    }

    private func decide(_ survey: MigrationSurvey) -> Decision {
        let record = survey.findings[0].stored.record
        let isNewer = record?.highest.map { $0 < currentVersion } ?? true
        let (isUpgrade, isMove) =
            switch survey.findings[0].launch {
            case .upgrade: (true, true)
            case .freshInstall, .adoption: (false, true)
            case .relaunch, .downgrade: (false, false)
            }
        return Decision(
            launches: [:], returnedFromDowngrade: isUpgrade && record?.downgradedTo != nil,
            isFirstLaunchOfVersion: isMove && isNewer)
    }

    /// Forgets what kind of launch this is, after the records were changed by hand.
    func undecide() {
        decision = nil
    }

    private var subject: MigrationSurvey.Subject {
        MigrationSurvey.Subject(
            manager: name, current: currentVersion, build: build, line: options.line,
            oldestSupported: options.oldestSupported, maximumAttempts: max(1, options.maximumAttempts),
            forgiving: forgiving)
    }

    private func target(of extent: MigrationExtent) -> AppVersion {
        if case .through(let version) = extent { version } else { ceiling }
    }

    /// All places, the store's first.
    var places: [any MigrationPlace] {
        var places: [any MigrationPlace] = [storePlace]
        for place in steps.lazy.filter(\.worksInDatabase).map(\.place) {
            if let index = places.firstIndex(where: { $0.id == place.id }) {
                // A database that is the store as well: it is one place, and knows more than the store alone.
                if places[index] is StorePlace { places[index] = place }
            } else {
                places.append(place)
            }
        }
        return places
    }

    private func checkRegistration(places: [any MigrationPlace]) throws {
        let mistakes = try RegistrationReview(
            manager: name, current: currentVersion, aboveCurrent: options.aboveCurrent, steps: steps,
            places: places
        ).mistakes
        guard !mistakes.isEmpty else { return }
        var error = MigrationError(
            .invalidRegistration, mistakes.map(\.message).joined(separator: "\n"),
            remedy: mistakes.map(\.remedy).joined(separator: "\n"), manager: name)
        error.causes = mistakes
        throw error
    }

    private func checkNotAbove(_ version: AppVersion) throws {
        guard version > ceiling else { return }
        throw MigrationError(
            .versionAboveCurrent,
            "\(name): cannot migrate through \(version), above the current version \(currentVersion).",
            remedy: "Ask for the current version or one below it.", manager: name, version: version)
    }

    private func checkMigrated(_ survey: MigrationSurvey, _ extent: MigrationExtent) throws {
        for finding in survey.findings {
            guard case .downgrade(let version) = finding.launch else { continue }
            throw MigrationError(
                .newerThanThisProcess,
                "\(name): version \(version) of the app has been here; this process is at \(currentVersion).",
                remedy: "Leave the data alone until this process has been updated as well.", manager: name,
                version: version)
        }
        guard !survey.isSettled(extent) else { return }
        throw MigrationError(
            .notYetMigrated, "\(name): the data is not yet at version \(currentVersion).",
            remedy: "Leave the data alone until the app has been launched.", manager: name)
    }

    private func tell(_ kind: MigrationEvent.Kind) {
        let event = MigrationEvent(manager: name, kind: kind)
        witness?.note(event)
        options.onEvent?(event)
    }
}

extension MigrationSurvey {
    fileprivate var launches: [PlaceID: Launch] {
        Dictionary(findings.map { ($0.place.id, $0.launch) }, uniquingKeysWith: { first, _ in first })
    }
}
