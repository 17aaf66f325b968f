import AppMigrations
import GRDB
import MigrationDiagnostics

/// The contents of the table in which a database keeps the records of its managers.
struct RecordTable {
    /// The parts that concern all managers, decoded once.
    private var shared = StoreState()
    /// The rows with these parts.
    private var sharedRows: [StoreState.Row] = []
    /// The records, undecoded, by the name of their row; nil for what is not text.
    private var records: [String: String?] = [:]

    /// The contents of a table that does not exist.
    init() {}

    /// Reads the rows of the table: `part`, `name`, `value`.
    init(_ rows: RowCursor) throws {
        while let row = try rows.next() {
            let (part, name, value) = (
                String.fromDatabaseValue(row[0]), String.fromDatabaseValue(row[1]),
                String.fromDatabaseValue(row[2])
            )
            if part == StoreState.Row.managers, let name {
                records[name] = .some(value)
            } else if let part, let name, let value {
                sharedRows.append(StoreState.Row(part: part, name: name, value: value))
            } else {
                throw Self.notText
            }
        }
        shared = try StoreState(rows: sharedRows)
    }

    /// The state of one manager.
    func state(of manager: String) throws -> StoreState {
        try state(of: [StoreState.rowName(of: manager)])
    }

    /// The state of all managers.
    func fullState() throws -> StoreState {
        try state(of: records.keys.inOrder())
    }

    /// Returns true if the table holds a row as it is.
    func holds(_ row: StoreState.Row) -> Bool {
        row.isOfManager ? records[row.name] == row.value : sharedRows.contains(row)
    }

    /// Returns true if the table has a row for a manager, whatever is in it.
    func hasRow(of manager: String) -> Bool { records[StoreState.rowName(of: manager)] != nil }

    private func state(of names: [String]) throws -> StoreState {
        try names.reduce(shared) { state, name in
            guard let record = records[name] else { return state }
            guard let record else { throw Self.notText }
            return try state.adding(
                manager: StoreState.Row(part: StoreState.Row.managers, name: name, value: record))
        }
    }

    private static var notText: MigrationError {
        .damagedStore("the table \(OwnTables.records) holds values that are not text")
    }
}
