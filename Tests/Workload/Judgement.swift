import AppMigrations
import Foundation

/// Finds what is wrong with what a disturbed launch has left.
struct Judgement {
    let reference: Reference
    /// The state that an undisturbed launch leaves.
    let goal: FolderState

    /// How a launch was disturbed, for what may then be repeated.
    struct Disturbances {
        var kills = 0
        var faults = 0
        var powerCuts = 0
    }

    /// The mistakes, whenever the launch was stopped.
    ///
    /// - Parameter reported: what it has printed so far, in all its attempts.
    func complaints(
        about state: FolderState, reported: [String], after disturbances: Disturbances
    ) -> [String] {
        var complaints = state.damages
        func expect(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
            if !isSo { complaints.append(complaint()) }
        }
        let count = state.latest
        expect(
            reference.scenario.versions.starts(with: state.ledger), "the ledger has gaps: \(state.ledger)")
        expect(
            state.setAside ?? reference.dumps[1] == reference.dumps[1],
            "the damaged database was set aside without all of its rows")
        expect(
            reference.scenario.start != .salvaged || state.setAside != nil || count == 1,
            "the damaged database is gone")
        let isOnBranch = !state.branch.isEmpty
        expect(
            count < reference.dumps.count
                && state.dump == (isOnBranch ? reference.branchDump : reference.dumps[count]),
            "the database is not as \(count) migrations\(isOnBranch ? " and those of a branch" : "") make it")
        expect(
            !isOnBranch || count == 1 && state.branch == Schema.branchVersions,
            "of a branch, only \(state.branch) are left, beside \(state.ledger)")
        expect(
            state.inside == Array(Plan.versions(.inside).prefix(state.inside.count)),
            "steps in the database: \(state.inside)")
        expect(
            Set(state.inside) == state.databaseRecord.settled.intersection(Plan.versions(.inside)),
            "steps in the database \(state.inside), recorded \(state.databaseRecord.settled)")
        let isForSecond = reference.scenario.managers == .two && reference.scenario.isOldInstall
        expect(
            state.begunBySecond.isSubset(of: isForSecond ? ["1.1"] : []),
            "the second manager ran \(state.begunBySecond)")
        complaints += complaintsAboutClosures(state, after: disturbances)
        complaints += complaintsAboutChanges(state, after: disturbances)
        complaints += complaintsAboutCounters(state) + complaintsAboutItems(state, after: disturbances)
        for line in reported where line.hasPrefix("reported ") {
            let words = line.split(separator: " ").map(String.init)
            let isKept =
                switch words[1] {
                case "schema": count >= Int(words[2]) ?? 0
                case "inside": state.databaseRecord.settled.contains(words[2])
                case "progress": state.done(words[2]) >= Int(words[3]) ?? 0
                default: state.storeRecord.settled.contains(words[2])
                }
            expect(isKept, "lost: \(line)")
        }
        return complaints
    }

    private func complaintsAboutClosures(
        _ state: FolderState, after disturbances: Disturbances
    ) -> [String] {
        let closures = Plan.closures(in: reference.scenario).map(\.version.description)
        let settled = state.storeRecord.settled.intersection(closures).sorted()
        let undone = settled.filter { version in
            keepsFiles(after: disturbances) && state.files[version] != Effects.contents(of: version)
        }
        return undone.map { "\($0) is settled, and was not done" }
            // The log of what was begun is not synced.
            + (disturbances.powerCuts > 0 ? [] : complaintsAboutLog(state, after: disturbances))
    }

    /// True if what a settled closure has written is there: through a power cut a barrier takes it, which only the
    /// JSON store has.
    private func keepsFiles(after disturbances: Disturbances) -> Bool {
        disturbances.powerCuts == 0 || reference.scenario.store == .json
    }

    private func complaintsAboutLog(_ state: FolderState, after disturbances: Disturbances) -> [String] {
        var complaints: [String] = []
        let log = state.begun
        let due = Plan.closures(in: reference.scenario)
        let closures = due.map(\.version.description)
        let begun = Set(log.map(\.version))
        if begun != Set(closures.prefix(begun.count)) { complaints.append("a closure was skipped: \(begun)") }
        let repeats = log.count - begun.count
        if repeats > disturbances.kills + disturbances.faults {
            complaints.append("\(repeats) closures were repeated: \(log)")
        }
        for (first, second) in zip(log, log.dropFirst()) {
            if first.version == second.version {
                // A step that throws has not died: it need not count.
                let isTold = second.attempt > first.attempt || disturbances.faults > 0
                if !isTold { complaints.append("\(second.version) was not told that it is repeated") }
            } else if let before = closures.firstIndex(of: first.version),
                let after = closures.firstIndex(of: second.version), before > after
            {
                complaints.append("\(second.version) ran after \(first.version)")
            }
        }
        for beginning in state.begun where beginning.attempt > 1 + disturbances.kills + disturbances.faults {
            complaints.append("\(beginning.version) was told of attempt \(beginning.attempt)")
        }
        // What only a fresh install needs comes before its tables.
        for step in due where begun.contains(step.version.description) && !step.isForFreshInstall {
            if state.latest < Plan.schema(before: step.version) {
                complaints.append("\(step.version) ran before its schema")
            }
        }
        return complaints
    }

