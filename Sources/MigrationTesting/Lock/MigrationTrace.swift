import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The statements that migrations run on one connection.
///
/// It leaves out what only reads, and the statements of triggers and of virtual tables, which SQLite reports as comments.
public final class MigrationTrace: Sendable {
    private struct State {
        var isOn = false
        var statements: [TracedStatement] = []
    }

    private let state = Locked(State())

    /// Records the statements of each connection that the configuration opens.
    func prepare(_ configuration: inout Configuration) {
        configuration.prepareDatabase { [state] db in
            db.trace { event in
                guard case .statement(let statement) = event else { return }
                state.withLock { state in
                    guard state.isOn else { return }
                    state.statements.append(
                        TracedStatement(sql: statement.sql, expanded: statement.expandedSQL))
                }
            }
        }
    }

    /// The statements of the migration that ran last, without those that only read.
    var changes: [TracedStatement] { state.withLock { $0.statements }.filter(\.isChange) }

    func clear() { state.withLock { $0 = State() } }

    func begin() { state.withLock { $0 = State(isOn: true) } }

    /// Ends a recording, and leaves out what came with the statement that records the migration.
    func end(before table: String) {
        state.withLock { state in
            state.isOn = false
            if let index = state.statements.lastIndex(where: { $0.sql.hasPrefix("INSERT INTO \(table)") }) {
                state.statements.removeSubrange(index...)
            }
            state.statements.removeAll { $0.sql.hasPrefix("CREATE TABLE IF NOT EXISTS \(table)") }
        }
    }

    /// Takes the statements of a file for those that it runs.
    func record(_ statements: [String]) {
        state.withLock { $0.statements = statements.map { TracedStatement(sql: $0, expanded: $0) } }
    }

    /// Returns a migration that does the same, and whose statements are recorded.
    func wrap(_ migration: any SchemaMigration) -> CodeMigration {
        CodeMigration(migration.version, migration.name, foreignKeys: migration.foreignKeys) { [self] db in
            begin()
            defer { state.withLock { $0.isOn = false } }
            try migration.migrate(db)
        }
    }
}

/// A statement that a migration has run.
struct TracedStatement: Sendable {
    /// The text, with parameters.
    let sql: String
    /// The text, with the arguments in the place of the parameters.
    let expanded: String

    /// True if the statement may change the schema or rows, by its first word.
    var isChange: Bool {
        guard let word = NormalSQL(sql).firstWord else { return false }
        return !Self.others.contains(word)
    }

    private static let others: Set<String> = [
        "SELECT", "PRAGMA", "EXPLAIN", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "VALUES",
    ]
}
