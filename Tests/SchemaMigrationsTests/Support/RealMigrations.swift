import Foundation

/// Migrations that shipped in real applications.
///
/// They are no part of this repository: the tests that need them
/// are skipped where they are not found beside it.
enum RealMigrations {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "shared/real-migrations")

    static let areHere = FileManager.default.fileExists(atPath: folder.path)

    static let atuin = folder.appendingPathComponent("atuin-client")
    static let eventCache = folder.appendingPathComponent("matrix-sdk/event_cache_store")
    static let crypto = folder.appendingPathComponent("matrix-sdk/crypto_store")

    /// A folder's files, in order.
    static func files(in folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
    }
}
