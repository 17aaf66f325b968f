import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Replacing a record", .timed)
struct ReplaceRecordTests {
    let folder: TemporaryFolder
    let url: URL
    let store: MigrationStore
    let log = Log()

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
        store = try MigrationStore.jsonFile(at: url)
    }

    func manager(
        _ name: String = "Library", oldestSupported: AppVersion? = nil
    ) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: name, currentVersion: "2.0", adopting: .newApp, store: store,
            options: MigrationOptions(oldestSupported: oldestSupported))
        manager.register(["1.0", "1.5", "2.0"], log: log)
        return manager
    }

    var setAside: [String] {
        get throws { try folder.fileNames.filter { $0.contains(".damaged-") } }
    }

    @Test(
        "a damaged or newer file is set aside unchanged, and the manager continues from the assumed version",
        arguments: [
            "", "{", "{\"format\": \"1.0\"}", "{\"format\": \"2.0\", \"managers\": []}",
            #"{"format": "1.0", "seen": {}, "managers": {"Library": {"floor": "x"}}}"#,
        ])
    func damaged(contents: String) throws {
        try Data(contents.utf8).write(to: url)
        let manager = try manager()
        #expect(throws: MigrationError.self) { try manager.migrate() }
        try manager.replaceRecord(assuming: "1.0")
        let report = try manager.migrate()
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["1.5", "2.0"])

        let name = try #require(try setAside.first)
        #expect(try setAside.count == 1)
        #expect(name.contains(#/^migrations\.json\.damaged-\d{8}T\d{6}Z-[0-9A-F]{8}$/#))
        #expect(try Data(contentsOf: folder.file(name)) == Data(contents.utf8))
    }

    @Test("the store's other managers continue from the same version")
    func otherManagers() throws {
        try launch("1.0", name: "Settings", store: store)
        try Data("{".utf8).write(to: url)
        try manager().replaceRecord(assuming: "1.0")
        let report = try manager("Settings").migrate()
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["1.5", "2.0"])
    }

    @Test("a version below the oldest that is supported is refused, and another one may be assumed then")
    func belowOldestSupported() throws {
        try Data("{".utf8).write(to: url)
        let manager = try manager(oldestSupported: "1.5")
        let error = try #require(throws: MigrationError.self) { try manager.replaceRecord(assuming: "1.0") }
        #expect(error.code == .tooOld)
        #expect(
            error.description == """
                Library: cannot assume 1.0, below 1.5, the oldest that can be migrated. Pass a later version. Older data \
                needs an app version that still migrates it.
                """)
        #expect(try setAside == [])
        try manager.replaceRecord(assuming: "1.5")
        #expect(try manager.migrate().completed.versions == ["2.0"])
        let again = try #require(throws: MigrationError.self) { try manager.replaceRecord(assuming: "1.0") }
        #expect(again.message == "Library: no record is damaged.")
    }

    @Test("data of before the first version is not too old")
    func beforeAllVersions() throws {
        try Data("{".utf8).write(to: url)
        let manager = try manager(oldestSupported: "1.5")
        try manager.replaceRecord(assuming: "0")
        #expect(try manager.migrate().completed.versions == ["1.0", "1.5", "2.0"])
    }

    /// A manager whose registrations show whether it takes the install for a fresh one.
    private func later(_ adopting: Adoption = .newApp) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Later", currentVersion: "2.0", adopting: adopting, store: store)
        manager.whenMigratingToVersion("1.0", onFreshInstall: .only) { [log] in log.lines.append("fresh") }
        manager.register(["2.0-1"], log: log)
        return manager
    }

    @Test("the other managers are not taken for fresh ones if the assumed version is the current one")
    func assumedCurrentVersion() throws {
        try Data("{".utf8).write(to: url)
        try manager().replaceRecord(assuming: "2.0")
        let report = try later().migrate()
        #expect(report.launch == .adoption(from: "2.0"))
        #expect(log.lines == ["2.0-1"])
    }

    @Test(
        "nor if the current version was adopted, or a newer one", arguments: ["2.0", "3.0"] as [AppVersion])
    func adoptedVersion(version: AppVersion) throws {
        let adopting = Adoption { version }
        let first = try MigrationManager(currentVersion: "2.0", adopting: adopting, store: store)
        let launch: Launch = version == "2.0" ? .adoption(from: "2.0") : .downgrade(from: "3.0")
        #expect(try first.migrate().launch == launch)
        #expect(try later(adopting).migrate().launch == launch)
        #expect(log.lines == (version == "2.0" ? ["2.0-1"] : []))
    }

    @Test("a folder in place of the file is set aside")
    func folderInPlace() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        try Data("kept".utf8).write(to: url.appendingPathComponent("file"))
        let manager = try manager()
        #expect(throws: MigrationError.self) { try manager.migrate() }
        try manager.replaceRecord(assuming: "1.5")
        #expect(try manager.migrate().completed.versions == ["2.0"])
        let aside = folder.file(try #require(try setAside.first))
        #expect(try Data(contentsOf: aside.appendingPathComponent("file")) == Data("kept".utf8))
    }

    @Test("a readable record is not replaced")
    func readable() throws {
        try launch("1.0", name: "Library", store: store)
        try launch("1.0", name: "Settings", store: store)
        try manager("Library").migrate()
        try manager("Settings").migrate()
        let settings = try store.record(of: "Settings")
        log.lines = []

        let manager = try manager()
        #expect(try manager.migrate().launch == .relaunch)
        let error = try #require(throws: MigrationError.self) { try manager.replaceRecord(assuming: "1.5") }
        #expect(error.code == .misuse)
        #expect(try manager.migrate().launch == .relaunch)
        #expect(log.lines == [])
        #expect(try store.record(of: "Settings") == settings)
        #expect(try setAside == [])
    }

    @Test("the damaged record of a former manager is replaced by the one that would begin by it")
    func formerManager() throws {
        let contents = #"{"format": "1.0", "seen": {}, "managers": {"Library": {"floor": "x"}}}"#
        try Data(contents.utf8).write(to: url)
        let photos = try MigrationManager(
            name: "Photos", currentVersion: "2.0", adopting: .splitFrom("Library", before: "2.0"),
            store: store)
        photos.register(["1.5", "2.0"], log: log)
        let error = try #require(throws: MigrationError.self) { try photos.migrate() }
        #expect(error.code == .damagedStore)
        try photos.replaceRecord(assuming: "1.5")
        #expect(try photos.migrate().completed.versions == ["2.0"])
        #expect(try setAside.count == 1)
    }

    @Test(
        "a version above the current one is refused before anything is written",
        arguments: ["20", "2.1", "2.0.1-beta"] as [AppVersion])
    func aboveCurrent(version: AppVersion) throws {
        try Data("{".utf8).write(to: url)
        let error = try #require(throws: MigrationError.self) {
            try manager().replaceRecord(assuming: version)
        }
        #expect(error.code == .misuse)
        #expect(error.message == "Library: cannot assume \(version), above the current version 2.0.")
        #expect(try setAside == [])
        try manager().replaceRecord(assuming: "2.0-3")
        #expect(try manager().migrate().completed == [])
    }

    @Test("a pre-release has run the steps of its release, which do not run again")
    func preRelease() throws {
        try Data("{".utf8).write(to: url)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0-beta.1", adopting: .newApp, store: store)
        manager.register(["1.0", "2.0"], log: log)
        manager.whenVersionChanges { from, to in Issue.record("\(from) is no older version than \(to)") }
        try manager.replaceRecord(assuming: "2.0-beta.1")
        #expect(try manager.migrate().completed == [])
        #expect(log.lines == [])
    }

    @Test("a deferred closure for fresh installs is none of those that may have been waiting")
    func freshInstallsOnly() async throws {
        try Data("{".utf8).write(to: url)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.afterMigratingToVersion("1.0", onFreshInstall: .only) { [log] _ in log.lines.append("fresh") }
        manager.afterMigratingToVersion("1.5") { [log] _ in log.lines.append("1.5") }
        try manager.replaceRecord(assuming: "2.0")
        try await manager.migrate()
        try await manager.runDeferred()
        #expect(log.lines == ["1.5"])
    }

    @Test("two replacements in the same second set two files aside")
    func twice() throws {
        for text in ["{", "["] {
            try Data(text.utf8).write(to: url)
            try manager().replaceRecord(assuming: "1.0")
        }
        #expect(try setAside.count == 2)
    }
}
