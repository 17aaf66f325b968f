/// The contents that a database must have after some of its migrations, as plain SQL makes it in memory.
struct Reference {
    let scenario: Scenario
    /// By the number of migrations.
    let dumps: [[String]]
    /// After the first migration and those of another branch.
    private(set) var branchDump: [String] = []

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        let db = try PlainDatabase()
        var dumps = [try Self.dump(db)]
        let versions = scenario.versions
        for (index, sql) in Schema.statements.enumerated() {
            // What a baseline stands for has run, and what an outdated database lacks has not.
            if index + 1 < versions[0] || versions.contains(index + 1) { try db.execute(sql) }
            if dumps.count == Schema.statements.count, scenario.start == .redefined {
                try db.execute(Schema.rebuiltBook)
            }
            if dumps.count == 1, scenario.isOldInstall { try db.execute(Schema.rows) }
            if dumps.count == 1, scenario.start == .branched {
                for sql in Schema.branchStatements { try db.execute(sql.up) }
                branchDump = try Self.dump(db)
                for sql in Schema.branchStatements.reversed() { try db.execute(sql.down) }
            }
            dumps.append(try Self.dump(db))
        }
        // The tables are there before the ledger is.
        if scenario.start == .unrecorded { dumps[0] = dumps[1] }
        self.dumps = dumps
    }

    /// The schema and the rows of a database, without what the package and the steps keep in it.
    static func dump(_ db: PlainDatabase) throws -> [String] {
        let objects = try db.rows(
            """
            SELECT type, name, coalesce(sql, '') FROM sqlite_master
            WHERE tbl_name NOT LIKE 'app_migrations%' AND tbl_name NOT LIKE 'schema_migrations%'
                AND tbl_name NOT LIKE 'deferred_%' AND name NOT LIKE 'sqlite_%'
            ORDER BY type, name
            """)
        return try objects.flatMap { object -> [String] in
            let (type, name, sql) = (object[0], object[1], object[2])
            guard type == "table", name != "effect" else { return ["\(type) \(name): \(sql)"] }
            let columns = try db.column("SELECT name FROM pragma_table_info('\(name)')")
            let row = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
            return try ["\(type) \(name): \(sql)"] + db.column("SELECT \(row) FROM \(name) ORDER BY 1")
        }
    }
}
