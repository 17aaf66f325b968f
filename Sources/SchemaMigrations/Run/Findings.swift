import GRDB

/// What a group of migrations may have broken: the tables that it has touched, or of which that cannot be told.
struct Suspects {
    /// The names of tables, in lower case.
    private(set) var tables: Set<String> = []
    /// Whether views and triggers may have been broken.
    private(set) var schemaHasChanged = false
    /// Whether any table may have been touched.
    private(set) var isEverything = false
    /// Whether migrations in Swift ran, of which nobody knows beforehand what they drop.
    private var includesCode = false

    static let none = Suspects()

    mutating func add(tables names: Set<String>, by job: MigrationJob) {
        tables.formUnion(names.map { $0.lowercased() })
        if job.isCode { includesCode = true }
    }

    /// Adds the tables whose definition, or whose place in the file, has changed.
    mutating func add(changesSince before: SchemaShape, to after: SchemaShape) {
        guard before.cookie != after.cookie else { return }
        schemaHasChanged = true
        let changed = before.objects.symmetricDifference(after.objects).map { $0.table.lowercased() }
        // The schema was changed, and looks the same: something was dropped and made again. In a file, that is known.
        if changed.isEmpty, includesCode { isEverything = true }
        tables.formUnion(changed)
    }
}

/// A database's schema, as far as a change of it can be told.
struct SchemaShape {
    struct Object: Hashable {
        /// Another one, as a rule, when a table was dropped and made again.
        let id: Int64
        let name: String
        let table: String
        let sql: String?
        let rootPage: Int
    }

    /// The schema cookie (fileformat2.html, 1.3.9), which each change of the schema raises.
    let cookie: Int
    let objects: Set<Object>

    init(_ db: Database) throws {
        cookie = try db.pragma("main.schema_version")
        let rows = try Row.fetchAll(
            db, sql: "SELECT rowid, name, tbl_name, sql, rootpage FROM main.sqlite_master")
        objects = Set(
            rows.map {
                Object(
                    id: $0["rowid"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"],
                    rootPage: $0["rootpage"] ?? 0)
            })
    }

    /// Whether everything that was there before is there as it was.
    func hasAll(of before: SchemaShape) -> Bool {
        cookie == before.cookie || objects.isSuperset(of: before.objects)
    }
}

/// What is broken in a database, and how often.
struct Findings {
    enum Finding: Hashable {
        /// Rows of a table that refer to rows that do not exist.
        case orphans(child: String, parent: String, columns: [String])
        /// A foreign key that SQLite cannot check.
        case brokenKey(child: String, reason: String)
        /// A view, or the triggers of a table, that do not compile.
        case brokenObject(name: String, reason: String, hint: String?)
    }

    private var counts: [Finding: Int] = [:]

    /// Looks for what is broken among the suspects, and whatever refers to them.
    init(_ db: Database, _ suspects: Suspects, _ foreignKeys: ForeignKeys) throws {
        if foreignKeys != .unchecked { try countOrphans(db, suspects) }
        if suspects.schemaHasChanged { try findBrokenObjects(db) }
    }

    var isEmpty: Bool { counts.isEmpty }

    /// A sentence for each.
    var descriptions: [String] {
        counts.map { "\($0.description(count: $1))." + ($0.hint.map { " \($0)" } ?? "") }.sorted()
    }

    /// Something that there was less of before, and how much there is more.
    ///
    /// What was broken before under another name, of a table or column that has been renamed, is not new.
    func firstNew(since before: Findings) -> New? {
        var gone = before.counts.filter { counts[$0.key] == nil }
        let more = counts.filter { $1 > before.counts[$0, default: 0] }
            .map { New(finding: $0, count: $1 - before.counts[$0, default: 0]) }
            .sorted { $0.description < $1.description }
        return more.first { new in
            guard before.counts[new.finding] == nil,
                let renamed = gone.first(where: {
                    $0.value >= new.count && $0.key.isSameKind(as: new.finding)
                })
            else { return true }
            gone[renamed.key] = nil
            return false
        }
    }

    struct New: CustomStringConvertible {
        let finding: Finding
        let count: Int

        var description: String { finding.description(count: count) }

        func error(blaming job: MigrationJob) -> SchemaMigrationError {
            var error = SchemaMigrationError(
                finding.isBrokenObject ? .brokenSchema : .foreignKeyViolation,
                "\(job.title): leaves \(self).",
                remedy: (finding.hint.map { "\($0) " } ?? "") + finding.remedy, file: job.title)
            error.version = job.version
            return error
        }
    }

    // MARK: Rows

