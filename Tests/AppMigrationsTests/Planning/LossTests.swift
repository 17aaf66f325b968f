import Foundation
import Testing

@testable import AppMigrations

@Suite("Where a manager goes on after its record was lost", .timed)
struct LossTests {
    private static let place = StorePlace(store: InMemoryStore())

    private func step(
        _ version: AppVersion, _ kind: MigrationStep.Kind = .transaction
    ) -> MigrationStep {
        MigrationStep(
            version: version, place: Self.place.id, kind: kind, onFreshInstall: .skip, finishing: [],
            number: 0, source: nil)
    }

    private func record(completed: AppVersion?, highest: AppVersion? = nil) -> MigrationRecord {
        var record = MigrationRecord(start: "1.0")
        (record.completed, record.highest) = (completed, highest ?? completed)
        return record
    }

    /// Returns a place that has lost its record.
    private func lost(
        history: [AppVersion] = [], seen: [SeenVersion] = [], assuming version: AppVersion? = nil
    ) -> PlaceState {
        let settled = history.map {
            SettledStep(
                MigrationWork(WorkID($0), of: "B", in: .store, database: nil), outcome: .ran,
                date: .distantPast, appVersion: $0)
        }
        return PlaceState(
            record: nil, lostRecord: LostRecord(history: settled), seen: ["app": seen],
            assumptions: version.map { ["app": $0] } ?? [:], evidence: .ledgerOnly)
    }

    private func state(
        _ record: MigrationRecord?, isRemoved: Bool = false, seen: [AppVersion] = []
    ) -> PlaceState {
        PlaceState(
            record: record, hasRemovedRecord: isRemoved,
            seen: ["app": seen.map { SeenVersion(version: $0, build: "7", first: .distantPast) }],
            evidence: .empty)
    }

    private func beginnings(_ places: [PlaceState], _ steps: [MigrationStep]) -> Beginnings {
        Beginnings(
            request: LaunchRequest(
                manager: "B", current: "2.0", build: "2.0 (7)", appBuild: "7", line: "app",
                oldestSupported: nil, maximumAttempts: 3, retrying: nil, stop: nil, hasVersionChanges: false,
                date: .distantPast),
            places: places, steps: places.map { _ in steps }, answer: AdoptionAnswer(version: "1.0"))
    }

    private func database(
        _ place: PlaceState, beside store: PlaceState, _ steps: MigrationStep..., launch: Launch = .relaunch
    ) -> Beginning {
        beginnings([store, place], steps).inDatabase(1, launch, store.record, isMadeAnew: false)
    }

    @Test("is at the version that its store has completed, whatever was seen or is answered")
    func completed() {
        let store = state(record(completed: "1.5"))
        let seen = [SeenVersion(version: "2.0", build: "6", first: .distantPast)]
        #expect(database(lost(), beside: store, step("1.5"), step("2.0")) == .at("1.5", .lost))
        #expect(database(lost(seen: seen), beside: store, step("1.5")) == .at("1.5", .lost))
        #expect(database(lost(assuming: "1.2"), beside: store, step("1.5")) == .at("1.5", .lost))
    }

    @Test("is unknown where a step may have run or not, unless the history has it")
    func unknown() {
        func begins(
            _ step: MigrationStep, history: [AppVersion] = [], highest: AppVersion? = nil,
            assuming: AppVersion? = nil
        ) -> Beginning {
            database(
                lost(history: history, assuming: assuming),
                beside: state(record(completed: "1.5", highest: highest)), step)
        }
        #expect(begins(step("1.5-1")) == .unknown(at: 1, steps: ["step 1.5-1"]))
        #expect(begins(step("1.4", .batches)) == .unknown(at: 1, steps: ["deferred step 1.4"]))
        #expect(begins(step("1.8"), highest: "2.0") == .unknown(at: 1, steps: ["step 1.8"]))
        #expect(begins(step("1.8")) == .at("1.5", .lost), "no launch has come so far")
        #expect(begins(step("1.5-1"), history: ["1.5-1"]) == .at("1.5", .lost))
        #expect(begins(step("1.4", .batches), history: ["1.4"]) == .at("1.5", .lost))
        // What the app has said of another manager is not said of this one.
        #expect(begins(step("1.5-1"), assuming: "1.5-1") == .unknown(at: 1, steps: ["step 1.5-1"]))
    }

    @Test("is that of a new manager only if its store knows the install, and the history does not know it")
    func newManager() {
        let nothing = Beginning.unknown(at: 1, steps: [])
        let install = state(nil, seen: ["1.0", "2.0"])
        #expect(database(lost(), beside: install) == .fresh(.database))
        #expect(database(lost(), beside: install, launch: .freshInstall) == .fresh(.install))
        #expect(database(lost(history: ["1.5"]), beside: install) == nothing)
        #expect(database(lost(), beside: state(nil)) == nothing)
        #expect(database(lost(), beside: state(nil, seen: ["2.0"])) == nothing, "this launch has noted it")
        #expect(database(lost(), beside: lost()) == nothing)
        #expect(database(lost(), beside: state(record(completed: nil))) == nothing)
        let removed = state(nil, isRemoved: true)
        #expect(database(lost(history: ["1.5"]), beside: removed, launch: .freshInstall) == .fresh(.install))
    }

    @Test("is in its store where one of its databases stands")
    func store() {
        let database = state(record(completed: "1.5"))
        #expect(beginnings([lost(), database], []).inStore() == .at("1.5", .lost))
        #expect(beginnings([lost(), state(nil)], []).inStore() == .unknown(at: 0, steps: []))
        #expect(beginnings([lost()], []).inStore() == .unknown(at: 0, steps: []))
        #expect(beginnings([lost(assuming: "1.8")], []).inStore() == .at("1.8", .lost))
    }
}
