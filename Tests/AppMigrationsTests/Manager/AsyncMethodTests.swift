import AppMigrations
import Testing

// That these classes compile in Swift 6 mode is half of the test.

/// A plain class, whose asynchronous methods stay on the actor of their caller.
private final class PlainLibrary {
    private(set) var done: [String] = []

    nonisolated(nonsending) func launch(_ store: MigrationStore) async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { _ in try await self.performMigration("1.1") }
        manager.whenMigratingToVersion("1.2") { context in
            try await self.performMigration(context.version.description)
        }
        manager.whenVersionChanges { from, to in try await self.performMigration("\(from) to \(to)") }
        try await manager.migrate()
    }

    private nonisolated(nonsending) func performMigration(_ name: String) async throws {
        await Task.yield()
        done.append("\(name), \(describe(#isolation))")
    }
}

/// A plain class whose asynchronous methods leave the actor of their caller, as Swift 6 has them by default.
private final class ConcurrentLibrary {
    private(set) var done: [String] = []

    func launch(_ store: MigrationStore) async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        for (version, migration) in [("1.1", performMigration1), ("1.2", performMigration2)] {
            manager.whenMigratingToVersion(try AppVersion(parsing: version), run: migration)
        }
        manager.whenVersionChanges(run: showNews)
        try await manager.migrate()
    }

    private func performMigration1(_ context: MigrationContext) async throws {
        done.append("1.1, \(describe(#isolation))")
    }
    private func performMigration2(_ context: MigrationContext) async throws {
        done.append("1.2, \(describe(#isolation))")
    }
    private func showNews(from: AppVersion, to: AppVersion) async throws { done.append("\(from) to \(to)") }
}

@MainActor
private final class MainLibrary {
    private(set) var done: [String] = []

    func launch(_ store: MigrationStore) async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { _ in try await self.performMigration("1.1") }
        manager.whenMigratingToVersion("1.2") { context in
            // Starts on the actor that called `migrate`, without a hop.
            MainActor.assertIsolated()
            try await self.performMigration(context.version.description)
        }
        manager.whenVersionChanges { from, to in try await self.performMigration("\(from) to \(to)") }
        try await manager.migrate()
    }

    private func performMigration(_ name: String) async throws {
        MainActor.assertIsolated()
        await Task.yield()
        done.append(name)
    }
}

private actor LibraryActor {
    private let library = PlainLibrary()
    private(set) var done: [String] = []

    /// Launches with asynchronous methods of its own.
    func launch(_ store: MigrationStore) async throws {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.0", adopting: .newApp, store: store)
        manager.whenMigratingToVersion("1.1") { _ in try await self.performMigration("1.1") }
        manager.whenVersionChanges { from, to in try await self.performMigration("\(from) to \(to)") }
        try await manager.migrate()
    }

    /// Launches a plain class that it holds.
    func launchPlain(_ store: MigrationStore) async throws -> [String] {
        try await library.launch(store)
        return library.done
    }

    private func performMigration(_ name: String) async throws {
        preconditionIsolated()
        await Task.yield()
        done.append(name)
    }
}

/// Returns where a function runs.
private func describe(_ actor: (any Actor)?) -> String {
    switch actor {
    case nil: "on no actor"
    case is MainActor: "on the main actor"
    default: "on an actor of the app's own"
    }
}

@Suite("Asynchronous methods as steps", .timed)
struct AsyncMethodTests {
    let store = MigrationStore.inMemory()

    init() throws {
        try launch("1.0", store: store)
    }

    @MainActor
    @Test("those of a plain class run on the main actor when it calls migrate")
    func plainOnMainActor() async throws {
        let library = PlainLibrary()
        try await library.launch(store)
        #expect(library.done == ["1.1", "1.2", "1.0 to 2.0"].map { "\($0), on the main actor" })
    }

    @Test("those of a plain class run on any actor that calls migrate")
    func plainOnActor() async throws {
        let done = try await LibraryActor().launchPlain(store)
        #expect(done == ["1.1", "1.2", "1.0 to 2.0"].map { "\($0), on an actor of the app's own" })
    }

    @Test("those of a plain class run on no actor when none calls migrate")
    func plainOnNone() async throws {
        let library = PlainLibrary()
        try await library.launch(store)
        #expect(library.done == ["1.1", "1.2", "1.0 to 2.0"].map { "\($0), on no actor" })
    }

    @Test("those of a plain class that leave their caller's actor are passed by name")
    func concurrent() async throws {
        let library = ConcurrentLibrary()
        try await library.launch(store)
        #expect(library.done == ["1.1, on no actor", "1.2, on no actor", "1.0 to 2.0"])
    }

    @Test("those of a class on the main actor run there")
    func mainActor() async throws {
        let library = MainLibrary()
        try await library.launch(store)
        #expect(await library.done == ["1.1", "1.2", "1.0 to 2.0"])
    }

    @Test("those of an actor run on it")
    func actor() async throws {
        let library = LibraryActor()
        try await library.launch(store)
        #expect(await library.done == ["1.1", "1.0 to 2.0"])
    }
}
