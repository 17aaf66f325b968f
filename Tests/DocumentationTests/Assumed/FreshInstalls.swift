// What the snippets of FreshInstalls.md assume, beside Assumed.swift. Only compiled, and private to them.

private func copySampleBooks(_ db: Database) throws {}
private func importArchive(_ db: Database) throws {}
private func removeArchive() throws {}
