package import GRDB
package import SchemaMigrations

extension SchemaMigrator {
    /// Returns the objects in which a database differs from the schema that the migrations up to a version make.
    package func differences(of db: Database, from version: SchemaVersion) throws -> [String] {
        try check(version)
        return try db.configuration.withScratchDatabase { queue in
            try with(snapshot: nil).migrate(queue, upTo: version)
            return try queue.unsafeReentrantRead { try SchemaDrift(of: db, from: $0).sentences }
        }
    }
}
