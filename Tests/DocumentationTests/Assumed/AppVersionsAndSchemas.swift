// What the snippets of AppVersionsAndSchemas.md assume, beside Assumed.swift. Only compiled, and private to them.

private func exportDrafts() throws {}
