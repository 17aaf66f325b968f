// What the snippets of AppWithAccounts.md assume, beside Assumed.swift. Only compiled, and private to them.

private let oldAccountsFile = url
private func folder(of account: String) -> URL { url }
private func openAccount(_ name: String) throws -> DatabaseQueue { dbQueue }
