package import AppMigrations

extension RecordStorage {
    /// Changes what is kept, and waits for other writers as long as it takes, however slow the disk is.
    package func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try update(manager, waitingUpTo: .seconds(600), change)
    }

    /// Changes the record of one manager.
    package func changeRecord(
        of manager: String, _ change: (inout MigrationRecord?) throws -> Void
    ) throws {
        try update(manager) { try $0.changeRecord(of: manager, change) }
    }

    package func history(_ manager: String) throws -> [SettledStep] { [] }

    package func setAside(replacingWith state: StoreState) throws {}
}

// What tests ask of a store, beside its managers.
extension MigrationStore {
    package func read(_ manager: String) throws -> StoreState { try storage.read(manager) }

    package func record(of manager: String) throws -> MigrationRecord? { try storage.record(of: manager) }

    package func changeRecord(
        of manager: String, _ change: (inout MigrationRecord?) throws -> Void
    ) throws { try storage.changeRecord(of: manager, change) }

    package func update(_ manager: String, _ change: (inout StoreState) throws -> Void) throws {
        try storage.update(manager, change)
    }

    package func lock(_ manager: String) throws -> StoreLock { try storage.lock(manager) }

    package func history(_ manager: String) throws -> [SettledStep] { try storage.history(manager) }
}
