// What the snippets of BackupsAndNewDevices.md assume, beside Assumed.swift. Only compiled, and private to them.

private struct NewerBackup: Error {}
private func ask(_ question: String) -> Bool { false }
private func open(_ url: URL) throws -> DatabaseQueue { dbQueue }
private func importNotes(from other: Database, into db: Database) throws {}
