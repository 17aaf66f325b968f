// What the snippets of WhereToLaunch.md assume, beside Assumed.swift. Only compiled, and private to them.

private func migrateLibrary() async throws -> MigrationReport { try await manager.migrate() }
private func startServer() throws {}
