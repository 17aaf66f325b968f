public import Foundation

/// A folder that is removed with the test that made it.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let url: URL

    /// Creates an empty folder.
    ///
    /// - Parameter parent: the folder in which it is created.
    public init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent(
            "AppMigrations-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Creates an empty folder in memory, where there is such a place: for thousands of files that need no disk.
    public static func inMemory() throws -> TemporaryFolder {
        let memory = "/dev/shm"
        return try FileManager.default.isWritableFile(atPath: memory)
            ? TemporaryFolder(in: URL(fileURLWithPath: memory)) : TemporaryFolder()
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A file in the folder, which need not exist.
    public func file(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The names of all that is in the folder.
    public var fileNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// Everything in the folder, by name, byte for byte.
    public var contents: [String: Data] {
        get throws {
            let files = try fileNames.map { ($0, try Data(contentsOf: file($0))) }
            return Dictionary(uniqueKeysWithValues: files)
        }
    }

    /// The lines of a file; none when there is no such file.
    public func lines(_ name: String) -> [String] {
        let text = try? String(contentsOf: file(name), encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }
}

extension TemporaryFolder {
    /// The names of the files in this folder, and in those in it, whose bytes are not encrypted: SQLite's header, or a
    /// text that is somewhere in the database.
    public func filesInClearText(holding text: String) throws -> [String] {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.isRegularFileKey])
        return try (files?.allObjects as? [URL] ?? []).filter { file in
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
                return false
            }
            let bytes = try Data(contentsOf: file)
            return [text, "SQLite format 3", "CREATE TABLE"].contains {
                bytes.range(of: Data($0.utf8)) != nil
            }
        }.map(\.lastPathComponent).sorted()
    }
}
