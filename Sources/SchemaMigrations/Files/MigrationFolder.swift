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
            case .up: ups.append(SQLFile(version: parsed.version, name: parsed.name, url: url))
            case .down: downs[String(name.dropLast(".down.sql".count))] = url
            }
        }
        guard !ups.isEmpty else {
            throw SchemaMigrationError(
                .noMigrations, "The folder \(folder.path) holds no migration.",
                remedy: "Migrations are files named <version>_<name>.sql.", file: folder.path)
        }
        return ups
    }
}

/// A migration in a `.sql` file, which is read when it is needed.
struct SQLFile: SchemaMigration {
    let version: SchemaVersion
    let name: String
    let url: URL

    var fileName: String { url.lastPathComponent }

    func script() throws -> SQLScript {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw SchemaMigrationError(
                .unreadableFile, "\(fileName): cannot be read: \(error.localizedDescription)",
                remedy: "It was there when the folder was listed: make it readable.", file: fileName,
                underlyingError: error)
        }
        return try SQLScript(data, fileName: fileName)
    }

    func migrate(_ db: Database) throws {
        try script().run(db) {}
    }
}
