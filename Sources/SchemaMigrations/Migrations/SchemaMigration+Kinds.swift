import GRDB

extension SchemaMigration {
    /// The name that messages use: the file's name if there is a file, or else the migration's name.
    package var title: String { (self as? any FileMigration)?.fileName ?? name }

    /// True if the migration can be rolled back.
    package var isReversible: Bool { (self as? any SQLSource)?.hasDown ?? (codeRollback != nil) }

    /// The Swift code that rolls the migration back; nil if there is none.
    var codeRollback: ((Database) throws -> Void)? {
        (self as? CodeMigration)?.down
    }
}
