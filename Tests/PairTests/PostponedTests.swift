import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import GRDBMigrations
import MigrationTesting
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("Work that postpones itself", .timed)
struct PostponedTests {
    private let gate = Gate()

    private func app(_ works: Set<NotesApp.Work> = [.step, .rows, .cursor]) -> NotesApp {
        NotesApp(works: works, before: { [gate] in try gate.pass() })
    }

    /// Expects a launch to end with a postponement, or its deferred steps.
    private func expectPostponed(
        _ device: SimulatedDevice, as version: AppVersion = "2.0",
        _ location: Testing.SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: MigrationError.self, sourceLocation: location) {
            try device.launch(as: version)
        }
        #expect(error?.code == .postponed, sourceLocation: location)
    }

    @Test(
        "is done once in a later launch, however often it has postponed itself",
        arguments: NotesApp.Work.allCases)
    func kinds(work: NotesApp.Work) throws {
        let app = app([work])
        let device = try app.device()
        try device.launch(as: "1.0")
        for _ in 1...5 {
            expectPostponed(device)
            #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
        }
        gate.open()
        try device.launch(as: "2.0")
        let letter = work == .step ? "d" : work == .rows ? "r" : "c"
        #expect(try app.texts(in: device.folder) == NotesApp.texts(letter))
    }

    @Test("may be a migration in Swift, or one of GRDB's", arguments: [false, true])
    func schemaSteps(byGRDB: Bool) throws {
        let device = try SimulatedDevice { [gate] folder, version in
            let queue = try DatabaseQueue(path: NotesApp.path(in: folder))
            defer { try? queue.close() }
            let manager = try MigrationManager(
                currentVersion: version, adopting: .newApp,
                store: .jsonFile(at: folder.appendingPathComponent("migrations.json")))
            let change: @Sendable (Database) throws -> Void = { db in
                try db.execute(sql: "UPDATE note SET text = text || 'm'")
                try gate.pass()
            }
            if byGRDB {
                var migrator = DatabaseMigrator()
                migrator.registerMigration("notes") { try $0.execute(sql: NotesApp.notes) }
                if version >= "2.0" { migrator.registerMigration("change", migrate: change) }
                manager.whenMigratingToVersion(migrate: migrator, in: queue)
            } else {
                let notes = SQLMigration(version: 1, name: "notes", sql: NotesApp.notes)
                let migrations: [any SchemaMigration] =
                    version >= "2.0" ? [notes, CodeMigration(2, "change", migrate: change)] : [notes]
                manager.whenMigratingToVersion(migrate: try SchemaMigrator(migrations: migrations), in: queue)
            }
            try manager.migrate()
        }
        try device.launch(as: "1.0")
        for _ in 1...5 {
            expectPostponed(device)
            #expect(try NotesApp().texts(in: device.folder) == NotesApp.texts(""))
        }
        gate.open()
        try device.launch(as: "2.0")
        #expect(try NotesApp().texts(in: device.folder) == NotesApp.texts("m"))
    }

    @Test("holds up the step that finishes it, and is done before")
    func finishing() throws {
        let app = app([.rows])
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        expectPostponed(device, as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
        gate.open()
        try device.launch(as: "3.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("r3"))
    }

    @Test("is still needed on a fresh install that it has kept from ending")
    func freshInstall() throws {
        let app = app()
        let device = try app.device()
        for _ in 1...4 { expectPostponed(device) }
        gate.open()
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test("does not change with what `adopting` answers in the next launch")
    func adopting() throws {
        let answers = Locked<[AppVersion?]>(["1.0", nil, "2.0"])
        var app = app()
        app.onFreshInstall = .skip
        app.adopting = { _ in Adoption { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } } }
        let device = try app.device()
        try app.open(in: device.folder) { queue in
            try app.files("1.0", in: device.folder).migrate(queue)
        }
        expectPostponed(device)
        expectPostponed(device)
        gate.open()
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test("is settled once it is skipped")
    func skip() throws {
        let app = app([.step, .rows])
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).skip("2.0") }
        expectPostponed(device)
        gate.open()
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("r"))
    }

    @Test("is still to be run again when it postpones itself then")
    func rerun() throws {
        let app = app([.cursor])
        let device = try app.device()
        gate.open()
        try device.launch(as: "1.0")
        try device.launch(as: "2.0")
        gate.close()
        try app.open(in: device.folder) { try app.manager("2.0", in: device.folder, $0).rerun("2.0-2") }
        expectPostponed(device)
        expectPostponed(device)
        gate.open()
        try device.launch(as: "2.0")
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("cc"))
    }

    @Test("runs after the record was damaged and replaced")
    func replaceRecord() throws {
        let app = app()
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        try Data("{".utf8).write(to: device.folder.appendingPathComponent("migrations.json"))
        #expect(throws: MigrationError.self) { try device.launch(as: "2.0") }
        try app.open(in: device.folder) {
            try app.manager("2.0", in: device.folder, $0).replaceRecord(assuming: "1.0")
        }
        expectPostponed(device)
        gate.open()
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test("neither counts as a death nor makes one forgotten")
    func dying() throws {
        let app = app([.step])
        let device = try app.device()
        try device.launch(as: "1.0")
        gate.open()
        try device.kill(during: "2.0")
        gate.close()
        for _ in 1...4 { expectPostponed(device) }
        gate.open()
        try device.kill(during: "2.0")
        try device.kill(during: "2.0")
        let error = #expect(throws: MigrationError.self) { try device.launch(as: "2.0") }
        #expect(error?.code == .gaveUp)
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
    }

    @Test("waits while an older app runs")
    func downgrade() throws {
        var app = app()
        app.ignoresStepsAboveCurrent = true
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        try device.downgrade(to: "1.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
        gate.open()
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"))
    }

    @Test("leaves a table as it was that it has redefined")
    func redefine() throws {
        var app = NotesApp(works: [])
        app.more = { [gate] manager, queue in
            guard manager.currentVersion >= "2.0" else { return }
            manager.whenMigratingToVersion("2.0", in: queue) { db in
                try db.redefine(table: "note", as: NotesApp.definition)
                try gate.pass()
            }
        }
        let device = try app.device()
        try device.launch(as: "1.0")
        func definition() throws -> [String] {
            try app.open(in: device.folder) {
                try $0.strings("SELECT sql FROM sqlite_schema WHERE name = 'note'")
            }
        }
        let before = try definition()
        expectPostponed(device)
        #expect(try definition() == before)
        gate.open()
        try device.launch(as: "2.0")
        #expect(try definition() == [NotesApp.definition])
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
    }

    @Test("is done once after the database was salvaged", arguments: NotesApp.Work.allCases)
    func salvaging(work: NotesApp.Work) throws {
        let app = app([work])
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        try app.salvage(in: device.folder, for: "2.0")
        expectPostponed(device)
        gate.open()
        try device.launch(as: "2.0")
        let letter = work == .step ? "d" : work == .rows ? "r" : "c"
        #expect(try app.texts(in: device.folder) == NotesApp.texts(letter))
    }

    @Test("moves to another manager with the step", arguments: NotesApp.Work.allCases)
    func split(work: NotesApp.Work) throws {
        let app = app([work])
        let device = try app.device()
        try device.launch(as: "1.0")
        expectPostponed(device)
        var later = app
        later.name = "Marks"
        later.adopting = { _ in .splitFrom("Notes", before: "3.0") }
        #expect(throws: MigrationError.self) { try later.launch(in: device.folder, as: "2.5") }
        #expect(try app.texts(in: device.folder) == NotesApp.texts(""))
        gate.open()
        try later.launch(in: device.folder, as: "2.5")
        let letter = work == .step ? "d" : work == .rows ? "r" : "c"
        #expect(try app.texts(in: device.folder) == NotesApp.texts(letter))
    }
}
