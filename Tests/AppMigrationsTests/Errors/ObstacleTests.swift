import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("An obstacle", .timed)
struct ObstacleTests {
    /// A store whose reading or writing the system refuses.
    private struct RefusingStore: RecordStorage {
        let name = "records"
        let memory = InMemoryStore()
        var reading: (any Error)?
        var writing: POSIXErrorCode?

        func read(_ manager: String) throws -> StoreState {
            if let reading { throw reading }
            return memory.read(manager)
        }

        func update(
            _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
        ) throws {
            if let writing { throw POSIXError(writing) }
            try memory.update(manager, waitingUpTo: limit, change)
        }

        func lock(_ manager: String) -> StoreLock { memory.lock(manager) }
    }

    /// A refusal as it is on a device that has not been unlocked, whatever the system of the test.
    private struct LockedFile: SystemError {
        private let error = POSIXError(.EPERM)
        var reason: String { error.reason }
        var obstacle: Obstacle? { error.obstacle(isDeviceLockable: true) }
    }

    private let log = Log()
    private let remedyOfLockedDevice = """
        If the device is locked, wait until it has been unlocked, then retry. Never replace the record because of this \
        error.
        """

    @Test("A device that has not been unlocked is waited for, and nothing runs")
    func deviceLocked() throws {
        let store = RefusingStore(reading: LockedFile())
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: MigrationStore(store), log: log)
        }
        #expect(error.code == .deviceLocked)
        #expect(
            error.description
                == "records: cannot be read: Operation not permitted. \(remedyOfLockedDevice)")
        #expect(log.lines == [])
    }

    @Test("The record of a locked device is never replaced")
    func neverReplaced() throws {
        var store = RefusingStore()
        try launch("1.0", store: MigrationStore(store))
        store.reading = LockedFile()
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: MigrationStore(store))
        let error = try #require(throws: MigrationError.self) { try manager.replaceRecord(assuming: "1.5") }
        #expect(error.code == .deviceLocked)
        store.reading = nil
        #expect(try launch("2.0", store: MigrationStore(store)).launch == .upgrade(from: "1.0"))
    }

    @Test("A store without permission is unreadable, and not a locked device")
    func noPermission() throws {
        let store = RefusingStore(reading: POSIXError(.EACCES))
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", store: MigrationStore(store))
        }
        #expect(error.code == .unreadableStore)
        #expect(error.message == "records: cannot be read: Permission denied.")
    }

    #if os(Linux) || os(macOS)
        @Test("A file that a sandbox refuses is unreadable where no device is ever locked")
        func sandbox() throws {
            let store = RefusingStore(reading: POSIXError(.EPERM))
            let error = try #require(throws: MigrationError.self) {
                try launch("2.0", store: MigrationStore(store))
            }
            #expect(error.code == .unreadableStore)
            #expect(error.message == "records: cannot be read: Operation not permitted.")
        }
    #endif

    @Test("A full disk has a code of its own, and the run continues when there is room")
    func diskFull() throws {
        var store = RefusingStore()
        try launch("1.0", store: MigrationStore(store))
        for code in [POSIXErrorCode.ENOSPC, .EDQUOT] {
            store.writing = code
            let error = try #require(throws: MigrationError.self) {
                try launch("2.0", steps: ["2.0"], store: MigrationStore(store), log: log)
            }
            #expect(error.code == .diskFull)
            #expect(error.remedy == "The disk is full. Free some space, then retry.")
        }
        #expect(log.lines == [])
        store.writing = nil
        #expect(
            try launch("2.0", steps: ["2.0"], store: MigrationStore(store), log: log).completed.versions == [
                "2.0"
            ])
    }

    @Test("A step that runs out of space says so", arguments: [true, false])
    func stepWithoutSpace(throwsCocoaError: Bool) throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") {
            throw throwsCocoaError ? CocoaError(.fileWriteOutOfSpace) as any Error : POSIXError(.ENOSPC)
        }
        let error = try #require(throws: MigrationError.self) { try manager.migrate() }
        #expect(error.code == .diskFull)
        #expect(error.version == "2.0")
        #expect(error.message.hasPrefix("Library: step 2.0 ("))
        #expect(error.remedy == "The disk is full. Free some space, then retry.")
    }

    @Test("A step that is refused a file of a locked device waits for it")
    func stepOnLockedDevice() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("2.0") { throw LockedFile() }
        #expect(try #require(throws: MigrationError.self) { try manager.migrate() }.code == .deviceLocked)
    }

    @Test("is found behind an error of a database, and not behind one of a store")
    func behind() {
        func error(_ code: MigrationError.Code) -> MigrationError {
            MigrationError(code, "refused", remedy: "Retry.", underlyingError: POSIXError(.ENOSPC))
        }
        for code in [MigrationError.Code.databaseFailed, .stepFailed, .invalidMigration] {
            #expect(error(code).obstacle == .diskFull, "\(code)")
            #expect(!error(code).isOwnFailure, "\(code)")
        }
        for code in [MigrationError.Code.unreadableStore, .unwritable] {
            #expect(error(code).obstacle == nil, "\(code)")
        }
        let readOnly = MigrationError(
            .unwritable, "refused", remedy: "Retry.", underlyingError: POSIXError(.EROFS))
        #expect(readOnly.obstacle == .readOnly)
        #expect(error(.invalidMigration).ofManager("Library", in: "library.sqlite").code == .diskFull)
    }
}
