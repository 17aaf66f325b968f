/// Finds every mistake in the registered steps, so that a developer fixes them in one go.
struct RegistrationReview {
    private let registration: Registration
    private var found: [(step: MigrationStep, mistake: MigrationError)] = []

    /// The mistakes, in the order in which the steps are registered.
    var mistakes: [MigrationError] {
        found.sorted { $0.step.number < $1.step.number }.map(\.mistake)
    }

    init(_ registration: Registration, _ places: [any MigrationPlace]) throws {
        self.registration = registration
        for place in places {
            let steps = registration.steps.filter { $0.place.id == place.id }
            reviewVersions(of: steps)
            reviewFinished(by: steps)
            try reviewMoves(steps, of: place)
        }
    }

    /// Versions are unique and ascending place by place, so that a loop over several databases may register the same
    /// versions.
    private mutating func reviewVersions(of steps: [MigrationStep]) {
        let ceiling = registration.current.ceiling
        // Where every step is above the one before it, as nearly always, there is nothing to look up.
        let isAscending = zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version }
        var taken: [Slot: MigrationStep] = [:]
        var highest: MigrationStep?
        for step in steps where !isAscending || step.version > ceiling {
            let slot = Slot(version: step.version, isMove: step.isMove)
            if let other = taken[slot] {
                note(
                    step, "is registered twice, first at \(other.source)",
                    remedy: step.isMove
                        ? "A version has at most one move for each database."
                        : "A version has at most one closure: join the two, or give the later one a sub-migration number."
                )
            } else if let highest, step.version < highest.version, !step.isForFreshInstalls {
                note(
                    step, "is registered after \(highest.version)",
                    remedy: "Register steps in ascending order.")
            }
            if step.version > ceiling, registration.aboveCurrent == .refuse {
                note(
                    step, "is above the current version \(registration.current)",
                    remedy: "Raise the app's version, or register the step when it is reached.")
            }
            taken[slot] = taken[slot] ?? step
            if highest.map({ $0.version < step.version }) ?? true { highest = step }
        }
    }

    /// A step finishes deferred steps of versions up to its own, in whatever place they are.
    private mutating func reviewFinished(by steps: [MigrationStep]) {
        for step in steps {
            for version in step.finishing {
                let isThere = registration.steps.contains {
                    $0.isDeferred && $0.version == version && $0.version < step.version
                }
                guard !isThere else { continue }
                note(
                    step, "finishes \(version), but no deferred step before it has that version",
                    remedy: "Name the version of a deferred step that is registered for an earlier version.")
            }
        }
    }

    private struct Slot: Hashable {
        let version: AppVersion
        let isMove: Bool
    }

    private mutating func reviewMoves(_ steps: [MigrationStep], of place: any MigrationPlace) throws {
        let moves = steps.compactMap { step in step.move.map { (step: step, move: $0) } }
        guard !moves.isEmpty else { return }
        for mistake in try place.mistakes(in: moves.map(\.move)) {
            note(moves[mistake.index].step, mistake.problem, remedy: mistake.remedy)
        }
    }

    private mutating func note(_ step: MigrationStep, _ problem: String, remedy: String) {
        let mistake = MigrationError(
            .invalidRegistration, "\(step.title) \(problem) (\(step.source))", remedy: remedy,
            manager: registration.manager, version: step.version)
        found.append((step, mistake))
    }
}
