import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("The plan of a launch", .timed)
struct LaunchPlanTests {
    private func request(stop: AppVersion? = nil, retrying: MigrationWork? = nil) -> LaunchRequest {
        LaunchRequest(
            manager: "Library", current: "2.0", build: "2.0 (417)", appBuild: "417", line: "app",
            oldestSupported: nil, maximumAttempts: 3, retrying: retrying, stop: stop,
            hasVersionChanges: false,
            date: .distantPast)
    }

    private func step(
        _ version: AppVersion, _ number: Int = 0, kind: MigrationStep.Kind = .closure,
        onFreshInstall: FreshInstallRule = .skip, finishing: [AppVersion] = []
    ) -> MigrationStep {
        MigrationStep(
            version: version, place: .store, kind: kind, onFreshInstall: onFreshInstall,
            finishing: finishing, number: number,
            source: SourceLocation(fileID: "App/Migrations.swift", line: 1))
    }

    private func steps(_ versions: AppVersion...) -> [MigrationStep] {
        versions.enumerated().map { step($1, $0) }
    }

    private func record(completed: AppVersion, settled: [AppVersion] = []) -> MigrationRecord {
        var record = MigrationRecord(start: "1.0")
        record.completed = completed
        record.highest = completed
        for version in settled { record.settle(WorkID(version)) }
        return record
    }

    private func plan(
        _ steps: [MigrationStep], _ record: MigrationRecord?, seen: [AppVersion] = [],
        stop: AppVersion? = nil, deadlines: [AppVersion: AppVersion] = [:]
    ) throws -> LaunchPlan {
        let state = PlaceState(
            record: record, seen: ["app": seen.map { SeenVersion(version: $0, first: .distantPast) }],
            evidence: .empty)
        var place = PlaceSteps(of: StorePlace(store: InMemoryStore()))
        for step in steps { place.add(step) }
        let request = request(stop: stop)
        let part = try LaunchPlan.PlacePlan(
            request, place, state, record == nil ? .fresh(.install) : nil, store: nil)
        return LaunchPlan(request, [part], deadlines: deadlines)
    }

    @Test("lets a step wait for no deferred step that this call leaves to a later one")
    func stopBelowDeferredStep() throws {
        let steps = [
            step("1.2"), step("1.5", 1, kind: .batches), step("2.0", 2, finishing: ["1.5"]),
        ]
        let plan = try plan(steps, record(completed: "1.0"), stop: "1.2", deadlines: ["1.5": "2.0"])
        #expect(plan.pending.map(\.step.version) == ["1.2"])
        #expect(plan.pending.map(\.prerequisites) == [[]])
    }

    @Test("lists the unsettled steps above the floor, up to the target, in ascending order")
    func pending() throws {
        let record = record(completed: "1.5", settled: ["1.1", "1.5"])
        let steps = steps("1.0", "1.1", "1.2", "1.5", "2.0", "2.0-1")
        let plan = try plan(steps, record)
        #expect(plan.pending.map(\.step.version) == ["1.2", "2.0", "2.0-1"])
        #expect(plan.pending.map(\.isOutOfOrder) == [true, false, false])
        #expect(plan.places[0].launch == .upgrade(from: "1.5"))
        #expect(try self.plan(steps, record, stop: "1.9").pending.map(\.step.version) == ["1.2"])
    }

    @Test("is settled only if no step is pending and the record and the version are saved")
    func settled() throws {
        let record = record(completed: "2.0", settled: ["2.0"])
        #expect(try plan(steps("2.0"), record, seen: ["2.0"]).isSettled)
        #expect(try !plan(steps("2.0"), record, seen: ["1.0"]).isSettled, "the version is not noted")
        #expect(try !plan(steps("1.2", "2.0"), record, seen: ["2.0"]).isSettled, "1.2 is pending")
        #expect(try !plan(steps("2.0"), nil, seen: ["2.0"]).isSettled, "there is no record")
    }

