import AppMigrations
import MigrationTesting
import TestTraits
import Testing

@Suite("Each kind of work, over each kind of schema", .timed)
struct MomentsTests {
    /// Kills a launch of 2.0 at each moment, and returns how many there are.
    private func killAtEachMoment(_ app: NotesApp, installed version: AppVersion?) throws {
        // Each schema has other moments.
        let first = NotesApp.Schema.allCases.firstIndex(of: app.schema) ?? 0
        for moment in Array(1...500).sampled(oneIn: 5 * NotesApp.Schema.allCases.count, from: first) {
            let device = try app.device()
            if let version { try device.launch(as: version) }
            guard try device.kill(atMoment: moment, launching: "2.0") else {
                #expect(moment > 8)
                return
            }
            try device.launch(as: "2.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"), "moment \(moment)")
            try app.writeOldNote(in: device.folder)
            try device.launch(as: "2.0")
            #expect(
                try app.texts(in: device.folder) == NotesApp.texts("drc") + ["late dr"], "moment \(moment)")
            try device.launch(as: "3.0")
            #expect(
                try app.texts(in: device.folder) == NotesApp.texts("drc3") + ["late dr3"], "moment \(moment)")
        }
        Issue.record("the launch does not come to an end")
    }

    @Test("is done once in an upgrade that is killed at any moment", arguments: NotesApp.Schema.allCases)
    func upgrade(schema: NotesApp.Schema) throws {
        try killAtEachMoment(NotesApp(schema: schema), installed: "1.0")
    }

    @Test("is done once in a new install that is killed at any moment", arguments: NotesApp.Schema.allCases)
    func install(schema: NotesApp.Schema) throws {
        try killAtEachMoment(NotesApp(schema: schema), installed: nil)
    }

    @Test("is not needed in a new install unless it says so", arguments: NotesApp.Schema.allCases)
    func notNeeded(schema: NotesApp.Schema) throws {
        let app = NotesApp(schema: schema, onFreshInstall: .skip)
        let device = try app.device()
        try device.launch(as: "2.0")
        // The conditions say that the first two are needed: a new install has rows in the old form.
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("dr"))
    }

    @Test(
        "is finished by the release that needs it, however much of it was done",
        arguments: NotesApp.Schema.allCases)
    func finishing(schema: NotesApp.Schema) throws {
        for batches in [0, 1, 4] {
            let app = NotesApp(schema: schema)
            let device = try app.upgradedDevice(deferredBatches: batches)
            try device.launch(as: "3.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc3"), "after \(batches)")
        }
    }

    @Test("is done once although the app goes back to 1.0 for a while", arguments: NotesApp.Schema.allCases)
    func downgrade(schema: NotesApp.Schema) throws {
        for batches in [0, 1, 4] {
            let app = NotesApp(schema: schema, ignoresStepsAboveCurrent: true)
            let device = try app.upgradedDevice(deferredBatches: batches)
            try device.downgrade(to: "1.0")
            try app.writeOldNote(in: device.folder)
            try device.launch(as: "2.0")
            let texts = try app.texts(in: device.folder)
            #expect(texts == NotesApp.texts("drc") + ["late dr"], "after \(batches)")
        }
    }

    @Test("is done once where a damaged database is salvaged", arguments: NotesApp.Schema.allCases)
    func salvaging(schema: NotesApp.Schema) throws {
        for batches in [-1, 1, 4] {
            let app = NotesApp(schema: schema)
            let device = try app.device()
            try device.launch(as: "1.0")
            if batches >= 0 { try device.launch(as: "2.0", deferredBatches: batches) }
            try app.salvage(in: device.folder, for: "2.0")
            try device.launch(as: "2.0")
            #expect(try app.texts(in: device.folder) == NotesApp.texts("drc"), "after \(batches)")
            try app.writeOldNote(in: device.folder)
            try device.launch(as: "2.0")
            #expect(
                try app.texts(in: device.folder) == NotesApp.texts("drc") + ["late dr"], "after \(batches)")
        }
    }

    @Test(
        "is done once where a salvaged database was used by a newer app", arguments: NotesApp.Schema.allCases)
    func salvagingNewer(schema: NotesApp.Schema) throws {
        let app = NotesApp(schema: schema, ignoresStepsAboveCurrent: true)
        let device = try app.device()
        try device.launch(as: "1.0")
        try device.launch(as: "2.0", deferredBatches: 1)
        try app.salvage(in: device.folder, for: "2.0")
        try device.downgrade(to: "1.0")
        try app.writeOldNote(in: device.folder)
        try device.launch(as: "2.0")
        #expect(try app.texts(in: device.folder) == NotesApp.texts("drc") + ["late dr"])
    }
}
