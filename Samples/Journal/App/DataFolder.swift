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

extension DataFolder {
    /// Damages the database of the entries as a worn-out disk does: its first bytes are lost, and a page in its middle.
    func damageEntries() throws {
        var data = try Data(contentsOf: entries)
        let page = data.count / 3 / 4_096 * 4_096
        for lost in [0..<100, page..<page + 4_096] {
            data.replaceSubrange(lost, with: Data(count: lost.count))
        }
        try data.write(to: entries)
    }
}
