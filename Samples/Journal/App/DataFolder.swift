import Foundation

/// The folder with one user's data.
struct DataFolder {
    let url: URL

    /// The store of all managers of the app.
    var record: URL { url.appendingPathComponent("migrations.json") }
    var settings: URL { url.appendingPathComponent("settings.json") }
    var entries: URL { url.appendingPathComponent("entries.sqlite") }
    var attachments: URL { url.appendingPathComponent("Attachments", isDirectory: true) }

    var exists: Bool { FileManager.default.fileExists(atPath: record.path) }

    func create() throws {
        try FileManager.default.createDirectory(at: attachments, withIntermediateDirectories: true)
    }
}

extension DataFolder {
    /// Creates an empty folder, and removes it after the body has run.
    static func temporary<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (DataFolder) async throws -> Result
    ) async throws -> Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("Journal-\(UUID().uuidString)", isDirectory: true)
        let folder = DataFolder(url: url)
        try folder.create()
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(folder)
    }
}
