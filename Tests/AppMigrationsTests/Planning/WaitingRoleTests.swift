import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("A process that waits for the app", .timed)
struct WaitingRoleTests {
    let folder: TemporaryFolder
    let url: URL
    let options = MigrationOptions(role: .waitsForApp)
    let log = Log()

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    /// Launches the extension, which must change nothing.
    func refusal(_ version: String, steps: [AppVersion]) throws -> MigrationError {
        let before = try folder.contents
        let error = try #require(throws: MigrationError.self) {
            try launch(version, steps: steps, store: .jsonFile(at: url), log: log, options: options)
        }
        #expect(try folder.contents == before)
        #expect(log.lines == [])
        return error
    }

    static let notYetMigrated =
        "Library: the data is not yet at version 2.0. Leave the data alone until the app has been launched."

    @Test("gets an error before the app's first launch, and creates no file")
    func first() throws {
        let error = try refusal("2.0", steps: [])
        #expect(error.code == .notYetMigrated)
        #expect(error.description == Self.notYetMigrated)
        #expect(try folder.fileNames == [])
    }

    @Test("gets the same error in a folder that only the app creates")
    func missingFolder() throws {
        let url = folder.url.appendingPathComponent("Group/migrations.json")
        let store = try MigrationStore.jsonFile(at: url, movedFrom: [self.url])
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, options: options)
        }
        #expect(error.code == .notYetMigrated)
        #expect(error.description == Self.notYetMigrated)
        #expect(try folder.fileNames == [])
    }

    @Test("gets an error while a step is pending")
    func upgrade() throws {
        try launch("1.0", store: .jsonFile(at: url))
        let error = try refusal("2.0", steps: ["2.0"])
        #expect(error.code == .notYetMigrated)
        #expect(error.description == Self.notYetMigrated)
    }

    @Test("continues after an update without new steps, even before the app is launched")
    func plainUpdate() throws {
        try launch("1.0", steps: ["1.0"], store: .jsonFile(at: url))
        let before = try folder.contents
        let report = try launch("2.0", steps: ["1.0"], store: .jsonFile(at: url), log: log, options: options)
        #expect(report.launch == .upgrade(from: "1.0"))
        #expect(report.completed == [])
        #expect(try folder.contents == before)
    }

    @Test("continues after an update that only gives the manager another name")
    func renamed() throws {
        try launch("1.0", steps: ["1.0"], store: .jsonFile(at: url))
        let split = Adoption.splitFrom("Library", before: "2.0")
        func launched(_ steps: [AppVersion]) throws -> MigrationReport {
            try launch(
                "2.0", steps: steps, name: "Shelf", store: .jsonFile(at: url), log: log, adopting: split,
                options: options)
        }
        #expect(try launched(["1.0"]).completed == [])
        let error = try #require(throws: MigrationError.self) { try launched(["1.0", "2.0"]) }
        #expect(error.code == .notYetMigrated)
    }

    @Test("gets an error if a newer version of the app was launched")
    func newer() throws {
        try launch("1.0", store: .jsonFile(at: url))
        try launch("2.0", store: .jsonFile(at: url))
        let error = try refusal("1.5", steps: [])
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                Library: version 2.0 of the app has used this data; this process is at 1.5. Leave the data alone until \
                this process has been updated as well.
                """)
    }

    @Test("gets the report if the app has run every step, and writes nothing")
    func settled() throws {
        try launch("1.0", store: .jsonFile(at: url))
        try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url))
        let before = try folder.contents
        let report = try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url), log: log, options: options)
        #expect(report.launch == .relaunch)
        #expect(report.completed == [])
        #expect(try folder.contents == before)
        #expect(log.lines == [])
    }

    @Test("gets the same error from an asynchronous call")
    func asynchronous() async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: url),
            options: options)
        let error = try await #require(throws: MigrationError.self) { try await manager.migrate() }
        #expect(error.code == .notYetMigrated)
        #expect(try folder.fileNames == [])
    }

    @Test("cannot rerun or skip steps, nor remove or replace a record")
    func byHand() throws {
        try launch("1.0", store: .jsonFile(at: url))
        let before = try folder.contents
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: url),
            options: options)
        manager.register(["2.0"], log: log)
        for call: (MigrationManager) throws -> Void in [
            { try $0.rerunAllSteps() }, { try $0.removeRecord() }, { try $0.skip("2.0") },
            { try $0.replaceRecord(assuming: "1.0") },
        ] {
            let error = try #require(throws: MigrationError.self) { try call(manager) }
            #expect(error.code == .notYetMigrated)
            #expect(
                error.description == """
                    Library: this process waits for another one to migrate, and never writes. Do it in the process \
                    that migrates, or leave out the role .waitsForApp.
                    """)
        }
        #expect(try folder.contents == before)
    }
}
