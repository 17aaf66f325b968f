// Whoever registers GRDB's migrator with a manager needs both, and imports one.
// In the documentation, each symbol belongs to its own module.
#if !DOCUMENTATION
    @_exported import AppMigrations
    @_exported import SchemaMigrations
#endif
