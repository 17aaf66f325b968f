import GRDB

extension FleetDevice {
    /// Stores the edits that the device knows and its database has not, as far as the release knows their columns.
    ///
    /// As SQLiteData does: a row is inserted with all columns, NULL where it has no value, and updated where it was there.
    ///
    /// - Returns: a sentence about a row that the database does not take; nil if there is none.
    func store() throws -> String? {
        guard let release, isRunning else { return nil }
        let late = known.filter { stored[$0.key].map { [time = $0.value.time] in $0 < time } ?? true }
        guard !late.isEmpty else { return nil }
        do {
            return try store(late, by: release)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            // Foreign keys are checked at the commit.
            return "\(name) cannot store the rows that it has received: \(error.message ?? "")."
        }
    }

    private func store(_ late: FleetEdits, by release: FleetRelease) throws -> String? {
        try open().write { db in
            // A row may come before the one that it refers to.
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            for table in release.tables {
                let columns = try Set(FleetRelease.Table.columns(db, table.name))
                let rows = Dictionary(grouping: late.keys.filter { $0.table == table.name }, by: \.key)
                for (key, fields) in rows.sorted(by: { $0.key.words < $1.key.words }) {
                    let fields = fields.filter { columns.contains($0.column) && knows(table, $0.column) }
                    guard !fields.isEmpty else { continue }
                    do {
                        try store(db, table, key, fields)
                    } catch let error as DatabaseError {
                        return "\(name) cannot store \(key.words) in \(table.name): \(error.message ?? "")."
                    }
                }
            }
            return nil
        }
    }

    private func knows(_ table: FleetRelease.Table, _ column: String) -> Bool {
        column == table.key || table.columns.contains(column)
    }

    private func store(
        _ db: Database, _ table: FleetRelease.Table, _ key: DatabaseValue, _ fields: [FleetField]
    ) throws {
        let columns = try FleetRelease.Table.columns(db, table.name).filter { knows(table, $0) }
        let values = columns.map { column in
            column == table.key
                ? key
                : known[FleetField(table: table.name, key: key, column: column)]?.value ?? .null
        }
        let changes = fields.map(\.column).filter { $0 != table.key }.sorted()
            .map { "\($0.quotedDatabaseIdentifier) = excluded.\($0.quotedDatabaseIdentifier)" }
        try db.execute(
            sql: """
                INSERT INTO \(table.name.quotedDatabaseIdentifier)
                (\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))
                VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
                ON CONFLICT(\(table.key.quotedDatabaseIdentifier)) DO
                \(changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes.joined(separator: ", "))")
                """, arguments: StatementArguments(values))
        for field in fields { stored[field] = known[field]?.time }
    }
}
