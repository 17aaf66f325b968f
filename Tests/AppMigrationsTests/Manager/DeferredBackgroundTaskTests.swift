import Foundation
import Testing

@testable import AppMigrations

@Suite("A background task for deferred steps", .timed)
@MainActor
struct DeferredBackgroundTaskTests {
    let store = MigrationStore.inMemory()

    init() throws { try launch("1.0", store: store) }

    typealias Body = @MainActor (MigrationContext) async throws -> Void

    private func manager(_ steps: [AppVersion: Body]) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Library", currentVersion: "2.1", adopting: .newApp, store: store)
        for (version, body) in steps.sorted(by: { $0.key < $1.key }) {
            manager.afterMigratingToVersion(version) { try await body($0) }
        }
        return manager
    }

    /// Ends a stream when nothing holds it any more.
    private final class Sentinel: Sendable {
        let endings: AsyncStream<BackgroundEnding>.Continuation

        init(_ endings: AsyncStream<BackgroundEnding>.Continuation) { self.endings = endings }
        deinit { endings.finish() }
    }

    /// Begins a run; the stream ends when its work has.
    private func begin(
        patience: DispatchTimeInterval = .never,
        _ makeManager: @escaping @MainActor () throws -> MigrationManager
    ) -> (expire: @Sendable () -> Void, endings: AsyncStream<BackgroundEnding>) {
        let (endings, continuation) = AsyncStream.makeStream(of: BackgroundEnding.self)
        let sentinel = Sentinel(continuation)
        let make: @MainActor () throws -> MigrationManager = {
            defer { withExtendedLifetime(sentinel) {} }
            return try makeManager()
        }
        let expire = BackgroundRun.begin(make, patience: patience) { continuation.yield($0) }
        return (expire, endings)
    }

    private func endings(
        _ makeManager: @escaping @MainActor () throws -> MigrationManager
    ) async -> [BackgroundEnding] {
        await all(begin(makeManager).endings)
    }

    private func all(_ stream: AsyncStream<BackgroundEnding>) async -> [BackgroundEnding] {
        var endings: [BackgroundEnding] = []
        for await ending in stream { endings.append(ending) }
        return endings
    }

    private static let success = BackgroundEnding(isSuccess: true, comesAgain: false)
    private static let failure = BackgroundEnding(isSuccess: false, comesAgain: false)
    private static let postponement = BackgroundEnding(isSuccess: false, comesAgain: true)
    private static let fails: Body = { _ in throw StepError(description: "no") }
    private static let waits: Body = { _ in throw MigrationPostponed(reason: "no network") }
    private static let succeeds: Body = { _ in }

    @Test("succeeds when every step is done")
    func success() async throws {
        #expect(await endings { try manager(["2.0": Self.succeeds]) } == [Self.success])
        #expect(await endings { try manager(["2.0": Self.fails]) } == [Self.success])
    }

    @Test("comes again only if a step waits that has not failed by itself")
    func comesAgain() async throws {
        #expect(await endings { try manager(["2.0": Self.fails]) } == [Self.failure])
        #expect(await endings { try manager(["2.0": Self.fails, "2.1": Self.fails]) } == [Self.failure])
        #expect(await endings { try manager(["2.0": Self.fails, "2.1": Self.waits]) } == [Self.postponement])
        #expect(
            await endings { try manager(["2.0": Self.succeeds, "2.1": Self.waits]) } == [Self.postponement])
        #expect(await endings { try manager(["2.0": Self.succeeds, "2.1": Self.fails]) } == [Self.failure])
    }

    @Test("completes if no manager can be made")
    func noManager() async throws {
        #expect(await endings { throw StepError(description: "no") } == [Self.failure])
        #expect(
            await endings {
                throw MigrationError(.deviceLocked, "the device is locked", remedy: "Unlock it.")
            }
                == [Self.postponement])
    }

    @Test("completes if the launch fails, and comes again if what stops it may pass")
    func failedLaunch() async throws {
        for (error, ending) in [
            (StepError(description: "no") as any Error, Self.failure),
            (MigrationPostponed(reason: "no network"), Self.postponement),
            (POSIXError(.ENOSPC), Self.postponement), (POSIXError(.EROFS), Self.failure),
        ] {
            let endings = await endings {
                let manager = try self.manager([:])
                manager.whenMigratingToVersion("2.0") { throw error }
                return manager
            }
            #expect(endings == [ending], "\(error)")
        }
    }

    @Test("ends the run when its time expires, and comes again")
    func expired() async throws {
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let run = begin {
            try manager([
                "2.0": { context in
                    continuation.finish()
                    while true {
                        await Task.yield()
                        try await context.checkpoint()
                    }
                }
            ])
        }
        for await _ in begun {}
        run.expire()
        #expect(await all(run.endings) == [Self.postponement])
    }

    @Test("completes once when a step does not stop although the time has expired")
    func stuck() async throws {
        let (steps, continuation) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
        let run = begin(patience: .nanoseconds(0)) {
            try manager([
                "2.0": { _ in
                    // Cancelling does not end this.
                    await withCheckedContinuation { continuation.yield($0) }
                }
            ])
        }
        var begun = steps.makeAsyncIterator()
        let step = await begun.next()
        run.expire()
        var endings = run.endings.makeAsyncIterator()
        #expect(await endings.next() == .expired)
        step?.resume()
        #expect(await endings.next() == nil)
    }
}
