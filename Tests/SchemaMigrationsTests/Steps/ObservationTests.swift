import AppMigrations
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

/// What GRDB's observations see of a launch that migrates, as the article about them says.
@Suite("A ValueObservation", .timed)
struct ObservationTests {
    private let folder: TemporaryFolder
    private let dbQueue: DatabaseQueue

    init() throws {
        folder = try TemporaryFolder()
        dbQueue = try DatabaseQueue(path: folder.file("library.sqlite").path)
        try migrate(to: "1.0")
        try dbQueue.write { db in try db.execute(sql: "INSERT INTO book(title) VALUES ('Emma')") }
    }

    /// Launches a version: 1.1 adds a column, and fills it in a step; 1.2 renames the title.
    private func migrate(to version: AppVersion) throws {
        let files = [
            SQLMigration(version: 10, name: "create_book", sql: "CREATE TABLE book(title TEXT)"),
            SQLMigration(version: 11, name: "add_pages", sql: "ALTER TABLE book ADD COLUMN pages INTEGER"),
            SQLMigration(version: 12, name: "rename", sql: "ALTER TABLE book RENAME COLUMN title TO name"),
        ]
        let schema = try SchemaMigrator(migrations: files)
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp,
            store: .jsonFile(at: folder.file("records.json")),
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        manager.whenMigratingToVersion("1.0", migrate: schema, upTo: 10, in: dbQueue)
        manager.whenMigratingToVersion("1.1", migrate: schema, upTo: 11, in: dbQueue)
        manager.whenMigratingToVersion("1.1", in: dbQueue) { db in
            try db.execute(sql: "UPDATE book SET pages = 0")
        }
        manager.whenMigratingToVersion("1.2", migrate: schema, upTo: 12, in: dbQueue)
        try manager.migrate()
    }

    @Test("started before the launch fetches the data between two versions, too")
    func between() async throws {
        let notes = Notes()
        let observation = ValueObservation.tracking(Self.rows)
        let started = notes.start(observation, in: dbQueue)
        try await waitUntil("the first value") { notes.values.count == 1 }
        try migrate(to: "1.1")
        try await waitUntil("the value that the step has written") { notes.values.last == ["Emma, 0"] }
        #expect(notes.values == [["Emma"], ["Emma, NULL"], ["Emma, 0"]])
        started.cancel()
    }

    @Test("of a constant region that started before the launch misses changes of a column that it added")
    func constantRegion() async throws {
        let notes = Notes()
        let observation = ValueObservation.trackingConstantRegion(Self.rows)
        let started = notes.start(observation, in: dbQueue)
        try await waitUntil("the first value") { notes.values.count == 1 }
        try migrate(to: "1.1")
        try await dbQueue.write { db in try db.execute(sql: "UPDATE book SET pages = 474") }
        #expect(notes.changes == 1)  // the new column, neither the step nor the number of pages
        try await dbQueue.write { db in try db.execute(sql: "UPDATE book SET title = 'Persuasion'") }
        try await waitUntil("the new title") { notes.values.last == ["Persuasion, 474"] }
        #expect(notes.changes == 2)
        started.cancel()
    }

    @Test("ends with an error if the launch renames a column that it reads")
    func renamed() async throws {
        let notes = Notes()
        let observation = ValueObservation.tracking { db in
            try String.fetchAll(db, sql: "SELECT title FROM book")
        }
        let started = notes.start(observation, in: dbQueue)
        try await waitUntil("the first value") { notes.values.count == 1 }
        try migrate(to: "1.2")
        try await waitUntil("the error") { notes.error != nil }
        #expect("\(try #require(notes.error))".contains("no such column: title"))
        started.cancel()
    }

    @Test("of another connection sees nothing of the launch until it fetches again")
    func otherConnection() async throws {
        let notes = Notes()
        let other = try DatabaseQueue(path: folder.file("library.sqlite").path)
        let started = notes.start(ValueObservation.tracking(Self.rows), in: other)
        try await waitUntil("the first value") { notes.values.count == 1 }
        try migrate(to: "1.1")
        #expect(notes.changes == 0)
        #expect(try await other.read(Self.rows) == ["Emma, 0"])
        started.cancel()
    }

    @Test("started after the launch sees every change")
    func afterwards() async throws {
        try migrate(to: "1.1")
        let notes = Notes()
        let started = notes.start(ValueObservation.trackingConstantRegion(Self.rows), in: dbQueue)
        try await waitUntil("the first value") { notes.values == [["Emma, 0"]] }
        try await dbQueue.write { db in try db.execute(sql: "UPDATE book SET pages = 474") }
        try await waitUntil("the number of pages") { notes.values.last == ["Emma, 474"] }
        started.cancel()
    }

    /// The rows of the table, with all columns that there are.
    @Sendable private static func rows(_ db: Database) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT * FROM book").map { row in
            row.map { _, value in value.isNull ? "NULL" : "\(value.storage.value ?? "")" }.joined(
                separator: ", ")
        }
    }
}

/// What an observation has reported, as it arrived.
private final class Notes: @unchecked Sendable {
    private let queue = DispatchQueue(label: "Notes")
    // Only the queue touches them.
    private var noted: (values: [[String]], changes: Int, error: (any Error)?) = ([], 0, nil)

    var values: [[String]] { queue.sync { noted.values } }
    /// How many transactions have changed what is observed.
    var changes: Int { queue.sync { noted.changes } }
    var error: (any Error)? { queue.sync { noted.error } }

    func start(
        _ observation: ValueObservation<ValueReducers.Fetch<[String]>>, in dbQueue: DatabaseQueue
    ) -> AnyDatabaseCancellable {
        observation.handleEvents(databaseDidChange: { self.queue.sync { self.noted.changes += 1 } })
            .start(
                in: dbQueue, scheduling: .async(onQueue: queue), onError: { self.noted.error = $0 },
                onChange: { self.noted.values.append($0) })
    }
}
