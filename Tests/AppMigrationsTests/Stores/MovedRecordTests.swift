import AppMigrations
import Foundation
import TestSupport
import TestTraits
import Testing

#if os(Linux)
    import Glibc
#endif

@Suite("A record that moves", .timed)
struct MovedRecordTests {
    let folder: TemporaryFolder
    let old: URL
    let new: URL

    init() throws {
        folder = try TemporaryFolder()
        for name in ["old", "new"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
        (old, new) = (folder.file("old/migrations.json"), folder.file("new/migrations.json"))
    }

    /// Launches the app, and returns the versions whose step has run.
    @discardableResult
    private func launch(_ version: AppVersion, _ store: MigrationStore) throws -> [AppVersion] {
        let manager = try MigrationManager(
            name: "Library", currentVersion: version, adopting: .newApp, store: store,
            options: MigrationOptions(ignoresStepsAboveCurrent: true))
        manager.whenMigratingToVersion("1.1") {}
        manager.whenMigratingToVersion("2.0") {}
        return try manager.migrate().completed.versions
    }

    private func names(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(name).path).sorted()
            .filter { !$0.hasSuffix(".lock") }
    }

    private func moved() throws -> MigrationStore { try MigrationStore.jsonFile(at: new, movedFrom: [old]) }

    @Test("comes along with its history, and the old one goes")
    func moves() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("1.1", MigrationStore.jsonFile(at: old))
        chmod(old.path, 0o600)
        let store = try moved()
        #expect(try launch("2.0", store) == ["2.0"])
        #expect(try store.history("Library").map(\.version) == ["1.1", "2.0"])
        #expect(try names("old") == [])
        #expect(DurableFile(at: new).permissions == 0o600)
        #expect(try launch("2.0", moved()) == [])
    }

    #if os(Linux)
        @Test("stays where it is if the old path is another name of the same file", .needs(.smallDisk))
        func sameFolder() throws {
            let disk = try SmallDisk(at: folder.path("new"))
            defer { disk.remove() }
            let other = try SmallDisk(at: folder.path("old"))
            defer { other.remove() }
            try #require(mount(folder.path("new"), folder.path("old"), nil, UInt(MS_BIND), nil) == 0)
            defer { umount2(folder.path("old"), Int32(MNT_DETACH)) }
            try launch("1.0", MigrationStore.jsonFile(at: old))
            #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
            #expect(try names("new") == ["migrations.json", "migrations.json.history"])
        }
    #endif

    @Test("is not mixed up with one that an older version of the app makes afterwards")
    func downgrade() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("2.0", moved())
        try launch("1.1", MigrationStore.jsonFile(at: old))
        #expect(try launch("2.0", moved()) == [])
        #expect(try names("old").contains("migrations.json"))
    }

    @Test(
        "that was moved is read, whatever stands at the old place",
        arguments: ["folder", "dead link", "garbage"])
    func anything(_ kind: String) throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        switch kind {
        case "folder": try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
        case "garbage": try Data("no record".utf8).write(to: old)
        default:
            try FileManager.default.createSymbolicLink(at: old, withDestinationURL: folder.file("none/x"))
        }
        #expect(try launch("2.0", moved()) == [])
        #expect(try names("old") == ["migrations.json"])
    }

    @Test("is removed at the old place by the next launch if a crash has kept it there")
    func leftover() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        let contents = try Data(contentsOf: old)
        _ = try moved()
        try contents.write(to: old)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        #expect(try names("old") == [])
    }

    @Test("gets its place from one that was never used")
    func unused() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try StoreState().json().write(to: new)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        #expect(try names("new").count { $0.hasPrefix("migrations.json.aside-") } == 1)
    }

    @Test("is an error where both were used, which names both; the app chooses")
    func twoRecords() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("2.0", MigrationStore.jsonFile(at: new))
        let error = try #require(throws: MigrationError.self) { try moved() }
        #expect(error.code == .twoPlaces)
        #expect(
            error.message == """
                migrations.json: the record is in two places: \(new.path) (managers: Library) and \(old.path) (managers: \
                Library).
                """)
        #expect(error.remedy.hasPrefix("Nothing was changed."))
        #expect(error.remedy.hasSuffix("the other one stays where it is, under another name."))
        try MigrationStore.keep(old, settingAside: new)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("to go on with is not set aside, by whatever name")
    func sameRecord() throws {
        try launch("1.0", MigrationStore.jsonFile(at: new))
        let link = folder.file("link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: new)
        for (kept, other) in [(new, new), (new, link), (link, new)] {
            let error = try #require(throws: MigrationError.self) {
                try MigrationStore.keep(kept, settingAside: other)
            }
            #expect(error.code == .misuse)
        }
        #expect(try launch("2.0", MigrationStore.jsonFile(at: new)) == ["1.1", "2.0"])
    }

    @Test("that is set aside keeps its history, and no other one gets it", arguments: [false, true])
    func historyAside(keepsOld: Bool) throws {
        let (kept, other) = keepsOld ? (old, new) : (new, old)
        // No step has run, so there is no history.
        try launch("2.0", MigrationStore.jsonFile(at: kept))
        try launch("1.0", MigrationStore.jsonFile(at: other))
        try launch("1.1", MigrationStore.jsonFile(at: other))
        try? FileManager.default.removeItem(at: kept.appendingPathExtension("history"))
        try MigrationStore.keep(kept, settingAside: other)
        #expect(try moved().history("Library").map(\.version) == [])
        let aside = try #require(
            try names(keepsOld ? "new" : "old").first { $0.contains(".aside-") && !$0.hasSuffix(".history") })
        let store = try MigrationStore.jsonFile(at: folder.file("\(keepsOld ? "new" : "old")/\(aside)"))
        #expect(try store.history("Library").map(\.version) == ["1.1"])
    }

    @Test("is an error where two old places have records of their own; the app chooses")
    func twoOldRecords() throws {
        let newer = folder.file("newer.json")
        // An update put the record elsewhere, and forgot where it was.
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("1.1", MigrationStore.jsonFile(at: newer))
        func moved() throws -> MigrationStore {
            try MigrationStore.jsonFile(at: new, movedFrom: [newer, old])
        }
        let error = try #require(throws: MigrationError.self) { try moved() }
        #expect(error.code == .twoPlaces)
        #expect(
            error.message.contains("\(newer.path) (managers: Library) and \(old.path) (managers: Library)"))
        try MigrationStore.keep(old, settingAside: newer)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        #expect(try names("old") == [])
    }

    @Test("moves on from its second place, whatever an older version has made at the first one since")
    func chain() throws {
        let newer = folder.file("newer.json")
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("2.0", MigrationStore.jsonFile(at: newer, movedFrom: [old]))
        try launch("1.0", MigrationStore.jsonFile(at: old))
        #expect(try launch("2.0", MigrationStore.jsonFile(at: new, movedFrom: [newer, old])) == [])
        #expect(try names("old").contains("migrations.json"))
    }

    @Test("moves, and not an unused one at a newer place")
    func unusedAtNewerPlace() throws {
        let newer = folder.file("newer.json")
        try StoreState().json().write(to: newer)
        try launch("1.0", MigrationStore.jsonFile(at: old))
        let store = try MigrationStore.jsonFile(at: new, movedFrom: [newer, old])
        #expect(try launch("2.0", store) == ["1.1", "2.0"])
    }

    @Test(
        "moves as it is if it is damaged, and says so where it is read",
        arguments: ["{ \"format\"", #"{ "format": "1.0", "managers": [], "seen": {} }"#])
    func damaged(text: String) throws {
        try Data(text.utf8).write(to: old)
        let store = try moved()
        let error = try #require(throws: MigrationError.self) { try launch("2.0", store) }
        #expect(error.code == .damagedStore)
        #expect(try names("old") == [])
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        try manager.replaceRecord(assuming: "1.0")
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("that cannot be read is an error that names its old place, and can be replaced there")
    func unreadable() throws {
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) { try moved() }
        #expect(error.code == .unreadableStore)
        #expect(error.message.hasSuffix("/old/migrations.json)."))
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: .jsonFile(at: old))
        try manager.replaceRecord(assuming: "1.0")
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("is an error that names the new place if nothing there can be read; the app chooses")
    func unreadableAtNewPlace() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) { try moved() }
        #expect(error.code == .unreadableStore)
        #expect(error.message.hasSuffix("/new/migrations.json)."))
        try MigrationStore.keep(old, settingAside: new)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("waits for a manager of an older version that is migrating")
    func locked() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        let lock = try MigrationStore.jsonFile(at: old).lock("Library")
        guard case .acquired(_, let release) = lock else {
            Issue.record("the lock is taken")
            return
        }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.05)
            release()
        }
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("is removed at its old place, also if another launch removes it first")
    func removedMeanwhile() throws {
        let file = DurableFile(at: old)
        try Data("record".utf8).write(to: old)
        try file.remove()
        try file.remove()
        #expect(try names("old") == [])
        try FileManager.default.removeItem(at: folder.file("old"))
        // A folder that is gone may be on a disk that is not there.
        #expect(throws: POSIXError.self) { try file.remove() }
    }

    @Test("gets a longer name in its folder, without waiting for its own lock")
    func longerName() throws {
        let short = folder.file("new/migrations")
        try launch("1.0", MigrationStore.jsonFile(at: short))
        #expect(try launch("2.0", MigrationStore.jsonFile(at: new, movedFrom: [short])) == ["1.1", "2.0"])
    }

    @Test(
        "is the app's if it is damaged after the move, and so is what replaces it, whatever stands at the old place",
        arguments: [("{", "["), ("\"1.0\"", "\"1.1\"")])
    func damagedAfterMove(text: String, damage: String) throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try launch("1.0", moved())
        // An older version of the app.
        try launch("1.1", MigrationStore.jsonFile(at: old))
        let stale = try Data(contentsOf: old)
        let record = try String(contentsOf: new, encoding: .utf8)
        let range = try #require(record.range(of: text))
        try Data(record.replacingCharacters(in: range, with: damage).utf8).write(to: new)

        let store = try moved()
        let error = try #require(throws: MigrationError.self) { try launch("2.0", store) }
        #expect(error.code == .damagedStore)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        try manager.replaceRecord(assuming: "1.0")
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        #expect(try Data(contentsOf: old) == stale)
    }

    @Test("has no rival in that of an older version if it was damaged before the move, and replaced")
    func damagedBeforeMove() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try Data("{ \"format\"".utf8).write(to: old)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: moved())
        #expect(throws: MigrationError.self) { try manager.migrate() }
        try manager.replaceRecord(assuming: "1.0")
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
        try launch("1.1", MigrationStore.jsonFile(at: old))
        let stale = try Data(contentsOf: old)
        #expect(try launch("2.0", moved()) == [])
        #expect(try Data(contentsOf: old) == stale)
    }

    @Test("that is damaged is moved on if a crash has left it at both places")
    func damagedLeftover() throws {
        for url in [old, new] { try Data("{ \"format\"".utf8).write(to: url) }
        let store = try moved()
        #expect(try #require(throws: MigrationError.self) { try launch("2.0", store) }.code == .damagedStore)
        #expect(try names("old") == [])
    }

    @Test("stays where it is until there is a folder for it")
    func missingFolder() throws {
        try launch("1.0", MigrationStore.jsonFile(at: old))
        try FileManager.default.removeItem(at: folder.file("new"))
        let error = try #require(throws: MigrationError.self) { try moved() }
        #expect(error.code == .misuse)
        #expect(
            error.message == "migrations.json: the folder \(folder.file("new").path) does not exist.")
        try FileManager.default.createDirectory(at: folder.file("new"), withIntermediateDirectories: false)
        #expect(try launch("2.0", moved()) == ["1.1", "2.0"])
    }

    @Test("is new where there is no old one, and no old folder")
    func freshInstall() throws {
        let store = try MigrationStore.jsonFile(
            at: new, movedFrom: [folder.file("none/migrations.json"), old])
        #expect(try launch("2.0", store) == [])
        #expect(
            try names("new")
                == ["migrations.json", "migrations.json.history"].filter { name in
                    FileManager.default.fileExists(atPath: folder.file("new/\(name)").path)
                })
    }
}
