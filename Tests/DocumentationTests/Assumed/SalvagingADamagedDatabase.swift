// What the snippets of SalvagingADamagedDatabase.md assume, beside Assumed.swift. Only compiled, and private to them.

private let file = DatabaseFile(path: url.path)
private let setAside = url
private var migrator: DatabaseMigrator { fatalError("only compiled") }
private func show(_ text: String) {}
private func offer(_ title: String, _ act: () throws -> Void) {}
