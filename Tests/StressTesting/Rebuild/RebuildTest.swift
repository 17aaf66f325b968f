import AppMigrations
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations
import TestSupport

/// A table is rebuilt while an app writes, and beside it, a second database has the same writes, and a plain rebuild at
/// the moment of the swap.
public struct RebuildTest: StressTest {
    /// Selects it on the command line.
    public let name = "rebuild"
    /// As the README words it.
    public let promise =
        "A table that is rebuilt in use ends with the rows of a plain rebuild, and no write of the app's is refused or changed"

    /// Makes the test.
    public init() {}

    /// Tries ten thousand histories, or forty.
    public func run(_ size: StressSize) throws -> StressOutcome {
        run(seeds: size == .short ? 1..<41 : 1..<10_001)
    }

    /// Tries a history for each seed.
    public func run(seeds: Range<UInt64>) -> StressOutcome {
        let misfits = Locked(0)
        var outcome = seeds.tryEach(unit: "histories of an app's writes") { seed in
            do {
                var trial = try RebuildTrial(seed: seed)
                let problem = try trial.run()
                if trial.hadMisfit { misfits.withLock { $0 += 1 } }
                return problem.map { "seed \(seed): \($0)\n\(trial.text)" }
            } catch {
                return "seed \(seed): error: \(error)"
            }
        }
        outcome.notes.append(
            "in \(misfits.withLock { $0 }) histories a row did not fit the new table, and was set aside")
        return outcome
    }
}

/// One history.
private struct RebuildTrial {
    private var random: RandomNumbers
    private let rebuild: RandomRebuild
    /// The database that is rebuilt in use, and the other one.
    private let ours: DatabaseQueue
    private let plain: DatabaseQueue
    private let store = InMemoryStore()
    private let batchSize: Int
    private var isSwapped = false
    /// True if the next deferred run is not cut short after a batch.
    private var isWhole = false
    private var history: [String] = []
    private(set) var hadMisfit = false

    init(seed: UInt64) throws {
        random = RandomNumbers(seed: seed)
        rebuild = RandomRebuild(&random)
        batchSize = Int.random(in: 1...6, using: &random)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = rebuild.foreignKeys
        configuration.allowsUnsafeTransactions = true
        ours = try DatabaseQueue(configuration: configuration)
        plain = try DatabaseQueue(configuration: configuration)
        for queue in [ours, plain] {
            try queue.writeWithoutTransaction { [rebuild] db in
                try db.execute(sql: "PRAGMA recursive_triggers = \(rebuild.recursiveTriggers ? 1 : 0)")
                for sql in rebuild.setUp + rebuild.triggers { try db.execute(sql: sql) }
            }
        }
    }

    var text: String {
        ([
            "PRAGMA foreign_keys = \(rebuild.foreignKeys); PRAGMA recursive_triggers = \(rebuild.recursiveTriggers)"
        ]
            + rebuild.setUp + rebuild.triggers + ["-- as \(rebuild.newTable("photo")); \(rebuild.newIndexes)"]
            + ["-- copying \(rebuild.copying)"] + history).joined(separator: ";\n")
    }

