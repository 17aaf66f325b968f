// Whoever registers GRDB's migrator with a manager needs both, and imports one.
@_exported import AppMigrations
@_exported import SchemaMigrations
