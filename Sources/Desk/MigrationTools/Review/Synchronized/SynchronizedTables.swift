import SchemaMigrations

/// The tables that a sync engine mirrors.
///
/// A file says so of the tables that it creates or changes, by a comment: `-- tool: synced`. `code.rules` names them for all
/// files: `synced: entry, tag`.
struct SynchronizedTables {
    private(set) var names: Set<SQLName>

    init(_ names: Set<SQLName> = []) { self.names = names }

    mutating func add(_ tables: Set<SQLName>) { names.formUnion(tables) }

    /// Adds the tables that a file creates or changes, if it has the comment.
    mutating func add(_ outline: ScriptOutline) {
        guard outline.script.comments.contains(where: \.saysSynced) else { return }
        let tables = outline.statements.filter { !$0.tokens.opens(with: "CREATE", "TEMP") }
            .compactMap { $0.createdTable ?? $0.alteration?.table }
        // A table that is renamed away is none of a rebuild's.
        let renamed = outline.statements.compactMap(\.rename)
        names.formUnion(tables.filter { table in !renamed.contains { $0.from == table } })
        names.formUnion(outline.rebuilds.map(\.table))
    }
}

extension SQLScript.Comment {
    /// True for `-- tool: synced`.
    var saysSynced: Bool {
        guard text.hasPrefix("--") else { return false }
        return text.dropFirst(2).split(whereSeparator: \.isWhitespace) == ["tool:", "synced"]
    }
}
