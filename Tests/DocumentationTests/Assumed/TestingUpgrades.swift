// What the snippets of TestingUpgrades.md assume, beside Assumed.swift. Only compiled, and private to them.

private struct Release {
    let latestSchema: SchemaVersion
    static var all: [Release] { [] }
}
private func makeManager(in folder: URL) throws -> MigrationManager { manager }
private var copyOfFolder: URL { url }
private var migrator: DatabaseMigrator { DatabaseMigrator() }