    /// The mistakes in the changes of the version that were noted: each at least once, and more often only where
    /// the process has died.
    private func complaintsAboutChanges(
        _ state: FolderState, after disturbances: Disturbances
    ) -> [String] {
        // The log is not synced.
        guard disturbances.powerCuts == 0 else { return [] }
        let noted = Set(state.changes)
        let isNoted = state.storeRecord.completed == goal.storeRecord.completed
        let repeats = state.changes.count - noted.count
        let isWrong =
            !noted.isSubset(of: goal.changes) || repeats > disturbances.kills + disturbances.faults
            || isNoted && noted != Set(goal.changes)
        return isWrong ? ["the changes of the version are \(state.changes), not \(goal.changes)"] : []
    }

    /// The mistakes in deferred steps in the database: a row is done once, and exactly when it is recorded.
    private func complaintsAboutCounters(_ state: FolderState) -> [String] {
        state.counters.flatMap { version, counters -> [String] in
            let position = state.databaseRecord.positions[version]
            let isSettled = state.databaseRecord.settled.contains(version)
            let next = isSettled ? .max : position?.next ?? 0
            let raised = counters.values.count { $0 > 0 }
            // The key of rows has two columns, so their ids do not tell which come first.
            let wrong =
                version == "\(Deferral.rows)" && !isSettled
                ? counters.filter { $0.value > 1 } : counters.filter { $1 != ($0 < next ? 1 : 0) }
            return
                (wrong.isEmpty
                ? []
                : ["\(version) is recorded up to \(next), not: \(wrong.sorted { $0.key < $1.key }.prefix(5))"])
                + (position.map { $0.done == raised } ?? true
                    ? [] : ["\(version) has done \(raised), recorded: \(position?.done ?? 0)"])
        }
    }

    /// The mistakes in a deferred closure: it is done up to its last checkpoint, and repeats what comes after it.
    private func complaintsAboutItems(_ state: FolderState, after disturbances: Disturbances) -> [String] {
        let version = "\(Deferral.items)"
        let saved =
            state.storeRecord.settled.contains(version)
            ? Deferral.itemCount : state.storeRecord.positions[version]?.next ?? 0
        let undone = (0..<saved).map(Deferral.name(ofItem:)).filter { name in
            keepsFiles(after: disturbances) && state.files[name] != Effects.contents(of: name)
        }
        var complaints = undone.map { "\($0) is behind the checkpoint \(saved), and was not done" }
        // The log is not synced.
        guard disturbances.powerCuts == 0 else { return complaints }
        let begun = Set(state.items)
        if begun != Set(0..<begun.count) { complaints.append("an item was skipped: \(state.items)") }
        if begun.count > saved + Deferral.stretch {
            complaints.append("checkpoint \(saved), with \(begun.count) items begun")
        }
        let repeats = state.items.count - begun.count
        if repeats > Deferral.stretch * (disturbances.kills + disturbances.faults) {
            complaints.append("\(repeats) items were repeated: \(state.items)")
        }
        for (first, second) in zip(state.items, state.items.dropFirst()) where second != first + 1 {
            if second != first / Deferral.stretch * Deferral.stretch {
                complaints.append("item \(second) came after \(first): not where a checkpoint was")
            }
        }
        return complaints
    }

    /// The mistakes in the copies of the database, where the app's moves have made some.
    func complaints(aboutCopies state: FolderState) -> [String] {
        let scenario = reference.scenario
        guard scenario.backup == .saved, scenario.isOldInstall else { return [] }
        // Later copies may push each other out, but not the one from before the update.
        guard let first = goal.copies.min(), first < state.ledger.count, !state.copies.contains(first)
        else { return [] }
        return ["no copy from before migration \(first + 1): \(state.copies)"]
    }

    /// The mistakes in the end, besides that.
    func complaints(aboutEnd state: FolderState, after disturbances: Disturbances = .init()) -> [String] {
        var end = state
        // Only how often closures were begun, and moves, may differ.
        end.begun = goal.begun
        end.items = goal.items
        end.changes = goal.changes
        end.copies = goal.copies
        // What could not be removed is removed before the next copy is made.
        if disturbances.faults > 0 { end.litter = goal.litter }
        // The old file of a copied database is known by its inode and its time, which an image of a disk does not keep:
        // there, it stays as any other database would.
        if disturbances.powerCuts > 0, reference.scenario.start == .copied {
            end.litter.removeAll { $0.hasSuffix(".sqlite") }
        }
        if !keepsFiles(after: disturbances) { end.files = goal.files }
        guard end != goal else { return [] }
        let differences = zip(Mirror(reflecting: end).children, Mirror(reflecting: goal).children)
            .filter { "\($0.value)" != "\($1.value)" }
            .map { found, _ in "\(found.label ?? ""): \(found.value)".prefix(300) }
        return ["it does not end where an undisturbed launch ends: \(differences.joined(separator: "; "))"]
    }
}
