// Places in which "no record" does not mean that nothing of the manager has run.
extension Beginnings {
    /// Determines where the manager goes on in a place whose record was lost when the database was salvaged.
    ///
    /// No step may run again, and none may be skipped in silence. So nothing counts there but what the manager has recorded
    /// elsewhere: a launch that is complete has done all that was due, in every place.
    ///
    /// | known of the manager | it goes on |
    /// | --- | --- |
    /// | its store has completed a version, or one of its databases has, or a former manager there | at that version |
    /// | nothing, and the app has named a version for another manager of its line, by `replaceRecord(assuming:)` | at that version |
    /// | its store knows the install, and not the manager | as in a new database: it was never here |
    /// | nothing, or not whether a step has run | nowhere, until the app names a version for it, with which its record begins |
    ///
    /// - Parameter asTheStore: where it begins in a new database; nil for the store.
    /// - Returns: nil if the place has lost no record.
    func afterLoss(in index: Int, asTheStore: Beginning? = nil) -> Beginning? {
        guard let lost = places[index].lostRecord else { return nil }
        let others = places.indices.filter { $0 != index }.map { places[$0] }
        let records = others.compactMap(record(in:))
        let completed = records.completed
        let unknown = completed.map { completed in
            // A launch of this version was begun, and may have come as far as this place.
            let begun = others.compactMap(latestBegun).reduce(completed, max)
            return steps[index].filter {
                lost.isUnknown($0, among: steps[index], completed: completed, begun: begun)
            }
            .map(\.titleAndSource)
        }
        if let completed, unknown?.isEmpty == true { return .at(completed, .lost) }
        // Where its former managers have been, it counts as having been, too.
        let isNew = followed(in: places[0]) == nil && hasNeverBeen(in: index)
        return (records.isEmpty ? assumption(places[index]) : nil)
            ?? (isNew ? asTheStore : nil)
            ?? .unknown(at: index, steps: unknown ?? [])
    }

    /// Returns the record of a place, or what former managers leave to this one there.
    func record(in place: PlaceState) -> MigrationRecord? { place.record ?? followed(in: place) }

    /// The latest version whose launch was begun in a place, by the manager, or by former ones while they had its steps.
    private func latestBegun(in place: PlaceState) -> AppVersion? {
        if let record = place.record { return record.highest }
        return place.leavingRecords.compactMap { version($0.record?.highest, before: $0.end, in: place) }
            .max()
    }

    /// Returns true if the manager has never been in a database: its record in the store would have come first.
    func hasNeverBeen(in index: Int) -> Bool {
        let store = places[0]
        guard store.record == nil, store.lostRecord == nil, let lost = places[index].lostRecord else {
            return false
        }
        return store.hasRemovedRecord
            || !lost.hasOwnHistory && store.assumptions.isEmpty && !store.isBlank(request)
    }
}

extension LostRecord {
    /// Returns the record that takes its place, when the app has named the version that the data is at.
    ///
    /// - Parameter start: that version, or one above it that the manager has completed elsewhere: that launch has done all that was
    ///   due, in every place, but for deferred steps.
    func record(
        _ request: LaunchRequest, _ steps: [MigrationStep], assuming version: AppVersion,
        beginningAt start: AppVersion
    ) -> MigrationRecord? {
        guard var record = Beginning.at(start, .lost).record(request, steps) else { return nil }
        for step in steps where step.isDeferred && step.onFreshInstall != .only && step.version > version {
            record.owe(step.id)
        }
        return completing(record, steps)
    }

    /// Returns a record with what the history says.
    func completing(_ record: MigrationRecord, _ steps: [MigrationStep]) -> MigrationRecord {
        var record = record
        for (id, state) in settled { record[id] = state }
        for step in steps { if let state = state(of: step, among: steps) { record[step.id] = state } }
        return record
    }

    /// Returns what the history says of a step, which the app may have moved into the database that is the store, or out of it.
    private func state(of step: MigrationStep, among steps: [MigrationStep]) -> WorkState? {
        settled[step.id] ?? steps.formerID(of: step).flatMap { settled[$0] }
    }

    /// Returns true if nothing says whether a step has run, where the manager has completed a version elsewhere.
    ///
    /// A sub-migration may have come with a later build of that version, or have run in a launch that was not completed. A
    /// deferred step keeps no launch from being complete.
    ///
    /// - Parameter begun: the latest version whose launch was begun.
    fileprivate func isUnknown(
        _ step: MigrationStep, among steps: [MigrationStep], completed: AppVersion, begun: AppVersion
    ) -> Bool {
        guard state(of: step, among: steps) == nil, step.onFreshInstall != .only,
            step.version <= begun.ceiling
        else {
            return false
        }
        return step.version > completed || step.isDeferred
    }
}

extension [MigrationRecord] {
    /// The version whose steps have run in every place, but for deferred ones; nil if no launch was completed.
    var completed: AppVersion? { compactMap(\.completed).max()?.reach }
}

extension PlaceState {
    /// Returns true if nothing is known here of the manager, nor of versions before this launch: what another manager has
    /// noted a moment ago says nothing, and a visit neither.
    fileprivate func isBlank(_ request: LaunchRequest) -> Bool {
        let seen = seen(in: request.line).withoutVisits
        return record == nil && !hasRemovedRecord && assumptions[request.line] == nil
            && (seen.isEmpty || seen.areOnly(request.current, build: request.appBuild))
    }
}
