/// Where two schemas differ, as a person would write it.
public struct SchemaDifference: Sendable, Hashable {
    /// One thing that is different, or that only one of both has.
    public struct Change: Sendable, Hashable {
        /// What is different.
        ///
        ///     table `entry`: column `mood`
        public let subject: String
        /// How it is defined in the first schema; nil when it is not there.
        public let before: String?
        /// How it is defined in the second schema; nil when it is not there.
        public let after: String?

        /// Whether it is a whole table, index, view or trigger: too long for a sentence.
        let isObject: Bool

        init(subject: String, before: String?, after: String?, isObject: Bool = false) {
            self.subject = subject
            self.before = before
            self.after = after
            self.isObject = isObject
        }

        /// The change from the first schema to the second.
        ///
        ///     table `entry`: column `mood` was added: TEXT
        public var sentence: String {
            switch (before, after) {
            case (nil, let after?): "\(subject) was added" + (isObject ? "" : ": \(after)")
            case (let before?, nil): "\(subject) was removed" + (isObject ? "" : ": it was \(before)")
            case (let before?, let after?): "\(subject) was \(before.inline), and is \(after.inline)"
            case (nil, nil): subject
            }
        }

        /// The difference between what two ways lead to.
        ///
        ///     table `entry`: column `mood` is TEXT after all migrations, INTEGER after the snapshot
        ///
        /// - Parameters:
        ///   - first: how the way to the first schema is called.
        ///   - second: how the way to the second one is called.
        package func sentence(after first: String, _ second: String) -> String {
            sentence(here: "after \(first)", there: "after \(second)")
        }

        /// The difference between two places, each told with its preposition, such as `in a fresh install`.
        package func sentence(here: String, there: String) -> String {
            switch (before, after) {
            case (nil, _): "\(subject) is missing \(here)"
            case (_, nil): "\(subject) is missing \(there)"
            case (let before?, let after?):
                "\(subject) is \(before.inline) \(here), \(after.inline) \(there)"
            }
        }
    }

    /// What is different, by subject; the columns of a table in their order.
    public let changes: [Change]

    /// Whether both are the same.
    public var isEmpty: Bool { changes.isEmpty }
}

extension String {
    /// The text without the line breaks that SQL may have.
    fileprivate var inline: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
