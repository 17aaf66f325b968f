import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TextOutput

/// Writes a fixture: the schema, some rows with noise in place of texts, and the records.
struct FixtureCopy {
    private let maker: FixtureMaker
    private let source: Database
    private let target: Database
    private let interrupter: Interrupter
    private let tables: [TableLayout]
    private let objects: [SchemaObject]
    private var noise: Noise
    private var report = FixtureReport()
    /// The columns that foreign keys join, as `table.column`, in lower case.
    ///
    /// A value has the same replacement in all of them.
    private let joined: Set<SQLName>

    init(
        _ maker: FixtureMaker, _ source: Database, to target: Database, _ interrupter: Interrupter
    ) throws {
        self.maker = maker
        self.interrupter = interrupter
        self.source = source
        self.target = target
        let tables = try TableLayout.fetchAll(source).filter { !OwnTables.isOfMigrator($0.name) }
        self.tables = tables
        objects = try SchemaObject.fetchAll(source)
        noise = Noise(jsonKeys: maker.jsonKeys)
        var joined: Set<SQLName> = []
        for table in tables {
            for reference in table.references {
                joined.formUnion(reference.columns.map { SQLName("\(table.name).\($0)") })
                joined.formUnion(reference.parentColumns.map { SQLName("\(reference.parent).\($0)") })
            }
        }
        self.joined = joined
    }

    mutating func make() throws -> FixtureReport {
        try checkKeptColumns()
        for pragma in ["page_size", "encoding"] { try copy(pragma) }
        try target.inTransaction {
            for pragma in ["user_version", "application_id"] { try copy(pragma) }
            try copyRecords()
            try create { $0.type == "table" && !$0.isVirtual && !OwnTables.isOfMigrator($0.name) }
            // Create unique indexes before the rows, so that a row whose noise breaks one can be fixed.
            try create { $0.type == "index" && $0.isUnique }
            try copyRows()
            try removeOrphans()
            try create { $0.type == "view" }
            try fillVirtualTables()
            try create { $0.type == "index" && !$0.isUnique }
            // Create triggers last: the rows already contain their effects.
            try create { $0.type == "trigger" }
            return .commit
        }
        report.tables.sort { $0.name < $1.name }
        return report
    }

    private func checkKeptColumns() throws {
        let known = Set(
            tables.flatMap { table in table.columns.map { SQLName("\(table.name).\($0.name)") } })
        guard let unknown = maker.keptColumns.first(where: { !known.contains(SQLName($0)) }) else {
            return
        }
        throw FixtureError(
            "There is no column \(unknown), which was to be kept",
            remedy: "Name a column as table.column, of a table that is in the database.")
    }

    private func copy(_ pragma: String) throws {
        guard let value = try DatabaseValue.fetchOne(source, sql: "PRAGMA main.\(pragma)") else { return }
        let text = try String.fetchOne(source, sql: "SELECT quote(?)", arguments: [value]) ?? "0"
        try target.execute(sql: "PRAGMA main.\(pragma) = \(text)")
    }

    private func create(_ isIncluded: (SchemaObject) -> Bool) throws {
        for object in objects where isIncluded(object) { try target.execute(sql: object.statement) }
    }

