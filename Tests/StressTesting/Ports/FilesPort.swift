import AppMigrations
import Foundation
import MigrationTesting

/// An app whose data are two opaque files, which go to another folder and, when a switch is turned, back.
struct FilesPort: Port {
    static let name = "files"
    static let releases = 2

    private let folder: URL
    private static let names = ["data.mdb", "lock.mdb"]
    init(in folder: URL) throws {
        self.folder = folder
        for name in ["documents", "group"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
    }

    /// True if the files belong into the group.
    private var isShared: Bool { !FileManager.default.fileExists(atPath: folder.file("private").path) }
    private var home: URL { folder.file(isShared ? "group" : "documents") }
    private var other: URL { folder.file(isShared ? "documents" : "group") }

    func use(release: Int) throws {
        for name in Self.names { try Data(name.utf8).write(to: folder.file("documents").file(name)) }
    }

    func launch(_ process: SimulatedProcess) throws -> Int {
        let manager = try MigrationManager(
            name: "Files", currentVersion: "2.0",
            adopting: .fileExists(folder.file("documents").file("data.mdb"), means: "1.0"),
            store: .jsonFile(at: folder.file("migrations.json")),
            options: MigrationOptions(maximumAttempts: 100))
        // The first file goes last: while it is there, there is something to move.
        let isElsewhere = { FileManager.default.fileExists(atPath: other.file(Self.names[0]).path) }
        manager.whenMigratingToVersion("2.0", again: isElsewhere) {
            for name in Self.names.reversed()
            where FileManager.default.fileExists(atPath: other.file(name).path) {
                try process.moment()
                try FileManager.default.moveItem(at: other.file(name), to: home.file(name))
                try process.moment()
            }
        }
        return try run(manager)
    }

    func problem(from release: Int?) throws -> String? {
        guard release != nil else { return nil }
        let texts = Self.names.map { try? String(contentsOf: home.file($0), encoding: .utf8) }
        return texts == Self.names && other.fileNames.isEmpty
            ? nil : "\(home.fileNames) and \(other.fileNames) are left"
    }

    func disturb() throws { try Data().write(to: folder.file("private")) }
}
