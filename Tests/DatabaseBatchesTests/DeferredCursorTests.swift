import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A deferred step that goes by a cursor", .timed)
struct DeferredCursorTests {
    let app: App
    let database: DatabaseQueue

    init() throws {
        app = try App()
        database = try app.open()
        try database.write { try $0.execute(sql: "CREATE TABLE call(cursor TEXT)") }
    }

    /// A manager whose step makes calls, and notes the cursor of each in the database.
    private func manager<Cursor: Codable & Sendable>(
        startingAt start: Cursor, options: MigrationOptions = MigrationOptions(),
        _ next: @escaping @Sendable (Cursor) throws -> Cursor?
    ) throws -> MigrationManager {
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" }, options: options)
        manager.afterMigratingToVersion(
            "2.1", in: database, startingAt: start, fileID: "App/Migrations.swift", line: 7
        ) { db, cursor in
            try db.execute(sql: "INSERT INTO call VALUES (?)", arguments: ["\(cursor)"])
            return try next(cursor).map { .more($0) } ?? .done
        }
        return manager
    }

    private func calls() throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT cursor FROM call ORDER BY rowid") }
    }

    @Test("gets each cursor back as it was: doubles to the last bit, decimals to the last digit")
    func exact() throws {
        struct Place: Codable, Sendable, CustomStringConvertible {
            var number: Double
            var amount: Decimal
            var step: Int
            var description: String { "\(step) \(number.bitPattern) \(amount)" }
        }
        @Sendable func next(_ place: Place) -> Place? {
            guard place.step < 300 else { return nil }
            let bits = 0x3fe0_0000_0000_0000 | (UInt64(place.step + 1) &* 0x9e37_79b9_7f4a_7c15) >> 12
            return Place(
                number: Double(bitPattern: bits),
                amount: place.amount + Decimal(string: "0.0000000000000000000000007")!,
                step: place.step + 1)
        }
        let start = Place(number: 0.1, amount: 1, step: 0)
        var expected: [String] = []
        var place: Place? = start
        while let current = place {
            expected.append("\(current)")
            place = next(current)
        }
        try app.runInPieces { try manager(startingAt: start, next) }
        let made = try calls()
        #expect(made == expected)
    }

    @Test("fails at its first call if a cursor does not survive being encoded")
    func lossy() throws {
        struct Lossy: Codable, Sendable, Equatable, CustomStringConvertible {
            var kept = 0
            var lost = 0
            enum CodingKeys: CodingKey { case kept }
            var description: String { "\(kept)/\(lost)" }
            init() {}
            init(from decoder: any Decoder) throws {
                kept = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .kept)
            }
        }
        let manager = try manager(startingAt: Lossy()) { cursor in
            var next = cursor
            next.lost += 1
            return next
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.first?.description == """
                Library: deferred step 2.1 (Migrations.swift:7) failed in the batch: the cursor, of type Lossy, \
                changes when it is encoded and decoded. Use a cursor that survives encoding, such as an integer or a \
                string. That batch was rolled back; all others are kept. The next run retries it.
                """, "\(report.failures)")
        #expect(try calls() == [])
    }

    @Test("may hold a set, which comes back in another order")
    func unordered() throws {
        let manager = try manager(startingAt: Set(1...40)) { left in
            left.count == 1 ? nil : left.subtracting(left.prefix(1))
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(report.completed.versions == ["2.1"], "\(report.failures)")
        #expect(try calls().count == 40)
    }

    @Test("keeps the calls before one that fails, and continues there")
    func failingCall() throws {
        let fails = Locked(true)
        let manager = try manager(startingAt: 0) { number in
            if number == 5, fails.withLock({ $0 }) { throw Mishap() }
            return number < 20 ? number + 1 : nil
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.first?.message.contains("failed in the batch at 5: a mishap") == true, "\(report)"
        )
        #expect(try calls() == (0..<5).map { "\($0)" })
        fails.withLock { $0 = false }
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try calls() == (0...20).map { "\($0)" })
    }

    @Test("that is returned as it was is an error at once, unless the call has changed a row")
    func standstill() throws {
        let calls = Locked(0)
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion(
            "2.1", in: database, startingAt: ["page": 7], fileID: "App/Migrations.swift", line: 7
        ) { _, cursor in
            calls.withLock { $0 += 1 }
            return .more(cursor)
        }
        try manager.migrate()
        let report = try manager.runDeferred()
        #expect(
            report.failures.first?.description == """
                Library: deferred step 2.1 (Migrations.swift:7) failed in the batch: the closure changed no row, and returned \
                the cursor that it was given. Return .more with the next cursor, or .done. That batch was rolled back; all \
                others are kept. The next run retries it.
                """, "\(report.failures)")
        #expect(calls.withLock { $0 } == 1)
    }

    @Test("may stay as it is while each call changes rows")
    func drain() throws {
        try database.write { db in for _ in 1...20 { try db.execute(sql: "INSERT INTO call VALUES ('old')") }
        }
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion("2.1", in: database, startingAt: 0) { db, cursor in
            try db.execute(sql: "DELETE FROM call WHERE rowid IN (SELECT rowid FROM call LIMIT 3)")
            return db.changesCount > 0 ? .more(cursor) : .done
        }
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try calls() == [])
    }

    @Test("leaves the connection as it was, whether a call fails or not", arguments: [false, true])
    func settings(fails: Bool) throws {
        let manager = try app.manager("2.1", adopting: Adoption { "1.0" })
        manager.afterMigratingToVersion("2.1", in: database, startingAt: 0) { db, cursor in
            try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
            if fails { throw Mishap() }
            return .done
        }
        try manager.migrate()
        #expect(try manager.runDeferred().failures.count == (fails ? 1 : 0))
        #expect(try database.integers("PRAGMA ignore_check_constraints") == [0])
    }

    @Test("whose type has changed can be started over by its version")
    func otherType() throws {
        try manager(startingAt: 0) { $0 < 20 ? $0 + 1 : nil }.migrate()
        let stopped = try manager(startingAt: 0) { number in
            if number == 8 { throw CancellationError() }
            return number + 1
        }
        try stopped.runDeferred()
        let changed = try manager(startingAt: "a") { $0 == "a" ? "b" : nil }
        try changed.migrate()
        let failure = try #require(try changed.runDeferred().failures.first)
        #expect(failure.code == .stepFailed)
        #expect(
            failure.message.contains(
                "an earlier version of the app has left it at a cursor of another type. Start the step over with rerun(_:)"
            ))
        try changed.rerun("2.1")
        try changed.migrate()
        #expect(try changed.runDeferred().completed.versions == ["2.1"])
        #expect(try calls().suffix(2) == ["a", "b"])
    }

    @Test(
        "is asked for the time after each call, so that slow ones do not share a transaction",
        .limitingBatches)
    func slowCalls() throws {
        let sizes = Locked<[Int]>([])
        let done = Locked(0)
        let manager = try manager(
            startingAt: 0,
            options: MigrationOptions(onEvent: { event in
                guard case .didRunBatch(_, let now, _) = event.kind else { return }
                let last = done.withLock { done in
                    defer { done = now }
                    return done
                }
                sizes.withLock { $0.append(now - last) }
            })
        ) { number in
            if number > 100 { Thread.sleep(forTimeInterval: 0.06) }
            return number < 110 ? number + 1 : nil
        }
        try manager.migrate()
        #expect(try manager.runDeferred().completed.versions == ["2.1"])
        #expect(try calls().count == 111)
        #expect(sizes.withLock { $0.suffix(8) } == [1, 1, 1, 1, 1, 1, 1, 1])
    }
}
