import AppMigrations

// What the snippets of RecoveryScreens.md assume, beside Assumed.swift. Only compiled, and private to them.

private func show(_ error: MigrationError) {}
private func offer(_ title: String, _ act: () throws -> Void) {}
private func askForVersion() throws -> AppVersion { version }
private func closeAndSalvage() throws {}
