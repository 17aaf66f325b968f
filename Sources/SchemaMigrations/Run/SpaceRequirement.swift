import Foundation
import GRDB
import MigrationDiagnostics

/// A check of the free space before a run begins.
struct SpaceRequirement {
    private let space: SchemaOptions.Space

    init(_ space: SchemaOptions.Space) {
        self.space = space
    }

    /// Throws an error if the disk of a database has too little free space.
    func check(_ db: Database, waitingUpTo limit: Duration) throws {
        guard space != .unchecked else { return }
        let size = try waitWhileBusy(upTo: limit) {
            try Int64(db.pragma("main.page_count")) * Int64(db.pragma("main.page_size"))
        }
        guard let needed = space.bytes(forSize: size), needed > 0,
            let path = try String.fetchOne(
                db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'"),
            !path.isEmpty
        else { return }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // A system that does not tell must not keep the app from migrating.
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: folder)
        guard let free = (attributes?[.systemFreeSize] as? NSNumber)?.int64Value, free < needed else {
            return
        }
        throw SchemaMigrationError(
            .diskFull,
            "\(URL(fileURLWithPath: path).lastPathComponent) may need \(needed) bytes while it is migrated, and \(free) are free",
            remedy: "Free some space, then migrate again. Nothing was changed.")
    }
}
