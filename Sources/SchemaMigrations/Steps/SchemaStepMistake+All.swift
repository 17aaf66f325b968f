package import AppMigrations

extension SchemaStepMistake {
    /// Returns the mistakes in the registration of one database's schema steps.
    ///
    /// - Parameters:
    ///   - schemaSteps: each schema step's migrations and target; nil for a schema step of another kind.
    ///   - set: the migrations of the first schema step, in order.
    ///   - database: returns the database's name in messages.
    ///   - title: returns the name of a migration in messages.
    package static func all<Key: Equatable>(
        in schemaSteps: [(set: [Key], target: Key?)?], set: [Key], database: () -> String,
        title: (Key) -> String
    ) -> [SchemaStepMistake] {
        var mistakes: [SchemaStepMistake] = []
        func note(_ index: Int, _ problem: String, remedy: String) {
            mistakes.append(SchemaStepMistake(index: index, problem: problem, remedy: remedy))
        }
        // The index of the last migration that the schema steps apply.
        var reached = -1
        for (index, step) in schemaSteps.enumerated() {
            guard let step, step.set == set else {
                note(
                    index, "brings \(database()) forward by another set of migrations",
                    remedy: "One database has one set: put all migrations into one migrator.")
                continue
            }
            var position = set.count - 1
            if let target = step.target, !set.isEmpty {
                guard let found = set.firstIndex(of: target) else {
                    note(
                        index, "goes up to \(target), which no migration has",
                        remedy: "The latest is \(set[set.count - 1]).")
                    continue
                }
                position = found
            }
            if position < reached {
                note(
                    index,
                    "goes up to \(set[position]), below an earlier schema step's \(set[reached])",
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
