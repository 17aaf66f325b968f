import AppMigrations
import DatabaseBatches
import GRDB
import SchemaMigrations
import SmallWorlds

/// A database of a small world that is SQLite's own: cascades, keys and the numbers of rows play their part in it.
struct SQLiteWorldDatabase: WorldDatabase {
    let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    fileprivate init(_ queue: DatabaseQueue) { self.queue = queue }

    static func old(isOther: Bool) throws -> Self {
        let database = try Self()
        try database.queue.write { db in
            try ValueTable.make(db)
            if isOther { try db.execute(sql: "DROP TABLE run; CREATE TABLE run(step)") }
            for (key, value) in WorldDevice.oldValues { try ValueTable.insert(value, key, db) }
        }
        return database
    }

    func records(of manager: Int) throws -> StoreState? {
        do {
            return try SQLiteStore(queue).read("\(manager)")
        } catch let error as MigrationError where error.code == .damagedStore {
            return nil
        }
    }

    mutating func damage() throws {
        // Other worlds go on from the database as it is.
        let copy = try DatabaseQueue()
        try queue.backup(to: copy)
        try copy.write { db in
            guard try db.tableExists("app_migrations") else { return }
            try db.execute(sql: "UPDATE app_migrations SET value = '{'")
        }
        self = Self(copy)
    }

    func data() throws -> SmallData { try queue.read(ValueTable.data) }

    func open(_ number: Int, by process: WorldProcess) throws -> any OpenWorldDatabase {
        // In memory, and yet at a path of its own.
        let copy = try DatabaseQueue(path: "file:\(number)?mode=memory")
        try queue.backup(to: copy)
        copy.inDatabase { db in
            db.add(transactionObserver: WorldCommits(process, number, db), extent: .databaseLifetime)
        }
        return OpenSQLiteDatabase(queue: copy, process: process)
    }
}

/// Rolls back what a process commits from its death on.
private final class WorldCommits: TransactionObserver {
    private let process: WorldProcess
    private let number: Int
    private unowned let database: Database
    private var changesBefore: Int

    init(_ process: WorldProcess, _ number: Int, _ database: Database) {
        self.process = process
        self.number = number
        self.database = database
        changesBefore = database.totalChangesCount
    }

    func databaseWillCommit() throws {
        let changes = database.totalChangesCount
        defer { changesBefore = changes }
        // GRDB reports the end of a transaction that has only read, too.
        if changes > changesBefore { try process.willChange(.database(number)) }
    }

    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
    func databaseDidChange(with event: DatabaseEvent) {}
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
}

/// A SQLite database that a process has opened.
struct OpenSQLiteDatabase: OpenWorldDatabase {
    let queue: DatabaseQueue
    let process: WorldProcess

    var store: any RecordStorage { SQLiteStore(queue) }
    var adoption: Adoption { .databaseHasTables(queue, means: "1.0") }

    func close() throws -> any WorldDatabase {
        guard process.isDead else { return SQLiteWorldDatabase(queue) }
        // Without the observer, which rolls back what a dead process commits.
        let copy = try DatabaseQueue()
        try queue.backup(to: copy)
        return SQLiteWorldDatabase(copy)
    }

    func makeTables() throws {
        guard try !queue.read({ try $0.tableExists("value") }) else { return }
        try process.immortally { try queue.write(ValueTable.make) }
    }

    func become(_ database: any WorldDatabase) throws {
        guard let database = database as? SQLiteWorldDatabase else { return }
        try process.immortally { try database.queue.backup(to: queue) }
    }

    func write(_ write: SmallEvent.Write, form: SmallRelease) throws {
        try process.immortally {
            guard write != .vacuum else { return try queue.vacuum() }
            try queue.write { db in
                let old = try ValueTable.data(db).values
                var new = SmallData()
                new.values = old
                new.write(write, form: form)
                for (key, value) in new.values where old[key] == nil { try ValueTable.insert(value, key, db) }
                for key in old.keys where new.values[key] == nil {
                    try db.execute(sql: "DELETE FROM value WHERE id = ?", arguments: ["k\(key)"])
                }
            }
        }
    }

    func register(_ step: SmallApp.Step, with arguments: WorldRegistration, in manager: MigrationManager) {
        let (app, release) = (process.app, arguments.release)
        @Sendable func change(_ keys: [Int], _ db: Database) throws {
            var data = try ValueTable.data(db)
            for key in keys {
                data.change(key, by: step.id, of: app, in: release)
                try ValueTable.update(data.values[key], key, db)
            }
        }
        switch step.work {
        case .rows:
            manager.afterMigratingToVersion(
                arguments.version, in: queue, overRowsOf: "value",
                onFreshInstall: arguments.onFreshInstall
            ) { [process] db, rows in
                try process.enter(step.id)
                let ids: SQLRequest<String> = "SELECT id FROM value WHERE \(rows.condition)"
                try change(ids.fetchAll(db).map(ValueTable.key), db)
                try process.mayFail(step.id)
                process.didRun(step.id)
            }
        case .cursor:
            manager.afterMigratingToVersion(
                arguments.version, in: queue, startingAt: 0,
                onFreshInstall: arguments.onFreshInstall
            ) { [process] db, last in
                try process.enter(step.id)
                let keys = try ValueTable.data(db).values.keys.filter { $0 > last }.sorted()
                if let key = keys.first { try change([key], db) }
                try process.mayFail(step.id)
                process.didRun(step.id)
                return keys.count > 1 ? .more(keys[0]) : .done
            }
        default:
            manager.whenMigratingToVersion(
                arguments.version, finishing: arguments.finishing, in: queue,
                onFreshInstall: arguments.onFreshInstall,
                foreignKeys: step.enforcesForeignKeys ? .immediate : .deferred
            ) { [process] db in
                try process.enter(step.id)
                if try !db.tableExists("value") { try ValueTable.make(db) }
                if step.work == .imports {
                    let old = try ValueTable.data(db)
                    var new = old
                    new.copy(process.device.files, by: step.id, of: app, in: release)
                    for (key, value) in new.values where old.values[key] == nil {
                        try ValueTable.insert(value, key, db)
                        try ValueTable.update(value, key, db)
                    }
                } else {
                    if !step.enforcesForeignKeys { try db.execute(sql: ValueTable.rebuild("trail", "lost")) }
                    try change(Array(ValueTable.data(db).values.keys), db)
                }
                try db.execute(sql: "INSERT INTO run VALUES (?)", arguments: [step.id])
                try process.mayFail(step.id)
                process.didRun(step.id)
            }
        }
    }