    private mutating func countOrphans(_ db: Database, _ suspects: Suspects) throws {
        for table in try tables(toCheckFor: suspects, db) {
            do {
                let violations = try db.foreignKeyViolations(in: table, in: "main")
                while let violation = try violations.next() {
                    let keys = try db.foreignKeys(on: violation.originTable, in: "main")
                    let columns =
                        keys.first { $0.id == violation.foreignKeyId }?.originColumns
                        ?? ["key \(violation.foreignKeyId)"]
                    let finding = Finding.orphans(
                        child: violation.originTable, parent: violation.destinationTable, columns: columns)
                    counts[finding, default: 0] += 1
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                counts[.brokenKey(child: table, reason: error.message ?? "unknown error"), default: 0] += 1
            }
        }
    }

    /// The tables with foreign keys that were touched, or that refer to one that was.
    private func tables(toCheckFor suspects: Suspects, _ db: Database) throws -> [String] {
        guard suspects.isEverything || !suspects.tables.isEmpty else { return [] }
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT DISTINCT child.name AS child, key."table" AS parent
                FROM main.sqlite_master AS child, pragma_foreign_key_list(child.name, 'main') AS key
                WHERE child.type = 'table'
                """)
        let children = references.filter { row in
            let names: [String] = [row["child"], row["parent"]]
            return suspects.isEverything || names.contains { suspects.tables.contains($0.lowercased()) }
        }
        return Set(children.map { $0["child"] as String }).sorted()
    }

    // MARK: Views and triggers

    private mutating func findBrokenObjects(_ db: Database) throws {
        let views = try String.fetchAll(db, sql: "SELECT name FROM main.sqlite_master WHERE type = 'view'")
        var broken: Set<String> = []
        for view in views {
            let compiles = try compile(
                "SELECT * FROM main.\(view.quotedDatabaseIdentifier)", db, blaming: "view \(view)")
            if !compiles { broken.insert(view) }
        }
        let tables = try String.fetchAll(
            db, sql: "SELECT DISTINCT tbl_name FROM main.sqlite_master WHERE type = 'trigger'")
        // The triggers of a view that is broken do not compile either.
        for table in tables where !broken.contains(table) {
            for statement in try statementsThatFireTriggers(of: table, db) {
                try compile(statement, db, blaming: "a trigger of \(table)")
            }
        }
    }

    /// Compiles a statement, and does not run it: SQLite resolves what a view or a trigger names when it is used.
    @discardableResult
    private mutating func compile(_ sql: String, _ db: Database, blaming name: String) throws -> Bool {
        do {
            _ = try db.makeStatement(sql: sql)
            return true
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            let reason = error.message ?? "unknown error"
            // A view whose triggers take the place of some changes only.
            if !reason.hasPrefix("cannot modify") {
                let hint = db.hintAtDoubleQuotedText(message: error.message, sql: nil)
                counts[.brokenObject(name: name, reason: reason, hint: hint)] = 1
            }
            return false
        }
    }

    private func statementsThatFireTriggers(of table: String, _ db: Database) throws -> [String] {
        let name = "main.\(table.quotedDatabaseIdentifier)"
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
        let assignments = columns.map { "\($0.quotedDatabaseIdentifier) = NULL" }.joined(separator: ", ")
        return [
            "INSERT INTO \(name) DEFAULT VALUES", "DELETE FROM \(name)", "UPDATE \(name) SET \(assignments)",
        ]
    }
}

extension Findings.Finding {
    fileprivate func isSameKind(as other: Findings.Finding) -> Bool {
        switch (self, other) {
        case (.orphans, .orphans), (.brokenKey, .brokenKey), (.brokenObject, .brokenObject): true
        default: false
        }
    }

    var isBrokenObject: Bool {
        if case .brokenObject = self { true } else { false }
    }

    func description(count: Int) -> String {
        switch self {
        case .orphans(let child, let parent, let columns):
            """
            \(count) \(count == 1 ? "row" : "rows") of table \(child) whose \(columns.joined(separator: ", ")) \
            \(count == 1 ? "refers" : "refer") to no row of \(parent)
            """
        case .brokenKey(let child, let reason): "a foreign key of table \(child) broken: \(reason)"
        case .brokenObject(let name, let reason, _): "\(name) broken: \(reason)"
        }
    }

    var hint: String? {
        if case .brokenObject(_, _, let hint) = self { hint } else { nil }
    }

    var remedy: String {
        switch self {
        case .orphans:
            """
            Mend it: keep the rows that others refer to, or remove those that refer to them. Nothing of it stays; \
            what came before it is applied.
            """
        case .brokenKey:
            """
            Mend it: a foreign key refers to columns that are unique together. Nothing of it stays; what came \
            before it is applied.
            """
        case .brokenObject:
            """
            Mend it: drop what uses the old names first, and create it anew. Nothing of it stays; what came \
            before it is applied.
            """
        }
    }
}
