package import AppMigrations
import MigrationDiagnostics

extension MigrationStore {
    /// The record of one manager.
    package func record(of manager: String) throws -> MigrationRecord? {
        try MigrationError.locating(at: .store(name)) { try read(manager).record(of: manager) }
    }

    /// Changes the record of one manager.
    package func changeRecord(
        of manager: String, _ change: (inout MigrationRecord?) throws -> Void
    ) throws {
        try update(manager) { try $0.changeRecord(of: manager, change) }
    }
}
