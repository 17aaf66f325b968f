import TextOutput

/// The contents of a fixture that a ``FixtureMaker`` made.
public struct FixtureReport: Sendable, Hashable {
    /// The number of rows that were taken from a table.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public let name: String
        /// The number of rows in the fixture.
        public internal(set) var rows: Int
        /// The number of rows in the database.
        public let all: Int
    }

    /// The tables, by name.
    public internal(set) var tables: [Table] = []

    /// Notes on the fixture, such as rows that were left out: a sentence each.
    public package(set) var notes: [String] = []

    /// The size of the fixture, in bytes.
    public internal(set) var size: Int64 = 0
}

extension FixtureReport: CustomStringConvertible {
    /// One line for each table, and the notes.
    public var description: String {
        var table = TextOutput.Table(.left, .right, .left, .right)
        for line in tables { table.add(line.name, "\(line.rows)", "of", line.all.counting("row")) }
        return (table.lines() + notes.map { "  note: \($0)" }).joined(separator: "\n")
    }
}
