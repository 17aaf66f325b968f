// What the snippets of ComingFromGRDB.md assume, beside Assumed.swift. Only compiled, and private to them.

private var migrator: DatabaseMigrator { fatalError("only compiled") }
private func exportDrafts() throws {}