    private func manager() throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Photos", currentVersion: "2.0", adopting: Adoption { "1.0" }, store: store)
        manager.whenMigratingToVersion(
            "2.0", rebuilding: "photo", deferredIn: ours,
            as: ([rebuild.newTable("photo")] + rebuild.newIndexes).joined(separator: ";\n"),
            copying: rebuild.copying)
        return manager
    }

    mutating func run() throws -> String? {
        for _ in 0..<Int.random(in: 0...30, using: &random) {
            if let problem = try write() { return problem }
        }
        let writingTurns = Int.random(in: 2...12, using: &random)
        for turn in 1...60 {
            isWhole = turn > writingTurns || random.chance(20)
            let report = try SimulatedLaunch.$observer.withValue(Batches(batchSize: batchSize)) { try step() }
            if let problem = report.problem { return problem }
            if report.isDone { return try difference() ?? leftovers() }
            if turn > writingTurns, let problem = try repair(report.aside) { return problem }
            let writes = turn > writingTurns ? 0 : Int.random(in: 0...4, using: &random)
            for _ in 0..<writes { if let problem = try write() { return problem } }
        }
        return "the rebuild does not come to an end"
    }

    private struct Step {
        var problem: String?
        var isDone = false
        var aside: [String] = []
    }

    /// Launches, and runs one batch.
    private mutating func step() throws -> Step {
        let manager = try manager()
        history.append("-- launch")
        try manager.migrate()
        try copyTriggers()
        if !isSwapped, try ours.read({ try $0.tableExists("app_migrations_old_photo") }) {
            isSwapped = true
            history.append("-- swapped")
            do { try rebuildPlainly() } catch {
                return Step(problem: "swapped, but a plain rebuild fails: \(error)")
            }
            if let problem = try difference() { return Step(problem: "at the swap, \(problem)") }
        }
        let isWhole = isWhole
        defer { try? copyTriggers() }
        let report = try manager.runDeferred(while: {
            if !isWhole { manager.deferredProgress.cancel() }
            return true
        })
        history.append("-- ran \(isWhole ? "all" : "a batch"): \(report.pending)")
        let aside = report.pending.flatMap(\.rowsSetAside)
        if let failure = report.failures.first, aside.isEmpty { return Step(problem: "failure: \(failure)") }
        guard report.pending.isEmpty else { return Step(aside: aside) }
        return isSwapped ? Step(isDone: true) : Step(problem: "done without a swap")
    }

    // MARK: The app

    private mutating func write() throws -> String? {
        var statements = [rebuild.write(&random, isSwapped: isSwapped)]
        if random.chance(20) {
            statements = (0..<3).map { _ in rebuild.write(&random, isSwapped: isSwapped) }
            statements = ["BEGIN"] + statements + [random.pick(["COMMIT", "ROLLBACK"])]
        }
        for statement in statements {
            history.append(statement)
            let (mine, theirs) = (try execute(statement, ours), try execute(statement, plain))
            if mine != theirs { return "`\(statement)` ends with \(mine), without a rebuild with \(theirs)" }
        }
        for queue in [ours, plain] {
            try? queue.writeWithoutTransaction { if $0.isInsideTransaction { try $0.rollback() } }
        }
        return try random.chance(10) ? difference() : nil
    }

    private func execute(_ sql: String, _ queue: DatabaseQueue) throws -> String {
        try queue.writeWithoutTransaction { db in
            do {
                try db.execute(sql: sql)
                guard sql.contains(" ") else { return "" }
                // Only an insert says which row it was; batches insert rows, too.
                let isInsert =
                    sql.hasPrefix("INSERT") && rebuild.hasIntegerKey && !sql.contains("ON CONFLICT")
                    && db.changesCount > 0
                return "\(db.changesCount) changes\(isInsert ? ", row \(db.lastInsertedRowID)" : "")"
            } catch let error as DatabaseError {
                return "\(error.resultCode) \(error.message ?? "")"
            }
        }
    }

    /// Returns how the databases differ, as the app sees them.
    private func difference() throws -> String? {
        let columns = isSwapped ? "*, k" : "*"
        for (table, columns) in [
            ("photo", columns), ("parent", "*"), ("child", "*"), ("note", "*"), ("sequence", ""),
        ] {
            func rows(_ queue: DatabaseQueue) throws -> [String] {
                try queue.read { db in
                    if table == "sequence" {
                        guard try db.tableExists("sqlite_sequence") else { return [] }
                        return try String.fetchAll(
                            db,
                            sql: "SELECT name || seq FROM sqlite_sequence WHERE name = 'photo' AND seq > 0")
                    }
                    return try Row.fetchAll(db, sql: "SELECT \(columns) FROM \(table)").map { row in
                        row.databaseValues.map { "\($0.storage)" }.joined(separator: " ")
                    }.sorted()
                }
            }
            let (mine, theirs) = (try rows(ours), try rows(plain))
            if mine != theirs {
                let (only, missing) = (
                    mine.filter { !theirs.contains($0) }, theirs.filter { !mine.contains($0) }
                )
                return "\(table) has \(only), and lacks \(missing) (\(mine.count) and \(theirs.count) rows)"
            }
        }
        return nil
    }

    private func leftovers() throws -> String? {
        let names = try ours.read { db in
            try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE name GLOB 'app_migrations_*' AND name <> 'app_migrations_history'"
            )
        }
        return names.isEmpty ? nil : "left: \(names)"
    }

    // MARK: The oracle

    /// Gives the other database triggers for the same events, which do nothing.
    ///
    /// If a table has triggers, SQLite changes its rows in another order, and checks its constraints once more when REPLACE has
    /// removed rows (lang_conflict.html). Any trigger of the app's would have the same effects.
    ///
    /// An empty table has the foreign keys of the new table that have an ON UPDATE action: with any such key, SQLite refuses
    /// `UPDATE OR REPLACE` of a parent that has another unique column, though nothing refers to the row.
    private func copyTriggers() throws {
        let (heads, keys) = try ours.read { db in
            let triggers = try String.fetchAll(
                db,
                sql: "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'app_migrations_*'")
            let keys = try String.fetchAll(
                db,
                sql: """
                    SELECT DISTINCT 'REFERENCES ' || "table" || '(' || "to" || ') ON UPDATE ' || on_update
                    FROM sqlite_master AS m JOIN pragma_foreign_key_list(m.name)
                    WHERE m.name GLOB 'app_migrations_*' AND on_update <> 'NO ACTION'
                    """)
            let heads = triggers.compactMap {
                $0.firstMatch(of: /(BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON "?(\w+)/)?.output
            }
            return (heads, keys)
        }
        try plain.writeWithoutTransaction { db in
            let names = try String.fetchAll(
                db, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger' AND name GLOB 'idle_*'")
            for name in names { try db.execute(sql: "DROP TRIGGER \(name)") }
            try db.execute(sql: "DROP TABLE IF EXISTS idle")
            if !keys.isEmpty {
                let columns = keys.enumerated().map { "c\($0) \($1)" }.joined(separator: ", ")
                try db.execute(sql: "CREATE TABLE idle(\(columns))")
            }
            let tables = try Set(
                String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'"))
            for (number, head) in heads.enumerated() where tables.contains(String(head.3)) {
                try db.execute(
                    sql:
                        "CREATE TRIGGER idle_\(number) \(head.1) \(head.2) ON \(head.3) WHEN 0 BEGIN SELECT 1; END"
                )
            }
        }
    }

    private func rebuildPlainly() throws {
        let reached = try ours.read { db in
            try db.tableExists("sqlite_sequence")
                ? Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'photo'") ?? 0 : 0
        }
        try plain.writeWithoutTransaction { [rebuild] db in
            let sequence =
                try db.tableExists("sqlite_sequence")
                ? Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'photo'") : nil
            try copyPlainly(db)
            try db.execute(
                sql: """
                    PRAGMA foreign_keys = 0; PRAGMA legacy_alter_table = 1;
                    DROP TABLE photo; ALTER TABLE plain RENAME TO photo;
                    PRAGMA legacy_alter_table = 0; PRAGMA foreign_keys = \(rebuild.foreignKeys ? 1 : 0)
                    """)
            for sql in rebuild.newIndexes + rebuild.triggers { try db.execute(sql: sql) }
            guard let sequence else { return }
            // AUTOINCREMENT may leave out numbers (autoinc.html): those of rows that were copied, and deleted since.
            try db.execute(
                sql:
                    "DELETE FROM sqlite_sequence WHERE name = 'photo'; INSERT INTO sqlite_sequence VALUES ('photo', ?)",
                arguments: [max(sequence, reached)])
        }
    }

    /// Copies all rows to a new table, for whose indexes there are constraints.
    private func copyPlainly(_ db: Database) throws {
        // SQLite checks foreign keys row by row only while it enforces them.
        try db.execute(sql: "PRAGMA foreign_keys = 1; DROP TABLE IF EXISTS plain")
        try db.execute(sql: rebuild.newTable("plain"))
        for sql in rebuild.newIndexes {
            try db.execute(
                sql: sql.replacing(" INDEX new", with: " INDEX plain").replacing(
                    " ON photo", with: " ON plain"))
        }
        func names(_ table: String) throws -> [String] {
            try String.fetchAll(db, sql: "SELECT name FROM pragma_table_info('\(table)')")
        }
        let old = try names("photo")
        let columns = try names("plain").filter { old.contains($0) || rebuild.copying[$0] != nil }
        let values = columns.map { rebuild.copying[$0] ?? $0 }
        try db.inTransaction {
            try db.execute(
                sql:
                    "INSERT OR ABORT INTO plain(\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM photo"
            )
            return .commit
        }
        let indexes = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND name GLOB 'plain_*'")
        for index in indexes { try db.execute(sql: "DROP INDEX \(index)") }
    }

    /// Returns true if every row fits the new table.
    private func allFit() throws -> Bool {
        try plain.writeWithoutTransaction { [rebuild] db in
            defer {
                try? db.execute(
                    sql:
                        "PRAGMA foreign_keys = 0; DROP TABLE plain; PRAGMA foreign_keys = \(rebuild.foreignKeys ? 1 : 0)"
                )
            }
            do {
                try copyPlainly(db)
                return true
            } catch is DatabaseError {
                return false
            }
        }
    }

    /// Deletes the rows that do not fit, once SQLite agrees that they do not.
    private mutating func repair(_ aside: [String]) throws -> String? {
        guard !aside.isEmpty else { return nil }
        hadMisfit = true
        if try allFit() { return "\(aside) set aside, though every row fits" }
        let columns = rebuild.key.joined(separator: ", ")
        for key in aside {
            let statement: String
            if key.contains("NULL") {
                statement =
                    "DELETE FROM photo WHERE \(rebuild.key.map { "\($0) IS NULL" }.joined(separator: " OR "))"
            } else {
                let names = rebuild.key.count == 1 ? columns : "(\(columns))"
                statement = "DELETE FROM photo WHERE \(names) = \(key.replacing("real ", with: ""))"
            }
            history.append(statement)
            for queue in [ours, plain] { _ = try execute("PRAGMA foreign_keys = 0", queue) }
            let (mine, theirs) = (try execute(statement, ours), try execute(statement, plain))
            for queue in [ours, plain] {
                _ = try execute("PRAGMA foreign_keys = \(rebuild.foreignKeys ? 1 : 0)", queue)
            }
            if mine != theirs { return "`\(statement)` ends with \(mine), without a rebuild with \(theirs)" }
        }
        return nil
    }
}

/// Gives deferred work batches of one size.
private struct Batches: LaunchObserver {
    let batchSize: Int
    let isTimeOver = false

    func watching(_ store: any MigrationStore) -> any MigrationStore { store }
    func willUse(_ place: any MigrationPlace) {}
    func note(_ event: MigrationEvent) {}
}
