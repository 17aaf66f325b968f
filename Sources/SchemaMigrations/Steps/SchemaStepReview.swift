package import AppMigrations

/// Finds mistakes in the registration of one database's schema steps.
package struct SchemaStepReview<Key: Hashable> {
    /// The migrations of the first schema step, in order.
    let set: [Key]
    /// Returns the database's name in messages.
    let database: () -> String
    /// Returns the name of a migration in messages.
    let title: (Key) -> String

    package init(set: [Key], database: @escaping () -> String, title: @escaping (Key) -> String) {
        self.set = set
        self.database = database
        self.title = title
    }

    /// Returns the mistakes.
    ///
    /// - Parameter schemaSteps: each schema step's migrations and target; nil for a schema step of another kind.
    package func mistakes(in schemaSteps: [(set: [Key], target: Key?)?]) -> [SchemaStepMistake] {
        var mistakes: [SchemaStepMistake] = []
        func note(_ index: Int, _ problem: String, remedy: String) {
            mistakes.append(SchemaStepMistake(index: index, problem: problem, remedy: remedy))
        }
        var reached = -1
        for (index, schemaStep) in schemaSteps.enumerated() {
            guard let schemaStep, schemaStep.set == set else {
                note(
                    index, "brings \(database()) forward by another set of migrations",
                    remedy: "One database has one set: join the folders in one SchemaMigrator.")
                continue
            }
            guard let last = set.indices.last else { continue }
            guard let position = schemaStep.target.map({ set.firstIndex(of: $0) }) ?? last else {
                note(
                    index, "goes up to \(schemaStep.target.map { "\($0)" } ?? ""), which no migration has",
                    remedy: "The latest is \(set[last]).")
                continue
            }
            if position < reached {
                note(
                    index, "goes up to \(set[position]), below an earlier schema step's \(set[reached])",
                    remedy:
                        "A schema step never goes down: name the version of the schema step before it, or a later one."
                )
            }
            reached = max(reached, position)
        }
        let forgotten = set.dropFirst(reached + 1)
        if mistakes.isEmpty, !forgotten.isEmpty {
            note(
                schemaSteps.count - 1,
                "is the last one for \(database()), and does not reach "
                    + forgotten.map(title).joined(separator: ", "),
                remedy: "Raise its upTo:, or register a schema step for the version that brings it.")
        }
        return mistakes
    }
}
