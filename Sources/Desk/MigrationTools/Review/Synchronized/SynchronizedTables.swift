import Foundation
import SchemaMigrations

/// The tables that a sync engine mirrors.
///
/// A file says so of the tables that it creates or changes, by a comment: `-- tool: synced`. `code.rules` names them for all
/// files: `synced: entry, tag`. A baseline names those of the files that it replaces, each by a comment: `-- synced: entry`.
struct SynchronizedTables {
    /// The beginning of a line of a baseline that names a table.
    static let baselineHeader = "-- synced: "

    private(set) var names: Set<SQLName>

    init(_ names: Set<SQLName> = []) { self.names = names }

    mutating func add(_ tables: Set<SQLName>) { names.formUnion(tables) }

    /// Adds the tables that a file creates or changes, if it has the comment, and those that a baseline names.
    mutating func add(_ outline: ScriptOutline) {
        if outline.script.baseline != nil {
            names.formUnion(outline.script.comments.compactMap(\.tableOfBaseline))
        }
        guard outline.script.comments.contains(where: \.saysSynced) else { return }
        let tables = outline.statements
            .filter { statement in
                !["TEMP", "TEMPORARY"].contains { statement.tokens.opens(with: "CREATE", $0) }
            }
            .compactMap { $0.createdTable ?? $0.alteration?.table }
        // A table that is renamed away is none of a rebuild's.
        let renamed = outline.statements.compactMap(\.rename)
        names.formUnion(tables.filter { table in !renamed.contains { $0.from == table } })
        let created = Set(outline.statements.compactMap(\.createdTable))
        names.formUnion(renamed.filter { created.contains($0.from) }.map(\.to))
        names.formUnion(outline.rebuilds.map(\.table))
    }
}

extension SQLScript.Comment {
    /// The table that a comment of a baseline calls synchronized.
    fileprivate var tableOfBaseline: SQLName? {
        guard text.hasPrefix(SynchronizedTables.baselineHeader) else { return nil }
        return SQLName(
            text.dropFirst(SynchronizedTables.baselineHeader.count).trimmingCharacters(in: .whitespaces))
    }

    /// True for `-- tool: synced`.
    var saysSynced: Bool {
        guard text.hasPrefix("--") else { return false }
        return text.dropFirst(2).split(whereSeparator: \.isWhitespace) == ["tool:", "synced"]
    }
}