    @Test("settles every due step on a fresh install, even those above the version that a call stops at")
    func fresh() throws {
        let plan = try plan(steps("1.1", "2.0"), nil, stop: "1.5")
        #expect(plan.places[0].launch == .freshInstall)
        #expect(plan.pending.isEmpty)
        #expect(plan.places[0].record?.settled == ["1.1", "2.0"])
    }

    @Test("has steps for fresh installs only where they are owed, and first")
    func onlyOnFreshInstalls() throws {
        let steps = [
            step("1.0", onFreshInstall: .run), step("1.5", 1, onFreshInstall: .only), step("2.0", 2),
        ]
        #expect(try plan(steps, nil).pending.map(\.step.version) == ["1.5", "1.0"])
        #expect(try plan(steps, record(completed: "1.0")).pending.map(\.step.version) == ["2.0"])
    }

    @Test("runs a deferred step before any work at or above its deadline, whatever that is")
    func deadline() throws {
        let deferred = step("1.2", kind: .batches)
        let record = record(completed: "1.0")
        func versions(_ steps: [MigrationStep], deadline: AppVersion? = "1.5") throws -> [AppVersion] {
            try plan(steps, record, deadlines: deadline.map { ["1.2": $0] } ?? [:]).pending.map(
                \.step.version)
        }
        #expect(try versions([deferred, step("1.5", 1, finishing: ["1.2"])]) == ["1.2", "1.5"])
        #expect(try versions([deferred, step("2.0", 1)]) == ["1.2", "2.0"], "what finishes it is settled")
        #expect(try versions([deferred, step("1.4", 1)]) == ["1.4"], "it is below the deadline")
        #expect(try versions([deferred, step("2.0", 1)], deadline: nil) == ["2.0"])
    }

    @Test("lets a step for fresh installs only wait for no deferred step")
    func onlyFirst() throws {
        let steps = [
            step("1.2", kind: .deferredClosure, onFreshInstall: .run), step("1.5", 1, finishing: ["1.2"]),
            step("2.0", 2, onFreshInstall: .only),
        ]
        let plan = try plan(steps, nil, deadlines: ["1.2": "1.5"])
        #expect(plan.pending.map(\.step.version) == ["2.0"])
        #expect(plan.pending[0].prerequisites == [])
        #expect(plan.deferred.map(\.step.version) == ["1.2"])
    }

    @Test(
        "takes a step for one that has moved here if it has run in the store, and no newer app has it there")
    func moved() throws {
        func settled(
            as state: WorkState = .done, isMadeAnew: Bool = false, highest: AppVersion? = nil,
            by reason: Beginning.Reason = .answered, seen: AppVersion? = nil
        ) throws -> Bool? {
            var record = record(completed: "2.0")
            record.settle(WorkID("1.5"), as: state)
            record.highest = highest
            let place = StorePlace(store: InMemoryStore())
            var due = PlaceSteps(of: place)
            func plan(_ record: MigrationRecord?, _ beginning: Beginning?, _ store: LaunchPlan.PlacePlan?)
                throws -> LaunchPlan.PlacePlan
            {
                let seen = seen.map { ["app": [SeenVersion(version: $0, first: .distantPast)]] } ?? [:]
                let state = PlaceState(record: record, seen: seen, evidence: .unmanaged)
                return try LaunchPlan.PlacePlan(
                    request(), due, state, beginning, store: store, isMadeAnew: isMadeAnew)
            }
            let store = try plan(record, nil, nil)
            due.add(step("1.5"))
            return try plan(nil, .at("1.0", reason), store).record?.hasSettled(WorkID("1.5"))
        }
        #expect(try settled() == true)
        #expect(try settled(as: .skipped) == true)
        #expect(try settled(as: .notNeeded) == false, "the app says exactly how old the data is")
        #expect(try settled(as: .notNeeded, by: .bound) == true, "the install has always had the new form")
        #expect(try settled(as: .notNeeded, by: .bound, seen: "0.5") == false, "an older version was here")
        #expect(try settled(isMadeAnew: true) == false)
        #expect(try settled(highest: "9.0") == false)
    }
}
