/// Finds what is wrong with the registered steps.
///
/// All of it, so that a developer mends it in one go.
struct RegistrationReview {
    let mistakes: [MigrationError]

    init(
        manager: String, current: AppVersion, aboveCurrent: MigrationOptions.AboveCurrentRule,
        steps: [MigrationStep], places: [any MigrationPlace]
    ) throws {
        struct Slot: Hashable {
            let version: AppVersion
            let movedPlace: PlaceID?
        }
        var mistakes: [MigrationError] = []
        func note(_ step: MigrationStep, _ problem: String, remedy: String) {
            mistakes.append(
                MigrationError(
                    .invalidRegistration, "\(manager): \(step.title) \(problem) (\(step.source)).",
                    remedy: remedy, manager: manager, version: step.version))
        }

        // Where every step is above the one before it, as nearly always, there is nothing to look up.
        let isAscending = zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version }
        let ceiling = current.ceiling
        var taken: [Slot: MigrationStep] = [:]
        var highest: MigrationStep?
        for step in steps where !isAscending || step.version > ceiling {
            let slot = Slot(version: step.version, movedPlace: step.isMove ? step.place.id : nil)
            if let other = taken[slot] {
                note(
                    step, "is registered twice, first at \(other.source)",
                    remedy: step.isMove
                        ? "A version has at most one move for each database."
                        : "A version has at most one closure: join the two, or give the later one a sub-migration number."
                )
            } else if let highest, step.version < highest.version {
                note(
                    step, "is registered after \(highest.version)",
                    remedy: "Register steps in ascending order.")
            }
            if step.version > ceiling, aboveCurrent == .refuse {
                note(
                    step, "is above the current version \(current)",
                    remedy: "Raise the app's version, or register the step when it is reached.")
            }
            taken[slot] = taken[slot] ?? step
            if highest.map({ $0.version < step.version }) ?? true { highest = step }
        }

        for place in places {
            let moves = steps.filter { $0.isMove && $0.place.id == place.id }
            guard !moves.isEmpty else { continue }
            for mistake in try place.mistakes(in: moves.compactMap(\.move)) {
                note(moves[mistake.index], mistake.problem, remedy: mistake.remedy)
            }
        }
        self.mistakes = mistakes
    }
}
