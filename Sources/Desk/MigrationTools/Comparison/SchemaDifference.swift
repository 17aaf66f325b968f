import TextOutput

/// The differences between two schemas.
package struct SchemaDifference: Sendable, Hashable {
    /// One object or property that differs, or that only one schema has.
    package struct Change: Sendable, Hashable {
        /// The object or property that differs.
        ///
        ///     table `entry`: column `mood`
        package let subject: String
        /// Its definition in the first schema; nil if it is missing there.
        package let before: String?
        /// Its definition in the second schema; nil if it is missing there.
        package let after: String?

        /// True if a whole table, index, view or trigger differs, whose SQL is too long for a sentence.
        let isObject: Bool

        init(subject: String, before: String?, after: String?, isObject: Bool = false) {
            self.subject = subject
            self.before = before
            self.after = after
            self.isObject = isObject
        }

        /// True if a setting of the database file differs, such as `user_version`, and nothing of the schema.
        package var isSetting: Bool { subject.hasPrefix("PRAGMA ") }

        /// The change from the first schema to the second.
        ///
        ///     table `entry`: column `mood` was added: TEXT
        package var sentence: String {
            switch (before, after) {
            case (nil, let after?): "\(subject) was added" + (isObject ? "" : ": \(after)")
            case (let before?, nil): "\(subject) was removed" + (isObject ? "" : ": it was \(before)")
            case (let before?, let after?):
                "\(subject) was \(before.withSingleSpaces), and is \(after.withSingleSpaces)"
            case (nil, nil): subject
            }
        }

        /// Describes the difference between the results of two ways to make a schema.
        ///
        ///     table `entry`: column `mood` is TEXT after all migrations, INTEGER after the snapshot
        ///
        /// - Parameters:
        ///   - first: what made the first schema.
        ///   - second: what made the second schema.
        package func sentence(after first: String, _ second: String) -> String {
            sentence(here: "after \(first)", there: "after \(second)")
        }

        /// Describes the difference between two places, each with its preposition, such as `in a fresh install`.
        package func sentence(here: String, there: String) -> String {
            switch (before, after) {
            case (nil, _): "\(subject) is missing \(here)"
            case (_, nil): "\(subject) is missing \(there)"
            case (let before?, let after?):
                "\(subject) is \(before.withSingleSpaces) \(here), \(after.withSingleSpaces) \(there)"
            }
        }
    }

    /// The changes by subject; the columns of a table in their order.
    package let changes: [Change]

    /// True if both schemas are the same.
    package var isEmpty: Bool { changes.isEmpty }
}
