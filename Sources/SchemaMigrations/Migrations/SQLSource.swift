/// A migration written in SQL, in a file or in the app's code.
package protocol SQLSource: FileMigration {
    /// Whether the migration has a down migration.
    var hasDown: Bool { get }
    /// Parses the statements that migrate, and reads them again at each call.
    func script() throws -> SQLScript
    /// Parses the statements that roll back, or returns nil if there is no down migration.
    func downScript() throws -> SQLScript?
}
