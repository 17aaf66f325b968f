// What the snippets of SQLiteDataAndCloudKit.md assume, beside Assumed.swift. Only compiled, and private to them.

private let path = ""
private var migrator: DatabaseMigrator { DatabaseMigrator() }
