import GRDB
package import SchemaMigrations

/// A file of a generated migration.
package struct GeneratedFile: Sendable {
    /// The end of the file's name, after that of the migration.
    package let suffix: String
    /// True if the file holds definitions of tables, which need a file of their own.
    package let redefines: Bool
    /// The statements, below the header.
    package let body: String
    private let downBody: String
    private let downRedefines: Bool

    /// The whole text that runs.
    package var sql: String { Self.header(redefines) + body }

    /// The whole text of the down migration.
    package var downSQL: String { Self.header(downRedefines) + downBody }

    private static func header(_ redefines: Bool) -> String { redefines ? "-- migrations: redefine\n\n" : "" }

    /// The down migration of a file that does nothing but put values in the place of NULL, which none can take back.
    static let downOfFills = "-- The values stay. A file needs a statement.\nSELECT 1;\n"

    /// Creates a file of statements.
    init(_ body: String, down: String) {
        (suffix, self.body, redefines) = ("", body, false)
        (downBody, downRedefines) = (down, false)
    }

    /// Creates a file that redefines tables.
    ///
    /// - Parameters:
    ///   - before: the schema before it.
    ///   - suffix: the end of the file's name.
    init(
        _ redefinitions: [TableRedefinition], from before: SchemaDescription, to after: SchemaDescription,
        suffix: String
    ) throws {
        self.suffix = suffix
        redefines = true
        body = Self.text(redefinitions)
        let back = try GeneratedMigration(from: after, to: before, losses: .accept)
        let returns = TableRedefinition.find(in: back, from: after)
        // Rows that have a default in the place of NULL keep it.
        downRedefines = returns.count == redefinitions.count && returns.allSatisfy(\.fills.isEmpty)
        downBody = downRedefines ? Self.text(returns) : GeneratedSQL(back.changes).text
    }

    private static func text(_ redefinitions: [TableRedefinition]) -> String {
        GeneratedSQL(
            redefinitions.map { .redefine($0.object, reasons: $0.reasons, isFilled: !$0.fills.isEmpty) }
        ).text
    }

    private init(_ file: GeneratedFile, body: String) {
        (suffix, redefines, self.body) = (file.suffix, file.redefines, body)
        (downBody, downRedefines) = (file.downBody, file.downRedefines)
    }

    /// Returns the file with comments that allow what the wanted schema asks for.
    ///
    /// - Parameters:
    ///   - migrator: the migrations before; nil if there are none.
    ///   - configuration: how to open databases.
    func allowingLosses(
        askedForBy name: String, after migrator: SchemaMigrator?, _ configuration: Configuration
    ) -> GeneratedFile {
        // If the migration does not run, its check says so.
        guard !body.isEmpty, let losses = try? AllowedLosses(sql, after: migrator, configuration)
        else { return self }
        let allowed = losses.allow(in: sql, askedForBy: name)
        return GeneratedFile(self, body: String(allowed.dropFirst(Self.header(redefines).count)))
    }
}

extension [GeneratedFile] {
    /// Returns the migrations that the files are.
    package func migrations(from version: SchemaVersion) -> [SQLMigration] {
        enumerated().map { index, file in
            SQLMigration(
                version: version + Int64(index), name: "generated\(file.suffix)",
                sql: file.sql, down: file.downSQL)
        }
    }
}
