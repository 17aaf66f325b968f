import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("Adoption by an existing file", .timed)
struct FileAdoptionTests {
    let folder: TemporaryFolder
    let store: MigrationStore

    init() throws {
        folder = try TemporaryFolder()
        store = try MigrationStore.jsonFile(at: folder.file("migrations.json"))
    }

    func launch(_ file: URL) throws -> MigrationReport {
        try AppMigrationsTests.launch(
            "2.0", steps: ["1.0", "1.1", "2.0"], store: store,
            adopting: .fileExists(file, means: "1.0"))
    }

    @Test("an install that has the file is adopted at the version given for it")
    func exists() throws {
        try Data().write(to: folder.file("settings.plist"))
        let report = try launch(folder.file("settings.plist"))
        #expect(report.launch == .adoption(from: "1.0"))
        #expect(report.completed.versions == ["1.1", "2.0"])
        try FileManager.default.removeItem(at: folder.file("settings.plist"))
        #expect(
            try launch(folder.file("settings.plist")).launch == .relaunch, "the record counts from now on")
    }

    @Test("a folder counts as a file")
    func folderExists() throws {
        #expect(try launch(folder.url).launch == .adoption(from: "1.0"))
    }

    @Test("an install that has one file of a list is adopted, and without a list nothing runs")
    func list() throws {
        func launch(_ files: [URL]) throws -> MigrationReport {
            try AppMigrationsTests.launch(
                "2.0", steps: ["2.0"], store: store,
                adopting: .any(files.map { .fileExists($0, means: "1.0") }))
        }
        let error = try #require(throws: MigrationError.self) { try launch([]) }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                Adoption.any has no evidence to ask for. Nothing was run. Pass at least one kind, or .newApp if no one has \
                the app yet.
                """)
        #expect(try folder.fileNames == [])
        let files = [folder.file("absent"), folder.url]
        #expect(try launch(files).launch == .adoption(from: "1.0"))
    }

    @Test("an install without the file is fresh")
    func absent() throws {
        #expect(try launch(folder.file("settings.plist")).launch == .freshInstall)
    }

    @Test("an install in which a file has taken the place of its folder is fresh")
    func fileForFolder() throws {
        try Data().write(to: folder.file("settings"))
        #expect(try launch(folder.file("settings").appendingPathComponent("plist")).launch == .freshInstall)
    }

    @Test("if the file's existence is unknown, nothing runs and nothing is written")
    func undecided() throws {
        let file = folder.file("settings.plist")
        try FileManager.default.createSymbolicLink(
            at: file, withDestinationURL: folder.file("unmounted/plist"))
        let error = try #require(throws: MigrationError.self) { try launch(file) }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                Cannot tell whether \(file.path) exists: No such file or directory. Nothing was run. Make its folder \
                readable, and launch again.
                """)
        #expect(try folder.fileNames == ["settings.plist"])
    }
}

@Suite("Adoption from MFMigrationManager", .timed)
final class MFMigrationManagerAdoptionTests {
    let suiteName = "AppMigrations-\(UUID().uuidString)"
    let defaults: UserDefaults
    let store = MigrationStore.inMemory()
    let log = Log()

    init() throws {
        defaults = try #require(UserDefaults(suiteName: suiteName))
    }

    deinit { defaults.removePersistentDomain(forName: suiteName) }

    func launch(_ version: String, as name: String? = nil) throws -> MigrationReport {
        try AppMigrationsTests.launch(
            version, steps: ["1.0", "1.1", "1.1-1", "1.1-2", "2.0"].filter { $0 <= "2.0" }, store: store,
            log: log,
            adopting: .mfMigrationManager(name: name, defaults: defaults))
    }

    @Test("steps that it has run do not run again, and later ones run")
    func changingLibraries() throws {
        defaults.set("1.1-1", forKey: "MFMigrationManagerLastVersionKey")
        let report = try launch("2.0")
        #expect(report.launch == .adoption(from: "1.1-1"))
        #expect(report.completed.versions == ["1.1-2", "2.0"])
        #expect(try launch("2.0").completed == [])
        #expect(log.lines == ["1.1-2", "2.0"])
    }

    @Test(
        "an install in which it has run nothing yet counts from the version that it began with",
        arguments: [(nil, "1.1"), ("1.0", "1.1"), ("1.1-1", "1.1-1")] as [(String?, String)])
    func firstVersion(last: String?, from: String) throws {
        defaults.set("1.1", forKey: "MFMigrationManagerInitialVersionKey-Library")
        defaults.set(last, forKey: "MFMigrationManagerLastVersionKey-Library")
        let report = try launch("2.0", as: "Library")
        #expect(report.launch == .adoption(from: try AppVersion(parsing: from)))
        #expect(log.lines == ["1.1-1", "1.1-2", "2.0"].filter { $0 > from })
    }

    @Test("a first version that is none matters only where no migration has run")
    func malformedFirstVersion() throws {
        defaults.set("2.0b1", forKey: "MFMigrationManagerInitialVersionKey")
        #expect(try #require(throws: MigrationError.self) { try launch("2.0") }.code == .undecided)
        defaults.set("1.1", forKey: "MFMigrationManagerLastVersionKey")
        #expect(try launch("2.0").launch == .adoption(from: "1.1"))
    }

    @Test("a named manager reads the key with its name")
    func named() throws {
        defaults.set("1.0", forKey: "MFMigrationManagerLastVersionKey")
        defaults.set("2.0", forKey: "MFMigrationManagerLastVersionKey-Library")
        let report = try launch("2.0", as: "Library")
        #expect(report.launch == .adoption(from: "2.0"))
        #expect(log.lines == [])
    }

    @Test("an install without its key is fresh")
    func nothing() throws {
        defaults.set("1.0", forKey: "MFMigrationManagerLastVersionKey-Other")
        #expect(try launch("2.0", as: "Library").launch == .freshInstall)
    }

    @Test("a version newer than the app's is a downgrade")
    func newer() throws {
        defaults.set("3.0", forKey: "MFMigrationManagerLastVersionKey")
        #expect(try launch("2.0").launch == .downgrade(from: "3.0"))
        #expect(log.lines == [])
    }

    @Test("a value that is not a version is an error, and nothing runs")
    func garbage() throws {
        defaults.set("last", forKey: "MFMigrationManagerLastVersionKey-Library")
        let error = try #require(throws: MigrationError.self) { try launch("2.0", as: "Library") }
        #expect(error.code == .undecided)
        #expect(
            error.description == """
                The user default MFMigrationManagerLastVersionKey-Library holds last, which is not an app version. \
                Nothing was run. Fix the default, or pass an Adoption of your own.
                """)
        #expect(log.lines == [])
        #expect(try store.read("Library") == StoreState())
    }

    @Test("a value that is not a string is an error")
    func number() throws {
        defaults.set(2, forKey: "MFMigrationManagerLastVersionKey")
        #expect(try #require(throws: MigrationError.self) { try launch("2.0") }.code == .undecided)
    }
}
