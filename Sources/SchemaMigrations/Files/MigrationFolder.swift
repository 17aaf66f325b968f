import Foundation
import GRDB

/// Finds the migrations in a folder, by the names of its files.
///
/// Reads none of them.
enum MigrationFolder {
    static func files(in folder: URL) throws -> [SQLFile] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            let exists = FileManager.default.fileExists(atPath: folder.path)
            throw SchemaMigrationError(
                .noMigrations,
                exists
                    ? "The folder \(folder.path) cannot be read: \(error.localizedDescription)"
                    : "The folder \(folder.path) does not exist.",
                remedy:
                    "Pass the folder that holds the migrations; in an app, see that it is copied into the bundle.",
                file: folder.path, underlyingError: error)
        }
        return try files(named: names, in: folder)
    }

    private static func files(named names: [String], in folder: URL) throws -> [SQLFile] {
        var ups: [SQLFile] = []
        var downs: [String: URL] = [:]
        for name in names.sorted() {
            guard let parsed = try MigrationFileName(name) else { continue }
            let url = folder.appendingPathComponent(name)
            switch parsed.direction {
            case .up: ups.append(SQLFile(version: parsed.version, name: parsed.name, url: url, down: nil))
            case .down: downs[String(name.dropLast(".down.sql".count))] = url
            }
        }
        guard !ups.isEmpty else {
            throw SchemaMigrationError(
                .noMigrations, "The folder \(folder.path) holds no migration.",
                remedy: "Migrations are files named <version>_<name>.sql.", file: folder.path)
        }
        for index in ups.indices {
            ups[index].down = downs.removeValue(forKey: String(ups[index].fileName.dropLast(".sql".count)))
        }
        if let (stem, url) = downs.min(by: { $0.key < $1.key }) {
            throw SchemaMigrationError(
                .malformedFileName, "\(url.lastPathComponent): there is no \(stem).sql that it takes back.",
                remedy: "Give both the same name, or remove it.", file: url.lastPathComponent)
        }
        return ups
    }
}

/// A migration in a `.sql` file, which is read when it is needed.
struct SQLFile: SQLSource {
    let version: SchemaVersion
    let name: String
    let url: URL
    /// The file that takes it back.
    var down: URL?

    var fileName: String { url.lastPathComponent }
    var hasDown: Bool { down != nil }

    func script() throws -> SQLScript {
        try Self.script(url)
    }

    func downScript() throws -> SQLScript? {
        try down.map(Self.script)
    }

    func migrate(_ db: Database) throws {
        try script().run(db) {}
    }

    private static func script(_ url: URL) throws -> SQLScript {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw SchemaMigrationError(
                .unreadableFile, "\(url.lastPathComponent): cannot be read: \(error.localizedDescription)",
                remedy: "It was there when the folder was listed: make it readable.",
                file: url.lastPathComponent, underlyingError: error)
        }
        return try SQLScript(data, fileName: url.lastPathComponent)
    }
}
