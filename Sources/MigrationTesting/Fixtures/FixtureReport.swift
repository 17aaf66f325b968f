import TextOutput

/// What a ``FixtureMaker`` has taken from a database.
public struct FixtureReport: Sendable, Hashable {
    /// How many rows were taken of a table.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public let name: String
        /// How many rows the fixture has.
        public internal(set) var rows: Int
        /// How many rows the database has.
        public let all: Int
    }

    /// The tables, by name.
    public internal(set) var tables: [Table] = []

    /// What to know of the fixture, such as rows that were left out: a sentence each.
    public internal(set) var notes: [String] = []

    /// The size of the fixture, in bytes.
    public internal(set) var size: Int64 = 0
}

extension FixtureReport: CustomStringConvertible {
    /// A line for each table, and the notes.
    public var description: String {
        var table = TextOutput.Table(.left, .right, .left, .right)
        for line in tables { table.add(line.name, "\(line.rows)", "of", line.all.counting("row")) }
        return (table.lines() + notes.map { "  note: \($0)" }).joined(separator: "\n")
    }
}
