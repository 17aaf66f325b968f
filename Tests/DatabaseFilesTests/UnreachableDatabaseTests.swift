import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport
import TestTraits
import Testing

@Suite("A database out of reach", .timed)
struct UnreachableDatabaseTests {
    let notes: NotesDatabase

    init() throws { notes = try NotesDatabase() }

    /// What an app does with a file.
    enum Call: CaseIterable {
        case open, openPool, openBySalvaging, check, salvage

        func run(_ notes: NotesDatabase) throws {
            let file = DatabaseFile(
                path: notes.path, ifDamaged: self == .openBySalvaging ? .salvage(into: notes.schema) : .refuse
            )
            switch self {
            case .open, .openBySalvaging: try file.openQueue().close()
            case .openPool: try file.openPool().close()
            case .check: try file.check()
            case .salvage: _ = try file.salvage(into: notes.schema)
            }
        }
    }

    private static let refused = """
        Make the file and its folder readable and writable. Nothing was lost: the database is where it was.
        """

    /// Makes the calls, which throw an error that is not about damage, and change nothing.
    private func expectRefusals(of calls: [Call] = Call.allCases, saying reason: String) throws {
        let before = try Data(contentsOf: notes.url)
        for call in calls {
            let error = try #require(throws: MigrationError.self, "\(call)") {
                try notes.folder.withoutRoot { try call.run(notes) }
            }
            #expect(error.code == .databaseFailed, "\(call)")
            #expect(error.advice == .retry, "\(call)")
            #expect(error.message.contains(reason), "\(call)")
            let remedy = error.remedy
            #expect(remedy.hasPrefix("Noth") || remedy == Self.refused, "\(call): \(remedy)")
        }
        chmod(notes.folder.url.path, 0o700)
        #expect(try notes.names() == ["app.sqlite"])
        chmod(notes.path, 0o600)
        #expect(try Data(contentsOf: notes.url) == before)
    }

    private func damage() throws { try notes.change { $0.replaceSubrange(0..<100, with: Data(count: 100)) } }

    @Test("is not damaged where its file must not be read", arguments: [false, true])
    func unreadable(isDamaged: Bool) throws {
        if isDamaged { try damage() }
        #expect(chmod(notes.path, 0) == 0)
        try expectRefusals(saying: "Permission denied")
    }

    @Test("is not damaged where its folder must not be read")
    func unreadableFolder() throws {
        #expect(chmod(notes.folder.url.path, 0) == 0)
        try expectRefusals(of: [.open, .openPool, .salvage], saying: "Permission denied")
    }

    @Test("is not salvaged where its folder must not be written")
    func readOnlyFolder() throws {
        try damage()
        #expect(chmod(notes.path, 0o400) == 0)
        #expect(chmod(notes.folder.url.path, 0o500) == 0)
        try expectRefusals(of: [.salvage, .openBySalvaging], saying: "Permission denied")
    }

    @Test("is not salvaged where its file must not be written")
    func readOnlyFile() throws {
        try damage()
        #expect(chmod(notes.path, 0o400) == 0)
        try expectRefusals(of: [.salvage, .openBySalvaging], saying: "Permission denied")
    }

    @Test(
        "is not damaged where the system does not let SQLite write it, but says that it can be written",
        arguments: [Call.open, .openBySalvaging, .check])
    func readOnlyByRule(_ call: Call) throws {
        #expect(chmod(notes.path, 0o444) == 0)
        try notes.folder.withoutRoot {
            // As with the rules of a sandbox: access(2) asks for the rights of the real user.
            if geteuid() == 0 { #expect(FileManager.default.isWritableFile(atPath: notes.path)) }
            try call.run(notes)
        }
        #expect(try notes.names() == ["app.sqlite"])
    }

    // Where a device is locked, the system refuses its files with the same error.
    @Test(
        "is not damaged where the system does not permit to open it", .needs(.immutableFiles),
        arguments: Call.allCases)
    func notPermitted(_ call: Call) throws {
        try damage()
        let before = try Data(contentsOf: notes.url)
        try ImmutableFile.with(notes.path) {
            let error = try #require(throws: MigrationError.self) { try call.run(notes) }
            // SQLite opens it for reading alone, and sees the damage.
            guard [.salvage, .openBySalvaging].contains(call) else { return }
            #expect(error.code == .databaseFailed)
            #expect(error.advice == .retry)
            #expect(error.message.contains("Operation not permitted"))
        }
        #expect(try notes.names() == ["app.sqlite"])
        #expect(try Data(contentsOf: notes.url) == before)
    }

    @Test("is not damaged while another connection has locked it")
    func locked() throws {
        let other = try DatabaseQueue(path: notes.path)
        try other.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN EXCLUSIVE; INSERT INTO folder VALUES (5, 'five')")
            defer { #expect(throws: Never.self) { try db.execute(sql: "ROLLBACK") } }
            let file = DatabaseFile(
                path: notes.path, ifDamaged: .salvage(into: notes.schema), configuration: Configuration(),
                waitingFor: .zero)
            let errors = try [{ try file.check() }, { _ = try file.salvage(into: notes.schema) }].map {
                call in
                try #require(throws: MigrationError.self) { try call() }
            }
            #expect(errors.map(\.code) == [.locked, .locked])
            #expect(errors.map(\.advice) == [.wait, .wait])
        }
        try other.close()
        #expect(try notes.names() == ["app.sqlite"])
    }

    @Test("is damaged by no error of SQLite but one")
    func codes() {
        // Every code that there is, and the extended ones of the first 40 kinds.
        let codes = (1...101).flatMap { code in (0...40).map { Int32(code | $0 << 8) } }
        let damaging = codes.filter { code in
            do {
                try MigrationError.mapErrors {
                    throw DatabaseError(resultCode: ResultCode(rawValue: code))
                }
                return false
            } catch {
                let error = error as? MigrationError
                #expect((error?.code == .damagedDatabase) == (error?.advice == .repair))
                return error?.code == .damagedDatabase
            }
        }
        #expect(Set(damaging.map { $0 & 0xff }) == [ResultCode.SQLITE_CORRUPT.rawValue])
        #expect(!damaging.contains(ResultCode.SQLITE_CORRUPT_VTAB.rawValue))
    }
}

/// A file that nobody may write, not even root.
private enum ImmutableFile {
    /// Runs a body while a file is immutable.
    static func with(_ path: String, _ body: () throws -> Void) throws {
        try #require(set(true, path))
        defer { _ = set(false, path) }
        try body()
    }

    static func set(_ isImmutable: Bool, _ path: String) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chattr")
        process.arguments = [isImmutable ? "+i" : "-i", path]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}

extension Requirement {
    fileprivate static let immutableFiles = Self("files that nobody may write", "run as root, on Linux.") {
        let path = NSTemporaryDirectory() + "immutable-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: path, contents: nil) else { return false }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return ImmutableFile.set(true, path) && ImmutableFile.set(false, path)
    }
}
