import AppMigrations
import CMigrationSQLite
package import GRDB
import MigrationDiagnostics

/// The databases of a connection, of which those can be told that are attached later.
package struct AttachedDatabases {
    private let names: Set<SQLName>

    package init(_ db: Database) throws { names = Set(try Self.fetchAll(db)) }

    /// Detaches the databases that have been attached since, where SQLite allows it.
    ///
    /// Works only outside transactions (lang_detach.html).
    package func detachOthers(_ db: Database) {
        let others = (try? others(db)) ?? []
        for name in others { _ = try? db.runPastGRDB("DETACH \(name.sql)") }
        if !others.isEmpty { db.clearSchemaCache() }
    }

    /// Throws an error if the open transaction writes a database that has been attached since, and SQLite would commit it
    /// by itself.
    ///
    /// lang_attach.html: if one of the databases has a write-ahead log, a crash in the middle of the commit, or a full disk,
    /// can leave the changes in some of the files and not in others.
    package func checkOthers(_ db: Database) throws {
        for name in try others(db) where app_migrations_is_written(db.sqliteConnection, name.text) != 0 {
            let modes = try ["main", name.sql].map { schema in
                try String.fetchOne(db, sql: "PRAGMA \(schema).journal_mode")
            }
            guard modes.contains("wal") else { continue }
            throw MigrationError(
                .stepFailed,
                "writes the attached database \(name.text), which cannot be committed together with this one in WAL mode",
                remedy: """
                    Copy the rows through a separate connection to that database, in a step that can run again. Delete them \
                    here in a later migration.
                    """)
        }
    }

    /// The schema of a database in memory that takes the place of an attached file.
    package enum StandInSchema {
        /// The schema that the file has today.
        case current
        /// Its tables: migrations create the rest.
        case tables
        /// None: migrations create it.
        case none

        /// How the statements begin that create it, in an order in which they can run.
        ///
        /// SQLite has removed the schema's name, and what else can stand between these words and the name (schematab.html).
        fileprivate var openings: [String] {
            switch self {
            case .current:
                [
                    "CREATE VIRTUAL TABLE ", "CREATE TABLE ", "CREATE INDEX ", "CREATE UNIQUE INDEX ",
                    "CREATE VIEW ", "CREATE TRIGGER ",
                ]
            case .tables: ["CREATE TABLE "]
            case .none: []
            }
        }
    }

    /// Replaces each attached file by a database in memory without rows.
    ///
    /// - Returns: true if there are attached files.
    package static func replaceByEmptyOnes(with schema: StandInSchema, in db: Database) throws -> Bool {
        let names = try fetchFiles(db)
        for name in names {
            let statements = try schema.openings.flatMap { try Self.statements(opening: $0, in: name, db) }
            try db.execute(sql: "DETACH \(name.sql); ATTACH ':memory:' AS \(name.sql)")
            for statement in statements {
                do {
                    try db.execute(sql: statement)
                } catch DatabaseError.SQLITE_ERROR {
                    // SQLite reads texts that it no longer runs, such as those with "…" for a string. A virtual table has
                    // created some of its tables itself.
                }
            }
        }
        return !names.isEmpty
    }

    /// Runs the body with a new database, in which empty ones take the place of the files that the app attaches, and to which nothing
    /// more can be attached.
    ///
    /// If a migration fails there, the body runs again with another new database, whose attached ones have tables alone, and then none:
    /// migrations may create the rest.
    ///
    /// - Parameter open: creates the database, in the place of the one that it has created before.
    /// - Throws: `MigrationError`, `undecided`, if a migration attaches a database, or fails each time, and what the body throws.
    package static func replacingFiles<Result>(
        in open: () throws -> DatabaseQueue, _ body: (DatabaseQueue) throws -> Result
    ) throws -> Result {
        var failures: [MigrationError] = []
        for schema in [.current, .tables, .none] as [StandInSchema] {
            let database = try open()
            defer { try? database.close() }
            let hasAttached = try database.inDatabase { try replaceByEmptyOnes(with: schema, in: $0) }
            do {
                return try refusingOthers(on: database) { try body(database) }
            } catch let error as MigrationError where error.code == .stepFailed && hasAttached {
                failures.append(error)
            }
        }
        throw MigrationError(undecidedBy: failures[0])
    }

    /// Returns the statements that create the objects of one kind again in an attached database.
    private static func statements(opening: String, in schema: SQLName, _ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT substr(sql, ?) FROM \(schema.sql).sqlite_master
                WHERE sql LIKE ? || '%' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """, arguments: [opening.count + 1, opening]
        ).map { "\(opening)\(schema.sql).\($0)" }
    }

    /// Runs the body while a connection can attach nothing more.
    ///
    /// - Throws: `MigrationError`, `undecided`, if a migration tries to, and what the body throws.
    package static func refusingOthers<Result>(on database: DatabaseQueue, _ body: () throws -> Result) throws
        -> Result
    {
        try database.inDatabase(refuseOthers)
        do {
            return try body()
        } catch {
            throw MigrationError(ofAttaching: error) ?? error
        }
    }

    /// Lets a connection attach nothing more.
    package static func refuseOthers(on db: Database) throws {
        let count = try fetchAll(db).count { $0 != "main" && $0 != "temp" }
        _ = app_migrations_limit_attached(db.sqliteConnection, Int32(count))
    }

    /// Runs the body while a connection can attach one database more, as `VACUUM` does for itself.
    static func allowingOneMore<Result>(_ db: Database, _ body: () throws -> Result) rethrows -> Result {
        let limit = app_migrations_limit_attached(db.sqliteConnection, -1)
        _ = app_migrations_limit_attached(db.sqliteConnection, limit + 1)
        defer { _ = app_migrations_limit_attached(db.sqliteConnection, limit) }
        return try body()
    }

    package static func fetchFiles(_ db: Database) throws -> [SQLName] {
        try SQLName.fetchAll(
            db,
            sql: "SELECT name FROM pragma_database_list WHERE name NOT IN ('main', 'temp') AND file <> ''")
    }

    private func others(_ db: Database) throws -> [SQLName] {
        // SQLite creates the schema of temporary objects when it is needed.
        try Self.fetchAll(db).filter { !names.contains($0) && $0 != "temp" }
    }

    private static func fetchAll(_ db: Database) throws -> [SQLName] {
        try db.runPastGRDB("PRAGMA database_list").map { SQLName($0[1]) }
    }
}

extension MigrationError {
    /// Creates an error for a migration that has failed where files that the app attaches were replaced by empty databases.
    init(undecidedBy error: MigrationError) {
        self.init(
            .undecided, at: error.diagnostic.place,
            "fails in a trial, where the databases that the app attaches are empty: \(error.diagnostic.problem)",
            remedy: """
                Migrate those databases by themselves, or name the version of this one. Nothing was changed.
                """, underlyingError: error)
    }

    /// Creates an error for a migration that attaches a database in a trial; nil if an error is not about that.
    package init?(ofAttaching error: any Error) {
        let migration = error as? MigrationError
        guard let cause = (migration?.underlyingError ?? error) as? DatabaseError,
            cause.isAboutTooManyAttached
        else { return nil }
        let place = migration?.diagnostic.place
        self.init(
            .undecided, at: place,
            "\(place == nil ? "a migration " : "")attaches a database, which a trial must not change",
            remedy: """
                Attach the database in `prepareDatabase` of the app's configuration: trials put another one in its place. \
                In WAL mode, move no rows into it. Nothing was changed.
                """,
            underlyingError: error)
    }
}