    /// Copies the records of the migrations that were applied to the database.
    private func copyRecords() throws {
        let found = try Row.fetchAll(
            source,
            sql:
                "SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        )
        for object in found where OwnTables.isOfMigrator(object["tbl_name"]) {
            try target.execute(sql: object["sql"])
            guard object["type"] == "table" else { continue }
            let name = (object["name"] as SQLName).inMain
            let rows = try Row.fetchCursor(source, sql: "SELECT * FROM \(name)")
            while let row = try rows.next() {
                let places = row.map { _ in "?" }.joined(separator: ", ")
                try target.execute(
                    sql: "INSERT INTO \(name) VALUES (\(places))",
                    arguments: StatementArguments(row.databaseValues))
            }
        }
    }

    // MARK: Rows

    private mutating func copyRows() throws {
        let sample = try FixtureSample(source, of: tables, rowsPerTable: maker.rowsPerTable)
        for table in tables {
            var refusals: [String: Int] = [:]
            var rows = 0
            for row in sample.rows[table.name, default: []] {
                try interrupter.check()
                if let refusal = try insert(row, into: table) {
                    refusals[refusal, default: 0] += 1
                } else {
                    rows += 1
                }
            }
            for (refusal, count) in refusals.sorted(by: { $0.key < $1.key }) {
                report.notes.append(
                    """
                    \(count.counting("row")) of table \(table.name.text.quoted) left out, since noise does not fit: \(refusal). If \
                    no person writes the column, keep it
                    """)
            }
            let all = try Int.fetchOne(
                source, sql: "SELECT count(*) FROM \(table.name.inMain)")
            report.tables.append(.init(name: table.name.text, rows: rows, all: all ?? 0))
        }
        if try target.tableExists("sqlite_sequence"), try source.tableExists("sqlite_sequence") {
            for row in try Row.fetchAll(source, sql: "SELECT name, seq FROM sqlite_sequence") {
                // A table without rows has no sequence yet.
                try target.execute(
                    sql: """
                        DELETE FROM sqlite_sequence WHERE name = :name;
                        INSERT INTO sqlite_sequence(name, seq) VALUES (:name, :seq)
                        """, arguments: ["name": row["name"], "seq": row["seq"]])
            }
        }
    }

    /// Inserts a row with noise in place of its texts.
    ///
    /// - Returns: SQLite's reason to refuse the row; nil if it was inserted.
    private mutating func insert(_ row: FixtureSample.Row, into table: TableLayout) throws -> String? {
        var names = table.columns.map(\.name.sql)
        // The columns may already contain the row's id under another name.
        let id = table.columns.contains(where: \.isRowID) ? nil : row.id
        if id != nil, let name = table.rowIDName { names.insert(name, at: 0) }
        let sql =
            names.isEmpty
            ? "INSERT INTO \(table.name.inMain) DEFAULT VALUES"
            : """
            INSERT INTO \(table.name.inMain)(\(names.joined(separator: ", "))) \
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """
        var refusal: String?
        for attempt in 0..<30 {
            var values = zip(table.columns, row.values).map {
                replacement(of: $1, in: $0, of: table, attempt)
            }
            if let id { values.insert(id, at: 0) }
            do {
                try target.execute(sql: sql, arguments: StatementArguments(values))
                return nil
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                refusal = error.message ?? "a constraint failed"
            }
        }
        return refusal
    }

    private mutating func replacement(
        of value: DatabaseValue, in column: TableLayout.Column, of table: TableLayout, _ attempt: Int
    ) -> DatabaseValue {
        let name = SQLName("\(table.name).\(column.name)")
        guard !maker.keptColumns.contains(where: { SQLName($0) == name }) else { return value }
        let checks = joined.contains(name) ? [] : table.checks(of: column)
        switch value.storage {
        case .null: return value
        case .int64, .double:
            let isFree =
                maker.numbers == .replaced && checks.isEmpty && !column.isUnique && !joined.contains(name)
            return isFree ? noise.number(like: value) : value
        case .string, .blob:
            // The schema shows the constraint's values anyway. A random one does not reveal a person's
            // choice.
            let literals = checks.flatMap(\.literals).filter { $0.isText }
            if literals.contains(where: { StoredValue($0) == StoredValue(value) }) {
                return attempt > 20 ? value : literals.randomElement() ?? value
            }
            return noise.replacement(of: value)
        }
    }

    /// Removes rows that refer to a missing row, in the database itself or because the fixture leaves it out.
    private mutating func removeOrphans() throws {
        var isDone = false
        while !isDone {
            isDone = true
            for table in tables {
                for reference in table.references
                where reference.columns.count == reference.parentColumns.count {
                    let count = try removeOrphans(of: table, by: reference)
                    guard count > 0 else { continue }
                    isDone = false
                    report.notes.append(
                        """
                        \(count.counting("row")) of table \(table.name.text.quoted) left out, without a row of \
                        \(reference.parent.text.quoted) to refer to
                        """)
                    if let index = report.tables.firstIndex(where: { SQLName($0.name) == table.name }) {
                        report.tables[index].rows -= count
                    }
                }
            }
        }
    }

    private func removeOrphans(of table: TableLayout, by reference: TableLayout.Reference) throws -> Int {
        let child = table.name.sql
        let isSet = reference.columns.map { "\(child).\($0.sql) IS NOT NULL" }
        let isIt = zip(reference.parentColumns, reference.columns).map {
            "parent.\($0.sql) = \(child).\($1.sql)"
        }
        guard try target.hasTable(reference.parent) else { return 0 }
        try target.execute(
            sql: """
                DELETE FROM main.\(child) WHERE \(isSet.joined(separator: " AND ")) AND NOT EXISTS (
                    SELECT 1 FROM \(reference.parent.inMain) AS parent
                    WHERE \(isIt.joined(separator: " AND ")))
                """)
        return target.changesCount
    }

    // MARK: Virtual tables

    private mutating func fillVirtualTables() throws {
        for object in objects where object.type == "table" && object.isVirtual {
            try interrupter.check()
            do {
                try target.execute(sql: object.statement)
                switch FullTextTable(object) {
                case let table? where table.content == .external:
                    try target.execute(sql: table.rebuilding)
                case .some:
                    try copyTexts(object.name)
                case nil:
                    report.notes.append("table \(object.name.text.quoted) is virtual, and stays empty")
                }
            } catch let error as DatabaseError {
                report.notes.append(
                    "table \(object.name.text.quoted) is virtual, and was left empty: \(error.problem)")
            }
        }
    }

    /// Copies rows of a full-text table that stores its own texts.
    private mutating func copyTexts(_ table: SQLName) throws {
        let name = table.sql
        let columns = try SQLName.fetchAll(
            source, sql: "SELECT name FROM pragma_table_xinfo(?, 'main') WHERE hidden = 0", arguments: [table]
        ).sql
        let all = try Int.fetchOne(source, sql: "SELECT count(*) FROM main.\(name)") ?? 0
        let rows = try Row.fetchAll(
            source, sql: "SELECT rowid, \(columns) FROM main.\(name) LIMIT ?", arguments: [maker.rowsPerTable]
        )
        for row in rows {
            let values = Array(row.databaseValues).map { noise.replacement(of: $0) }
            let places = values.map { _ in "?" }.joined(separator: ", ")
            try target.execute(
                sql: "INSERT INTO main.\(name)(rowid, \(columns)) VALUES (\(places))",
                arguments: StatementArguments(values))
        }
        report.tables.append(.init(name: table.text, rows: rows.count, all: all))
    }
}

extension DatabaseValue {
    fileprivate var isText: Bool {
        if case .string = storage { true } else { false }
    }
}

extension SchemaObject {
    fileprivate var isUnique: Bool { SQLName(String(sql.prefix(13))) == "CREATE UNIQUE" }
}
