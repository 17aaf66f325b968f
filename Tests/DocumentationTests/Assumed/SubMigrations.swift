// What the snippets of SubMigrations.md assume, beside Assumed.swift. Only compiled, and private to them.

private func rebuildThumbnails() throws {}
private func removeOrphans() throws {}
private let bundleVersion = "3.0"
