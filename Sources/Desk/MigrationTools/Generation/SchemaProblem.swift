import GRDB
import SchemaMigrations
import TextOutput

/// A reason why objects cannot stand together in one schema, found by creating them without rows.
struct SchemaProblem {
    /// The part of the schema that does not fit the rest.
    enum Culprit: Hashable {
        /// An object that SQLite cannot create or compile.
        case object(DatabaseSchema.Key)
        /// A foreign key whose parent does not exist, or has no such unique columns.
        case foreignKey(child: SQLName, parent: SQLName)
    }

    let culprit: Culprit
    /// A clause that says what is wrong.
    let reason: String

    /// Returns the problems among objects.
    ///
    /// - Parameter configuration: how to open the database in which they are created.
    static func find(
        among objects: [SchemaObject], _ configuration: Configuration
    ) throws -> [SchemaProblem] {
        var configuration = configuration
        configuration.foreignKeysEnabled = false
        return try configuration.scratchDatabase().writeWithoutTransaction { db in
            var problems: [SchemaProblem] = []
            func run(_ sql: String, for object: SchemaObject) throws {
                do {
                    try db.execute(sql: sql)
                } catch let error as DatabaseError {
                    problems.append(
                        SchemaProblem(culprit: .object(object.key), reason: error.message ?? "\(error)"))
                }
            }
            for type in ["table", "index", "view", "trigger"] {
                for object in objects where object.type == type { try run(object.sql, for: object) }
            }
            for object in objects {
                guard let index = FullTextTable(object), index.content == .external else { continue }
                try run(index.rebuilding, for: object)
            }
            problems += try BrokenObject.fetchAll(db).map { broken in
                let key = objects.first { $0.name == broken.identity.name && $0.isVirtual }?.key
                return SchemaProblem(
                    culprit: .object(key ?? .init(type: broken.identity.type, name: broken.identity.name)),
                    reason: broken.reason)
            }
            for key in try SchemaMigrations.ForeignKey.fetchAll(db) where try !key.isComplete(in: db) {
                problems.append(
                    SchemaProblem(
                        culprit: .foreignKey(child: key.child, parent: key.parent),
                        reason:
                            "table \(key.parent.text.quoted) lacks the unique columns that it refers to"))
            }
            return problems
        }
    }
}
