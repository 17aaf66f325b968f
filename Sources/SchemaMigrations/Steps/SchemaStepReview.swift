package import AppMigrations

/// Finds mistakes in the registration of one database's schema steps.
package struct SchemaStepReview {
    /// How far a schema step goes.
    private enum Reach {
        /// It applies another set of migrations than the first one.
        case otherSet
        /// To a migration that the set does not have.
        case unknown(String)
        /// To the migration with this index; -1 for a set of none.
        case migration(Int)
    }

    private let reaches: [Reach]
    private let count: Int
    private let name: (Int) -> String
    private let title: (Int) -> String
    private let database: () -> String

    /// Reviews schema steps.
    ///
    /// - Parameters:
    ///   - schemaSteps: each schema step's migrations and target; nil for a schema step of another kind.
    ///   - set: the migrations of the first schema step, in order.
    ///   - database: returns the database's name in messages.
    ///   - title: returns the name of a migration in messages.
    package init<Key: Equatable>(
        _ schemaSteps: [(set: [Key], target: Key?)?], set: [Key], database: @escaping () -> String,
        title: @escaping (Key) -> String
    ) {
        reaches = schemaSteps.map { step in
            guard let step, step.set == set else { return .otherSet }
            guard let target = step.target, !set.isEmpty else { return .migration(set.count - 1) }
            return set.firstIndex(of: target).map(Reach.migration) ?? .unknown("\(target)")
        }
        count = set.count
        name = { "\(set[$0])" }
        self.title = { title(set[$0]) }
        self.database = database
    }

    /// The mistakes.
    package var mistakes: [SchemaStepMistake] {
        var mistakes: [SchemaStepMistake] = []
        func note(_ index: Int, _ problem: String, remedy: String) {
            mistakes.append(SchemaStepMistake(index: index, problem: problem, remedy: remedy))
        }
        var reached = -1
        for (index, reach) in reaches.enumerated() {
            switch reach {
            case .otherSet:
                note(
                    index, "brings \(database()) forward by another set of migrations",
                    remedy: "One database has one set: join the folders in one SchemaMigrator.")
            case .unknown(let target):
                note(
                    index, "goes up to \(target), which no migration has",
                    remedy: "The latest is \(name(count - 1)).")
            case .migration(let position):
                if position < reached {
                    note(
                        index,
                        "goes up to \(name(position)), below an earlier schema step's \(name(reached))",
                        remedy:
                            "A schema step never goes down: name the version of the schema step before it, or a later one."
                    )
                }
                reached = max(reached, position)
            }
        }
        let forgotten = reached + 1..<count
        if mistakes.isEmpty, !forgotten.isEmpty {
            note(
                reaches.count - 1,
                "is the last one for \(database()), and does not reach "
                    + forgotten.map(title).joined(separator: ", "),
                remedy: "Raise its upTo:, or register a schema step for the version that brings it.")
        }
        return mistakes
    }
}
