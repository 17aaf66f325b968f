/// A migration written in SQL, in a file or in the app's code.
package protocol SQLSource: FileMigration {
    /// Whether there is a down migration.
    var hasDown: Bool { get }
    /// Parses the statements that migrate. Reads them again at each call.
    func script() throws -> SQLScript
    /// Parses the statements that roll back; nil when there is no down migration.
    func downScript() throws -> SQLScript?
}
