import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("The records of managers in a damaged database", .timed)
struct ManagerRecordsTests {
    private let app: SalvagedApp
    private var pages: DatabasePages { app.pages }
    private static let tables = ["app_migrations", "app_migrations_mirror"]

    init() throws { app = try SalvagedApp(.sqlite) }

    /// Returns the bytes of a table's first page.
    private func page(_ table: String) throws -> Data {
        let root = try pages.root(table)
        return Data(try pages.read()[pages.range(root)])
    }

    private func rows(_ table: String) throws -> [String] {
        try app.open { try $0.strings("SELECT part || ' ' || name || ' ' || value FROM \(table)") }
    }

    /// Expects a launch to go on where 2.0 was.
    private func expectNoStepAgain() throws {
        #expect(try app.launch("2.0").launch == .relaunch)
        #expect(try app.letters().filter { $0.contains("!!") } == [])
        #expect(try rows("app_migrations") == rows("app_migrations_mirror"))
    }

    @Test("are the later ones where a page is an older one, with or without the schema", arguments: tables)
    func olderPage(table: String) throws {
        for losesSchema in [false, true] {
            let app = try SalvagedApp(.sqlite)
            let test = ManagerRecordsTests(app)
            try app.begin()
            let before = try test.page(table)
            try app.launch("2.0")
            let root = try app.pages.root(table)
            try app.pages.change { $0.replaceSubrange(app.pages.range(root), with: before) }
            // An older page is no damage that shows.
            if losesSchema {
                try app.loseSchema()
            } else {
                try app.pages.erase(app.pages.child(0, of: app.pages.root("note")))
            }
            #expect(try !app.salvage().hasLostRecord)
            try test.expectNoStepAgain()
        }
    }

    private init(_ app: SalvagedApp) { self.app = app }

    @Test("are lost where all that is left of them is older than their history", arguments: tables)
    func olderThanHistory(table: String) throws {
        try app.begin()
        try app.launch("1.5", steps: ["1.5": "#"])
        let before = try page(table)
        try app.launch("2.0", steps: ["1.5": "#", "2.0": "!"])
        let root = try pages.root(table)
        for other in try Self.tables.map(pages.root) { try pages.erase(other) }
        try pages.change { $0.replaceSubrange(pages.range(root), with: before) }
        #expect(try app.salvage().hasLostRecord)
        try app.expectUnknown { try app.launch("2.0", steps: ["1.5": "#", "2.0": "!"]) }
    }

    @Test("are lost where a manager has no row that the history names, as on a page from before it began")
    func missingRow() throws {
        try app.begin()
        try app.launch("2.0")
        try app.open { queue in
            for table in Self.tables { try queue.execute("DELETE FROM \(table) WHERE part = 'managers'") }
        }
        try pages.erase(pages.child(0, of: pages.root("note")))
        #expect(try app.salvage().hasLostRecord)
    }

