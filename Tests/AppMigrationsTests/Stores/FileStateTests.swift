import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("The cached state of a JSONStore", .timed)
struct FileStateTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    /// Waits until the last change is old enough that the next one will be noticed.
    private func waitUntilTrusted() async throws {
        try await waitUntil("the file can be told from a later one") { FileState(at: url.path) != nil }
    }

    private func settle(_ version: AppVersion, in store: MigrationStore) throws {
        try store.update("Library") { state in
            try state.changeRecord(of: "Library") { record in
                record = record ?? MigrationRecord(start: "1.0")
                record?.settle(WorkID(version))
            }
        }
    }

    @Test("is absent for a file that was changed just now")
    func justChanged() async throws {
        var state: FileState?
        var start: ContinuousClock.Instant
        // On a busy machine this may take so long that the change is no longer recent.
        repeat {
            start = .now
            try Data("a".utf8).write(to: url)
            state = FileState(at: url.path)
        } while ContinuousClock.now - start > .seconds(1)
        #expect(state == nil)
        try await waitUntilTrusted()
        let later = try #require(FileState(at: url.path))
        #expect(FileState(at: url.path) == later)
        #expect(FileState(at: folder.file("missing").path) == nil)
    }

    @Test("is read again after another store changed, damaged or removed the file")
    func changed() async throws {
        let store = try MigrationStore.jsonFile(at: url)
        let other = try MigrationStore.jsonFile(at: url)
        try settle("1.1", in: other)
        try await waitUntilTrusted()
        #expect(try store.record(of: "Library")?.settled == ["1.1"])
        #expect(try store.record(of: "Library")?.settled == ["1.1"])
        try settle("1.2", in: other)
        #expect(try store.record(of: "Library")?.settled == ["1.1", "1.2"])

        try await waitUntilTrusted()
        #expect(try store.record(of: "Library")?.settled == ["1.1", "1.2"])
        // Changes the file in place, without changing its length.
        let text = try String(contentsOf: url, encoding: .utf8).replacingOccurrences(of: "1.2", with: "1.3")
            .replacing("\"checksum\"", with: "\"formerly\"")
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
        #expect(try store.record(of: "Library")?.settled == ["1.1", "1.3"])

        try await waitUntilTrusted()
        #expect(try store.record(of: "Library") != nil)
        try Data().write(to: url)
        #expect(throws: MigrationError.self) { try store.read("Library") }
        try FileManager.default.removeItem(at: url)
        #expect(try store.record(of: "Library") == nil)
    }
}
