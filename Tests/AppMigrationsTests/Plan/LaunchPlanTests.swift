import Foundation
import Testing

@testable import AppMigrations

@Suite("The plan of a launch", .timed)
struct LaunchPlanTests {
    private let store = StorePlace(store: InMemoryStore())

    private func request(stop: AppVersion? = nil) -> LaunchRequest {
        LaunchRequest(
            manager: "Library", current: "2.0", build: "2.0 (417)", line: "app", oldestSupported: nil,
            maximumAttempts: 3, retrying: nil, stop: stop)
    }

    private func steps(_ versions: AppVersion...) -> [PlaceSteps] {
        let closures = versions.map { version in
            MigrationStep(
                version: version, place: store, work: .closure { _ in Issue.record("a plan runs nothing") },
                source: SourceLocation(fileID: "App/Migrations.swift", line: 1))
        }
        return [PlaceSteps(place: store, moves: [], closures: closures)]
    }

    private func record(completed: AppVersion, settled: SortedSet<AppVersion> = []) -> MigrationRecord {
        var record = MigrationRecord(floor: "1.0")
        record.completed = completed
        record.highest = completed
        record.settled = settled
        return record
    }

    private func plan(
        _ steps: [PlaceSteps], _ record: MigrationRecord?, seen: [AppVersion] = [], stop: AppVersion? = nil,
        decided: LaunchDecision? = nil, answer: AdoptionAnswer? = nil
    ) throws -> LaunchPlan {
        let state = PlaceState(
            record: record, seen: ["app": seen.map { SeenVersion(version: $0, first: .distantPast) }],
            evidence: .empty)
        return try LaunchPlan(request(stop: stop), steps, [state], decided: decided, answer: answer)
    }

    @Test("lists the unsettled steps above the floor, up to the target, in ascending order")
    func pending() throws {
        let record = record(completed: "1.5", settled: ["1.1", "1.5"])
        let steps = steps("1.0", "1.1", "1.2", "1.5", "2.0", "2.0-1")
        let plan = try plan(steps, record)
        #expect(plan.pending.map(\.step.version) == ["1.2", "2.0", "2.0-1"])
        #expect(plan.pending.map(\.isOutOfOrder) == [true, false, false])
        #expect(plan.report.launch == .upgrade(from: "1.5"))
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
        #expect(plan.report.launch == .freshInstall)
        #expect(plan.pending.isEmpty)
        #expect(plan.places[0].record.settled == ["1.1", "2.0"])
    }

    @Test("keeps the decision of an earlier call, unless a newer version was launched since")
    func decided() throws {
        let decision = try plan(steps("2.0"), nil).decision
        let again = try plan(steps("2.0"), record(completed: "1.0"), decided: decision)
        #expect(again.report.launch == .freshInstall)
        let overtaken = try plan(steps("2.0"), record(completed: "3.0"), decided: decision)
        #expect(overtaken.report.launch == .downgrade(from: "3.0"))
    }

    @Test("needs the app's answer only if nothing stronger decides")
    func adoption() throws {
        func needs(
            _ subject: Adoption.Subject, _ record: MigrationRecord?, seen: [AppVersion] = [],
            decided: LaunchDecision? = nil
        ) -> Bool {
            let seen = seen.map { SeenVersion(version: $0, first: .distantPast) }
            return LaunchPlan.needsAdoption(
                subject, request(), steps("2.0"),
                [PlaceState(record: record, seen: ["app": seen], evidence: .empty)], decided: decided)
        }
        #expect(needs(.install, nil))
        #expect(!needs(.install, nil, seen: ["2.0"]), "the versions seen answer the question")
        #expect(needs(.manager, nil, seen: ["2.0"]), "they do not answer it for this manager")
        #expect(!needs(.manager, record(completed: "1.0")))
        #expect(try !needs(.install, nil, decided: plan(steps("2.0"), nil).decision))
        let answer = AdoptionAnswer(subject: .install, version: "1.0")
        #expect(try plan(steps("1.0", "2.0"), nil, answer: answer).pending.map(\.step.version) == ["2.0"])
    }
}