    @Test("are taken from the mirror where a bit has flipped", arguments: tables)
    func flippedBit(table: String) throws {
        try app.begin()
        try app.launch("2.0")
        let root = try pages.root(table)
        try pages.change { data in
            let place = data.range(of: Data(#"{"completed""#.utf8), in: pages.range(root))
            if let place { data[place.lowerBound] ^= 4 }
        }
        try pages.erase(pages.child(0, of: pages.root("note")))
        #expect(try !app.salvage().hasLostRecord)
        try expectNoStepAgain()
    }

    @Test("are not those on a deleted page", arguments: [false, true])
    func deletedPage(losesList: Bool) throws {
        try app.begin()
        try app.open { queue in
            try queue.execute(
                """
                PRAGMA secure_delete = OFF;
                CREATE TABLE first(x); CREATE TABLE old(part, name, value, PRIMARY KEY (part, name)) WITHOUT ROWID;
                INSERT INTO old SELECT * FROM app_migrations;
                """)
        }
        let old = try pages.root("old")
        try app.launch("2.0")
        // The page that is deleted first gets the list of the others.
        try app.open { try $0.execute("PRAGMA secure_delete = OFF; DROP TABLE first; DROP TABLE old") }
        let list = try pages.number(at: 32)
        #expect(list != old)
        let left = try pages.read()[pages.range(old)]
        #expect(left.range(of: Data(#""completed":"1.0""#.utf8)) != nil)
        let roots = try Self.tables.map(pages.root)
        for root in roots { try pages.erase(root) }
        if losesList { try pages.erase(list) }
        try app.loseSchema()
        #expect(try app.salvage().hasLostRecord)
        try app.expectUnknown { try app.launch("2.0") }
    }

    @Test("are not those that were set aside")
    func setAside() throws {
        try app.begin()
        try app.manage("1.0", "Settings", steps: [:]) { _ = try $0.migrate() }
        try app.open { try $0.execute("UPDATE app_migrations SET value = '{' WHERE name = 'Settings'") }
        try app.manage("1.0", "Settings", steps: [:]) { try $0.replaceRecord(assuming: "1.0") }
        try app.launch("2.0")
        #expect(try app.letters() == ["!: 2000"])
        #expect(try app.salvage(losing: .schemaAndBoth).hasLostRecord)
        try app.expectUnknown { try app.launch("2.0") }
    }

    @Test("are put together from the pages of both tables")
    func severalPages() throws {
        try app.begin()
        for number in 1...60 {
            try app.manage("1.0", "Manager \(number)", steps: [:]) { _ = try $0.migrate() }
        }
        let before = try rows("app_migrations")
        #expect(before.count == 64)
        let leaves = try Self.tables.map { table in
            let root = try pages.root(table)
            // In a table without row ids, an interior page is of another kind.
            let start = pages.range(root).lowerBound
            let data = try pages.read()
            #expect(data[start] == 2, "the page has children")
            let cell = start + Int(data[start + 12]) << 8 + Int(data[start + 13])
            return (first: try pages.number(at: cell), last: try pages.number(at: start + 8))
        }
        try pages.erase(leaves[0].first)
        try pages.erase(leaves[1].last)
        // It is unknown which rows both have lost.
        #expect(try app.salvage().hasLostRecord)
        let after = try rows("app_migrations")
        #expect(after.filter { !$0.hasPrefix("lost") }.sorted() == before.sorted())
    }

    @Test("are still lost when the database is salvaged again, and for managers that come later")
    func again() throws {
        try app.begin()
        try app.launch("2.0")
        try app.salvage(losing: .both)
        try app.manage("2.0") { try $0.replaceRecord(assuming: "2.0") }
        try app.launch("2.0")
        #expect(try !app.salvage(losing: .record).hasLostRecord)
        #expect(try rows("app_migrations").contains { $0.hasPrefix(#"lost records {"date":"#) })
        try expectNoStepAgain()
        let line = MigrationOptions(line: "Plugin")
        try app.expectUnknown {
            try app.manage("2.0", "Settings", options: line) { try $0.migrate() }
        }
    }

    @Test("are not lost where the schema shows that there are none")
    func none() throws {
        try app.open { try app.schema.migrate($0) }
        try app.insertNotes()
        try pages.erase(pages.child(0, of: pages.root("note")))
        #expect(try !app.salvage().hasLostRecord)
        #expect(try app.open { try $0.tables() } == ["note"])
    }

    @Test("may be lost where the schema is")
    func unknown() throws {
        try app.open { try app.schema.migrate($0) }
        try app.insertNotes()
        try app.loseSchema()
        #expect(try app.salvage().hasLostRecord)
        try app.expectUnknown { try app.launch("2.0") }
    }

    @Test("say so if their history is lost, as it cannot be made again")
    func lostHistory() throws {
        try app.begin()
        try app.launch("2.0")
        try pages.erase(pages.root("app_migrations_history"))
        let report = try app.salvage()
        #expect(!report.isComplete && !report.hasLostRecord && report.saved == report.found)
        #expect(report.tables.map(\.name) == ["note", "app_migrations_history"])
        try expectNoStepAgain()
    }

    @Test("come with their history, from wherever it is", arguments: [false, true])
    func history(losesSchema: Bool) throws {
        try app.begin()
        try app.launch("2.0")
        let before = try app.manage("2.0") { try $0.history() }
        #expect(before.map(\.version) == ["2.0"])
        if losesSchema { try app.loseSchema() } else { try pages.erase(pages.root("app_migrations")) }
        try app.salvage()
        #expect(try app.manage("2.0") { try $0.history() } == before)
    }
}