    func register(_ move: SmallApp.Move, with arguments: WorldRegistration, in manager: MigrationManager) {
        let (app, mark) = (process.app, SmallApp.Move.mark)
        var lost = "lost"
        for finished in app.finished(by: mark) where finished.place == .database(0) {
            let releases = SmallApp.releases.flatMap { [SmallRelease($0), .secondBuild(of: $0)] }
            let forms = releases.filter { app.isInForm(finished.id, of: $0) }.map { "\($0.rawValue)" }
            lost =
                "\(lost) OR instr(' ' || trail, ' \(finished.id)@') = 0 AND form NOT IN (\(forms.joined(separator: ",")))"
        }
        let rebuild = ValueTable.rebuild("trail || '\(mark)@\(arguments.release.rawValue) '", lost)
        do {
            let schema = try SchemaMigrator(
                migrations: [
                    SQLMigration(version: 1, name: "make", sql: ValueTable.schema),
                    SQLMigration(
                        version: 2, name: "rebuild", sql: "\(rebuild) INSERT INTO run VALUES (\(mark));"),
                ], options: SchemaOptions(differentSchemas: move.isVerified ? .refuse : nil),
                adopting: SchemaAdoption { _ in 1 })
            manager.whenMigratingToVersion(
                arguments.version, migrate: schema, finishing: arguments.finishing, in: queue)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

/// The tables of the values in a SQLite database.
private enum ValueTable {
    static let schema = """
        CREATE TABLE value(id TEXT PRIMARY KEY, form INTEGER NOT NULL, trail TEXT NOT NULL, lost INTEGER NOT NULL);
        CREATE TABLE child(value TEXT NOT NULL REFERENCES value(id) ON DELETE CASCADE);
        CREATE TABLE run(step INTEGER NOT NULL);
        """

    /// Statements that rebuild the table of the values, as SQLite's own documentation does.
    static func rebuild(_ trail: String, _ lost: String) -> String {
        """
        CREATE TABLE new_value(id TEXT PRIMARY KEY, form INTEGER NOT NULL, trail TEXT NOT NULL, lost INTEGER NOT NULL);
        INSERT INTO new_value SELECT id, form, \(trail), \(lost) FROM value ORDER BY id DESC;
        DROP TABLE value;
        ALTER TABLE new_value RENAME TO value;
        """
    }

    static func make(_ db: Database) throws { try db.execute(sql: schema) }

    static func key(_ id: String) -> Int { Int(id.dropFirst()) ?? 0 }

    static func insert(_ value: SmallValue, _ key: Int, _ db: Database) throws {
        try db.execute(
            sql: "INSERT INTO value VALUES (?, ?, '', 0)", arguments: ["k\(key)", value.form.rawValue])
        try db.execute(sql: "INSERT INTO child VALUES (?)", arguments: ["k\(key)"])
    }

    static func update(_ value: SmallValue?, _ key: Int, _ db: Database) throws {
        guard let value else { return }
        let trail = value.trail.map { "\($0.step)@\($0.release.rawValue) " }.joined()
        try db.execute(
            sql: "UPDATE value SET trail = ?, lost = ? WHERE id = ?",
            arguments: [trail, value.isLost, "k\(key)"])
    }

    static func data(_ db: Database) throws -> SmallData {
        var data = SmallData()
        data.hasTables = try db.tableExists("value")
        guard data.hasTables else { return data }
        let rows = try Row.fetchCursor(
            db, sql: "SELECT *, EXISTS (SELECT * FROM child WHERE value = id) AS has_child FROM value")
        while let row = try rows.next() {
            var value = SmallValue(form: SmallRelease(rawValue: row["form"]))
            let trail: String = row["trail"]
            value.trail = trail.split(separator: " ").map { mark in
                let numbers = mark.split(separator: "@").map { Int($0) ?? 0 }
                return SmallValue.Mark(step: numbers[0], release: SmallRelease(rawValue: numbers[1]))
            }
            value.isLost = row["lost"]
            value.hasChild = row["has_child"]
            data.values[key(row["id"])] = value
        }
        for step in try Int.fetchAll(db, sql: "SELECT step FROM run") { data.runs[step, default: 0] += 1 }
        return data
    }
}
