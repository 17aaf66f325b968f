import Foundation

// Looking at what is pending and remembered, and changing that by hand.
extension MigrationManager {
    /// The versions whose closure would run now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingVersions() throws -> [AppVersion] {
        try exclusively { try survey(.whole).items.compactMap { $0.step.isMove ? nil : $0.step.version } }
    }

    /// The moves that have something to do now, in order.
    ///
    /// Changes nothing.
    ///
    /// - Throws: ``MigrationError``, as ``migrate()`` does before anything runs.
    public func pendingMoves() throws -> [PendingMove] {
        try exclusively {
            try survey(.whole).items.filter(\.step.isMove).map { item in
                PendingMove(
                    version: item.step.version, database: item.step.place.name,
                    schemaVersions: item.schemaVersions)
            }
        }
    }

    /// What has become of the manager's steps, in the store and in the databases that steps are registered for,
    /// and which versions of the app the store has seen.
    ///
    /// - Throws: ``MigrationError``, when it cannot be read.
    public func history() throws -> MigrationHistory {
        try exclusively {
            let steps = try places.flatMap { try ($0.store as? any HistoryStore)?.history(name) ?? [] }
            return MigrationHistory(
                steps: steps.sorted { ($0.date, $0.version) < ($1.date, $1.version) },
                versions: try store.read(name).seen[options.line, default: []])
        }
    }

    /// Makes every due step pending again, in the store and in the databases that steps and moves are
    /// registered for.
    ///
    /// What moves have applied to databases stays applied. Without a record there is nothing to reset.
    public func reset() throws {
        try changeRecords { record in
            guard let old = record else { return }
            var new = MigrationRecord(floor: nil)
            new.completed = old.completed
            new.highest = old.highest
            new.downgradedTo = old.downgradedTo
            record = new
        }
    }

    /// Removes the record, from the store and from the databases that steps and moves are registered for.
    ///
    /// The next launch is told from what is left: the versions that the store has seen, and `adopting`.
    public func forget() throws {
        try changeRecords { $0 = nil }
    }

    /// Settles a pending step without running it.
    ///
    /// For the app's recovery screen, after the error `gaveUp`: what the step was to do stays undone.
    ///
    /// - Throws: ``MigrationError``, `notPending` when no pending step has the version.
    public func skip(_ version: AppVersion) throws {
        try exclusively {
            let release = try lock()
            defer { release() }
            let survey = try survey(.whole)
            guard let item = survey.items.first(where: { !$0.step.isMove && $0.step.version == version }),
                let finding = survey.findings.first(where: { $0.place.id == item.step.place.id })
            else {
                throw MigrationError(
                    .notPending, "\(name): no step of version \(version) is pending.",
                    remedy: "pendingVersions() tells which are.", manager: name, version: version)
            }
            try finding.place.store.update(name) { state in
                var record = finding.begun.keeping(settled: state.record?.settled ?? [])
                record.settle(version)
                state.record = record
                state.see([currentVersion], in: options.line, at: Date())
                state.newHistory = [
                    SettledStep(version: version, outcome: .skipped, date: Date(), appVersion: currentVersion)
                ]
            }
        }
    }

    /// Replaces a record that is damaged, and goes on from a version.
    ///
    /// For the app's recovery screen, after the errors `damagedStore`, `newerFormat` or `unreadableStore`. What
    /// is damaged is set aside under a dated name, with everything in it: the other managers of the store go on
    /// from the same version. A record that can be read is replaced for this manager alone.
    ///
    /// - Parameter version: the version that the data is at. What is registered above it will run.
    /// - Throws: ``MigrationError``, when nothing could be set aside or written.
    public func replaceRecord(assuming version: AppVersion) throws {
        try exclusively {
            let release = try lock()
            defer { release() }
            for place in places {
                let damage = try damage(of: place)
                // A record that can be read is replaced in the store alone.
                guard damage != nil || place.id == places[0].id else { continue }
                func change(_ state: inout StoreState) {
                    var record = MigrationRecord(floor: version)
                    record.completed = version
                    record.highest = version
                    state.record = record
                    state.see([version], in: options.line, at: Date())
                }
                if let damage {
                    guard let store = place.store as? any RecoverableStore else { throw damage }
                    var state = StoreState()
                    change(&state)
                    try store.setAside(replacing: name, with: state)
                } else {
                    try place.store.update(name, change)
                }
            }
        }
        undecide()
    }

    /// Why a place's record cannot be read for good; nil when it can.
    private func damage(of place: any MigrationPlace) throws -> MigrationError? {
        do {
            _ = try place.store.read(name)
            return nil
        } catch let error as MigrationError
            where [.damagedStore, .newerFormat, .unreadableStore].contains(error.code)
        {
            return error
        }
    }

    private func changeRecords(_ change: (inout MigrationRecord?) -> Void) throws {
        try exclusively {
            let release = try lock()
            defer { release() }
            for place in places where try place.store.read(name).record != nil {
                try place.store.update(name) { state in change(&state.record) }
            }
        }
        undecide()
    }
}
