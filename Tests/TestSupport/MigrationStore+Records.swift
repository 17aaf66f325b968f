package import AppMigrations

extension MigrationStore {
    /// Changes the record of one manager.
    package func changeRecord(
        of manager: String, _ change: (inout MigrationRecord?) throws -> Void
    ) throws {
        try update(manager) { try $0.changeRecord(of: manager, change) }
    }
}
