import AppMigrations
public import Foundation
public import GRDB
import MigrationDiagnostics
package import MigrationTools
public import SchemaMigrations
import TextOutput

/// The Swift file with the tables of earlier schema versions, whose types steps of migrations use.
///
/// The command `app-migrations types` writes it for a folder of files. For migrations in Swift, and for GRDB's
/// `DatabaseMigrator`, write and verify it in a test:
///
/// ```swift
/// let migrator = DatabaseMigrator()    // the app's
/// let oldSchemas = OldSchemas(at: URL(fileURLWithPath: "Sources/App/OldSchemas.swift"))
/// try oldSchemas.write(for: migrator, at: ["v1", "v2"])    // once, and after each new version
/// try oldSchemas.verify(for: migrator)                     // always
/// ```
public struct OldSchemas: Sendable {
    /// The file.
    public let url: URL

    private let name: String
    private let mapping: @Sendable () throws -> ColumnTypes
    private let configuration: Configuration

    /// Creates a value for a file, which need not exist.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - name: the name of the enumeration around all types.
    ///   - mapping: the types of columns that the app stores in its own way, such as `["entry.mood": "Mood"]`, as in
    ///     the file `code.rules`.
    ///   - configuration: how the app opens its database, with the functions and collations that migrations use.
    public init(
        at url: URL, name: String = "Schema", mapping: [String: String] = [:],
        configuration: Configuration = Configuration()
    ) {
        self.url = url
        self.name = name
        self.mapping = { try ColumnTypes(mapping) }
        self.configuration = configuration
    }

    /// Creates a value for the file that `code.rules` names.
    package init(at url: URL, mapping: ColumnTypes) {
        self.url = url
        name = "Schema"
        self.mapping = { mapping }
        configuration = Configuration()
    }

    /// Writes the file, unless it is up to date.
    ///
    /// - Parameters:
    ///   - migrator: the migrations, which run on an empty database in memory.
    ///   - versions: the versions that get types; nil for those that the file has, and the latest.
    /// - Throws: `MigrationError`.
    public func write(for migrator: SchemaMigrator, at versions: [SchemaVersion]? = nil) throws {
        let file = try SchemaTypesFile(url)
        let known = Set(migrator.migrations.map(\.version))
        let chosen =
            try versions.map { Set($0) }
            ?? file.versions { SchemaVersion($0) }.intersection(known).union(migrator.releasedVersions())
        try file.write(types(of: migrator, at: chosen).text)
    }

    /// Writes the file for GRDB's migrations, unless it is up to date.
    ///
    /// - Parameters:
    ///   - migrator: the migrations, which run on an empty database in memory.
    ///   - versions: the identifiers of the migrations after which the schema gets types; nil for those that the file
    ///     has, and the latest.
    /// - Throws: `MigrationError`.
    public func write(for migrator: DatabaseMigrator, at versions: [String]? = nil) throws {
        let file = try SchemaTypesFile(url)
        let known = migrator.migrations
        let chosen =
            versions.map { Set($0) } ?? file.versions { $0 }.intersection(known).union(known.suffix(1))
        try file.write(types(of: migrator, at: chosen).text)
    }

    /// Verifies that the file is what the migrations make.
    ///
    /// - Throws: `MigrationError`, if it is missing or differs.
    public func verify(for migrator: SchemaMigrator) throws {
        let file = try SchemaTypesFile(url)
        let versions = file.versions { SchemaVersion($0) }
        try check(versions.subtracting(migrator.migrations.map(\.version)).sorted().map(\.description))
        try compare(file, types(of: migrator, at: versions))
    }

    /// Verifies that the file is what GRDB's migrations make.
    ///
    /// - Throws: `MigrationError`, if it is missing or differs.
    public func verify(for migrator: DatabaseMigrator) throws {
        let file = try SchemaTypesFile(url)
        let versions = file.versions { $0 }
        try check(versions.subtracting(migrator.migrations).sorted())
        try compare(file, types(of: migrator, at: versions))
    }

    /// Makes sure that there are no versions without a migration, as after a merge.
    private func check(_ unknown: [String]) throws {
        guard !unknown.isEmpty else { return }
        throw MigrationError(
            .misuse, at: .file(url.lastPathComponent),
            "has types at \(unknown.asList), which no migration has any more",
            remedy: "Write it with OldSchemas.write(for:), which leaves them out, and commit it.")
    }

    private func types(of migrator: SchemaMigrator, at versions: Set<SchemaVersion>) throws -> SchemaTypes {
        try SchemaTypes(
            of: migrator, at: versions, name: name, mapping: mapping(), configuration: configuration)
    }

    private func types(of migrator: DatabaseMigrator, at versions: Set<String>) throws -> SchemaTypes {
        try SchemaTypes(
            of: migrator, at: versions, name: name, mapping: mapping(), configuration: configuration)
    }

    private func compare(_ file: SchemaTypesFile, _ made: SchemaTypes) throws {
        guard !file.hasBytes(of: made.text) else { return }
        throw MigrationError(
            .misuse, at: .file(url.lastPathComponent),
            file.text == nil ? "is missing" : "is not what the migrations make",
            remedy: "Write it with OldSchemas.write(for:), and commit it.")
    }

    /// Finds the rows of a copy that the types cannot read, at a version that has types.
    func unreadableRows(in copy: DatabaseQueue, at version: SchemaVersion) throws -> [UnreadableRows] {
        let mapping = try mapping()
        return try copy.read { db in
            try UnreadableRows.find(db, TypedSchema(db, version: "\(version)", mapping: mapping))
        }
    }

    /// The versions that have types, ascending.
    var versions: [SchemaVersion] {
        get throws { try SchemaTypesFile(url).versions { SchemaVersion($0) }.sorted() }
    }
}

extension SchemaTypesFile {
    /// The versions that the file has.
    fileprivate func versions<Version: Hashable>(_ read: (String) -> Version?) -> Set<Version> {
        Set((header?.versions ?? []).compactMap(read))
    }
}
