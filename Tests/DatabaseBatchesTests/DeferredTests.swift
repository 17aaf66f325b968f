import AppMigrations
import DatabaseBatches
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred step in a database", .timed)
struct DeferredTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        try app.launch("1.0")
        database = try app.open()
        try database.write { db in
            try db.execute(
                sql: """
                    ALTER TABLE book ADD COLUMN hash TEXT;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                    INSERT INTO book(id, title) SELECT i * 3, 'Book ' || i FROM n;
                    CREATE TABLE done(id INTEGER);
                    """)
        }
    }

    /// A manager of version 2.1, whose deferred step hashes books.
    private func manager(
        _ version: String = "2.1", in other: DatabaseQueue? = nil,
        poison: Int64? = nil, onBatch: (@Sendable () throws -> Void)? = nil,
        afterBatch: (() -> Void)? = nil
    ) throws -> MigrationManager {
        let database = other ?? database
        let manager = try app.manager(
            version,
            options: MigrationOptions(
                ignoresStepsAboveCurrent: true, lockTimeout: .seconds(600),
                onEvent: { [log = app.log] event in
                    if case .didRunBatch(let step, let done, let total) = event.kind {
                        log.add("\(step.version): \(done) of \(total ?? -1)")
                        afterBatch?()
                    }
                }))
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        manager.afterMigratingToVersion(
            "2.1", in: database, overRowsOf: "book", fileID: "App/Migrations.swift",
            line: 7
        ) { db, rows in
            try onBatch?()
            if let poison, try rows.ids(of: "book", db).contains(poison) { throw Mishap() }
            try db.execute(literal: "UPDATE book SET hash = 'h' || title WHERE \(rows.condition)")
            try db.execute(literal: "INSERT INTO done SELECT id FROM book WHERE \(rows.condition)")
        }
        manager.whenMigratingToVersion(
            "3.0", finishing: ["2.1"], in: database
        ) { db in
            try db.execute(sql: "ALTER TABLE book RENAME COLUMN hash TO digest")
        }
        return manager
    }

    private func integer(_ sql: String) throws -> Int {
        try database.read { try Int.fetchOne($0, sql: sql) ?? -1 }
    }

    /// Every row was done once, and only once.
    private func expectAllDone() throws {
        #expect(try integer("SELECT count(*) FROM done") == 1000)
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 1000)
        #expect(try integer("SELECT count(*) FROM book WHERE hash IS NULL") == 0)
    }

    @Test(
        "is announced once in a run if its database's other connections do not wait",
        arguments: [true, false])
    func busyMode(isDefault: Bool) throws {
        let database =
            isDefault ? try app.open() : try DatabaseFile(path: app.databaseURL.path).openQueue()
        let manager = try app.manager(
            "2.1",
            options: MigrationOptions(
                onEvent: { [log = app.log] event in
                    if case .lacksBusyTimeout = event.kind { log.add("\(event)") }
                }))
        for version in ["2.1", "2.1-1"] as [AppVersion] {
            manager.afterMigratingToVersion(version, in: database, overRowsOf: "book") { db, rows in
                try db.execute(
                    literal: "UPDATE book SET hash = title WHERE hash IS NULL AND \(rows.condition)")
            }
        }
        let warning = """
            Library: other connections to library.sqlite may fail with SQLITE_BUSY while deferred steps run: set \
            `busyMode` in the configuration of each to .timeout(5)
            """
        try manager.migrate()
        #expect(app.log.lines == [])
        #expect(try manager.runDeferred().pending == [])
        #expect(app.log.lines == (isDefault ? [warning] : []))
        try manager.runDeferred()
        #expect(app.log.lines == (isDefault ? [warning] : []))
    }

    @Test("is reported by migrate(), and run by runDeferred(), each row once")
    func run() throws {
        let manager = try manager()
        let report = try manager.migrate()
        #expect(report.completed == [])
        #expect(report.deferred.map(\.work.version) == ["2.1"])
        #expect(try integer("SELECT count(*) FROM done") == 0)
        let pending = try #require(try manager.pendingDeferred().first)
        #expect(pending.work.version == "2.1")
        #expect(pending.work.database == "library.sqlite")
        #expect(pending.done == 0)
        #expect(pending.total == 1000)
        #expect(report.deferred == [pending])
        let run = try manager.runDeferred()
        #expect(run.completed.versions == ["2.1"])
        #expect(run.pending == [])
        try expectAllDone()
        #expect(try manager.pendingDeferred() == [])
        #expect(try manager.migrate().deferred.map(\.work.version) == [])
        #expect(try manager.runDeferred().completed == [])
        #expect(try manager.history().map { "\($0.version) \($0.outcome)" } == ["2.1 ran"])
        #expect(app.log.lines.first == "2.1: 1 of 1000")
    }

    @Test("ends when its time is over, and the next run continues, also in a new process")
    func resumed() throws {
        try manager().migrate()
        let first = try manager().runDeferred(for: .zero)
        #expect(first.completed == [])
        #expect(first.pending.map(\.work.version) == ["2.1"])
        var progress: [PendingWork] = []
        for limit in 1...20 {
            let batches = Locked(0)
            let manager = try manager { batches.withLock { $0 += 1 } }
            // The second batch asks to wait, and so leaves the step where a kill would.
            if limit < 5 {
                let stopped = try self.manager {
                    if batches.withLock({
                        $0 += 1
                        return $0 > 1
                    }) {
                        throw MigrationPostponed(reason: "not now")
                    }
                }
                let report = try stopped.runDeferred()
                #expect(report.failures.map(\.code) == [.postponed])
                progress += try stopped.pendingDeferred()
            } else {
                try manager.runDeferred()
            }
        }
        #expect(progress.map(\.done) == progress.map(\.done).sorted())
        #expect(Set(progress.map(\.done)).count == 4)
        #expect(progress.allSatisfy { $0.total == 1000 })
        try expectAllDone()
    }

    @Test("is not needed on a fresh install")
    func fresh() throws {
        let other = try App()
        let database = try other.open()
        let manager = try other.manager("2.1")
        manager.whenMigratingToVersion("1.0", migrate: try other.schema([10]), in: database)
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "book") { _, _ in
            throw Mishap()
        }
        let report = try manager.migrate()
        #expect(report.launch == .freshInstall)
        #expect(report.deferred.map(\.work.version) == [])
        #expect(try manager.runDeferred().failures.isEmpty)
        #expect(try manager.history().map { "\($0.version) \($0.outcome)" } == ["2.1 notNeeded"])
    }

    @Test("is finished first by a step that needs it, with progress")
    func finishing() throws {
        let old = try manager()
        try old.migrate()
        let batches = Locked(0)
        try manager {
            if batches.withLock({
                $0 += 1
                return $0 > 2
            }) {
                throw CancellationError()
            }
        }.runDeferred()
        let done = try #require(try old.pendingDeferred().first).done
        #expect(done > 0 && done < 1000)

        let new = try manager("3.0")
        #expect(try new.pendingVersions() == ["2.1", "3.0"])
        let report = try new.migrate()
        #expect(report.completed.versions == ["2.1", "3.0"])
        #expect(report.deferred.map(\.work.version) == [])
        #expect(try integer("SELECT count(*) FROM done") == 1000)
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 1000)
        #expect(try integer("SELECT count(*) FROM book WHERE digest IS NULL") == 0)
        #expect(new.progress.fractionCompleted == 1)
    }

    @Test("is finished before the step that needs it when the release between was skipped")
    func skippedRelease() async throws {
        let report = try await manager("3.0").migrate()
        #expect(report.completed.versions == ["2.1", "3.0"])
        #expect(try integer("SELECT count(*) FROM book WHERE digest IS NULL") == 0)
    }

    @Test("names the row that it cannot do, does all others, and waits")
    func poison() throws {
        try manager().migrate()
        let report = try manager(poison: 1500).runDeferred()
        let error = try #require(report.failures.first)
        #expect(report.failures.count == 1)
        #expect(error.code == .stepFailed)
        #expect(
            error.description == """
                Library: deferred step 2.1 (Migrations.swift:7) failed in row 1500 of table book: a mishap. That batch was \
                rolled back; all others are kept. The next run retries it.
                """)
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(try integer("SELECT count(*) FROM done") == 999)
        #expect(try manager().runDeferred().completed.versions == ["2.1"])
        try expectAllDone()
    }

    @Test("that throws while a later step finishes it has not died, however often that happens")
    func throwsWhileFinished() throws {
        for _ in 1...5 {
            let error = try #require(throws: MigrationError.self) {
                try manager("3.0", poison: 1500).migrate()
            }
            #expect(error.code == .stepFailed)
            #expect(error.version == "2.1")
        }
        #expect(try integer("SELECT count(*) FROM done") == 999)
        #expect(try manager("3.0").migrate().completed.versions == ["2.1", "3.0"])
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 1000)
    }

    @Test("that fails does not hold up others")
    func others() throws {
        let manager = try app.manager("2.2")
        manager.whenMigratingToVersion("1.0", migrate: try app.schema([10]), in: database)
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "book") { _, _ in
            throw Mishap()
        }
        manager.afterMigratingToVersion("2.2", in: database, startingAt: 0) { db, number in
            try db.execute(sql: "INSERT INTO done VALUES (?)", arguments: [number])
            return number < 99 ? .more(number + 1) : .done
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(report.completed.versions == ["2.2"])
        #expect(report.failures.map(\.version) == ["2.1"])
        #expect(report.pending.map(\.work.version) == ["2.1"])
        #expect(try integer("SELECT count(*) FROM done") == 100)
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 100)
    }

    @Test("can be skipped, and starts anew after a reset")
    func skipAndReset() throws {
        let manager = try manager()
        try manager.migrate()
        try manager.skip("2.1")
        #expect(try manager.pendingDeferred() == [])
        try manager.rerunAllSteps()
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        try expectAllDone()
    }

    @Test("needs the launch to be completed first")
    func beforeLaunch() throws {
        let error = try #require(throws: MigrationError.self) { try manager().runDeferred() }
        #expect(error.code == .notYetMigrated)
        #expect(
            error.description == """
                Library: `migrate()` hasn't succeeded yet. Call migrate() first, and runDeferred() when it has \
                succeeded.
                """)
    }

    @Test("needs another launch once a newer version of the app has used the data")
    func afterNewerVersion() throws {
        let older = try manager()
        try older.migrate()
        try manager("3.0").migrate()
        let error = try #require(throws: MigrationError.self) { try older.runDeferred() }
        #expect(error.code == .notYetMigrated)
        #expect(
            error.message
                == "Library: `migrate()` hasn't succeeded since version 3.0 of the app used this data.")
        try older.migrate()
        #expect(try older.runDeferred().failures.isEmpty)
    }

    @Test("is run by one process at a time; the second one returns at once and says so")
    func elsewhere() throws {
        try manager().migrate()
        let other = try app.open()
        var report: DeferredReport?
        let first = try manager(afterBatch: {
            guard report == nil else { return }
            report = try? self.manager(in: other).runDeferred()
        })
        #expect(try first.runDeferred().completed.versions == ["2.1"])
        #expect(report?.pending.map(\.work.version) == ["2.1"])
        #expect(report?.canContinue == true)
        try expectAllDone()
    }

    @Test("does not keep a process waiting that only looks, and none runs in a downgrade")
    func waitingAndDowngrade() throws {
        try manager().migrate()
        let widget = try app.manager("2.1", options: MigrationOptions(role: .waitsForApp))
        widget.afterMigratingToVersion("2.1", in: database, overRowsOf: "book") { _, _ in }
        #expect(try widget.migrate().deferred.map(\.work.version) == ["2.1"])
        #expect(
            try #require(throws: MigrationError.self) { try widget.runDeferred() }.code == .notYetMigrated)
        let older = try manager("2.0")
        #expect(try older.migrate().launch == .downgrade(from: "2.1"))
        #expect(try older.runDeferred().completed == [])
        #expect(try integer("SELECT count(*) FROM done") == 0)
    }

    @Test("`finishing` must name a deferred step that is registered before")
    func unknownFinished() throws {
        let manager = try app.manager("2.0")
        manager.whenMigratingToVersion("2.0", finishing: ["1.9"], fileID: "App/Migrations.swift", line: 7) {}
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(
            error.description == """
                Library: step 2.0 finishes 1.9, but no deferred step before it has that version (Migrations.swift:7). Name \
                the version of a deferred step that is registered for an earlier version.
                """)
    }

    @Test("names the row that it cannot do also in a launch that finishes it")
    func poisonWhileFinishing() throws {
        let error = try #require(throws: MigrationError.self) { try manager("3.0", poison: 1500).migrate() }
        #expect(
            error.description == """
                Library: deferred step 2.1 (Migrations.swift:7) failed in row 1500 of table book: a mishap. That batch was \
                rolled back; all others are kept. The next run retries it.
                """)
        #expect(error.underlyingError is Mishap)
        #expect(try integer("SELECT count(*) FROM done") == 999)
        #expect(try manager("3.0").migrate().completed.versions == ["2.1", "3.0"])
        #expect(try integer("SELECT count(*) FROM done") == 1000)
    }

    @Test(
        "shows its progress by the rows done, from where an earlier run was cut short, and can be cancelled by it"
    )
    func progress() throws {
        let fractions = Locked<[Double]>([])
        var shown: MigrationManager?
        let note = {
            if let shown { fractions.withLock { $0.append(shown.deferredProgress.fractionCompleted) } }
        }
        let first = try manager(afterBatch: {
            note()
            shown?.deferredProgress.cancel()
        })
        shown = first
        try first.migrate()
        #expect(try first.runDeferred().pending.map(\.work.version) == ["2.1"])
        #expect(fractions.withLock { $0 } == [0.001])
        let second = try manager(afterBatch: note)
        shown = second
        #expect(try second.runDeferred().completed.versions == ["2.1"])
        let all = fractions.withLock { $0 }
        #expect(all == all.sorted())
        #expect(all[1] > 0.001)
        #expect(second.deferredProgress.fractionCompleted == 1)
    }

    @Test(
        "is counted when the closure before it is written down: a kill meanwhile does not count against that")
    func killedWhileCounted() throws {
        let store = MigrationStore.inMemory()
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" }, store: store)
        manager.whenMigratingToVersion("2.0") { [log = app.log] in log.add("2.0") }
        manager.afterMigratingToVersion("2.1", in: database, overRowsOf: "book") { _, _ in }
        database.writeWithoutTransaction { db in
            db.trace { [log = app.log] event in
                guard "\(event)".contains("count(") else { return }
                // What a kill would leave.
                let isRunning = try? store.record(of: "Library")?.hasRunning(isDeferred: false)
                log.add(isRunning == false ? "counted" : "running")
            }
        }
        try manager.migrate()
        database.writeWithoutTransaction { $0.trace(nil) }
        #expect(app.log.lines == ["2.0", "counted"])
    }

    @Test("is finished by a launch while another process runs it, each row once")
    func finishedElsewhere() throws {
        try manager().migrate()
        let other = try app.open()
        var report: MigrationReport?
        let first = try manager(afterBatch: {
            guard report == nil else { return }
            report = try? self.manager("3.0", in: other).migrate()
        })
        let run = try first.runDeferred()
        #expect(report?.completed.versions == ["2.1", "3.0"])
        #expect(run.failures.isEmpty)
        #expect(run.pending.isEmpty)
        #expect(try integer("SELECT count(*) FROM done") == 1000)
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 1000)
        #expect(try integer("SELECT count(*) FROM book WHERE digest IS NULL") == 0)
    }

    @Test("is finished by a launch that waits for the batch in which another process is")
    func finishedInTheMiddleOfABatch() throws {
        try manager().migrate()
        let other = try app.open()
        let launched = Locked<Result<MigrationReport, any Error>?>(nil)
        let (group, hasBegun) = (DispatchGroup(), Locked(false))
        let first = try manager { [self] in
            let isFirst = hasBegun.withLock { hasBegun in
                defer { hasBegun = true }
                return !hasBegun
            }
            guard isFirst else { return }
            group.enter()
            Thread { [group] in
                let result = Result { try self.manager("3.0", in: other).migrate() }
                launched.withLock { $0 = result }
                group.leave()
            }.start()
        }
        let run = try first.runDeferred()
        group.wait()
        #expect(try launched.withLock { $0 }?.get().completed.last?.version == "3.0")
        // If it comes to another batch, that is the launch's.
        #expect(run.failures.allSatisfy { $0.code == .newerThanThisProcess }, "\(run.failures)")
        #expect(try integer("SELECT count(*) FROM done") == 1000)
        #expect(try integer("SELECT count(DISTINCT id) FROM done") == 1000)
    }
}
