/// Finds every mistake in the registered steps, so that a developer fixes them in one go.
struct RegistrationReview {
    private let registration: Registration
    private(set) var mistakes: [MigrationError] = []

    init(_ registration: Registration, _ places: [any MigrationPlace]) throws {
        self.registration = registration
        reviewVersions()
        for place in places { try reviewMoves(of: place) }
    }

    private struct Slot: Hashable {
        let version: AppVersion
        let movedPlace: PlaceID?
    }

    private mutating func reviewVersions() {
        let steps = registration.steps
        let ceiling = registration.current.ceiling
        // Where every step is above the one before it, as nearly always, there is nothing to look up.
        let isAscending = zip(steps, steps.dropFirst()).allSatisfy { $0.version < $1.version }
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
            if step.version > ceiling, registration.aboveCurrent == .refuse {
                note(
                    step, "is above the current version \(registration.current)",
                    remedy: "Raise the app's version, or register the step when it is reached.")
            }
            taken[slot] = taken[slot] ?? step
            if highest.map({ $0.version < step.version }) ?? true { highest = step }
        }
    }

    private mutating func reviewMoves(of place: any MigrationPlace) throws {
        var steps: [MigrationStep] = []
        var moves: [any MoveWork] = []
        for step in registration.steps where step.place.id == place.id {
            guard case .move(let move) = step.work else { continue }
            steps.append(step)
            moves.append(move)
        }
        guard !moves.isEmpty else { return }
        for mistake in try place.mistakes(in: moves) {
            note(steps[mistake.index], mistake.problem, remedy: mistake.remedy)
        }
    }

    private mutating func note(_ step: MigrationStep, _ problem: String, remedy: String) {
        mistakes.append(
            MigrationError(
                .invalidRegistration, "\(step.title) \(problem) (\(step.source))", remedy: remedy,
                manager: registration.manager, version: step.version))
    }
}
