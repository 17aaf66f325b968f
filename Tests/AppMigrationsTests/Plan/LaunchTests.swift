import Foundation
import Testing

@testable import AppMigrations

@Suite("Launch", .timed)
struct LaunchTests {
    func record(floor: AppVersion = "1.0", completed: AppVersion?, highest: AppVersion?) -> MigrationRecord {
        var record = MigrationRecord(floor: floor)
        record.completed = completed
        record.highest = highest
        return record
    }

    @Test(
        "with a record, the completed and highest versions decide",
        arguments: [
            ("1.0", "1.0", Launch.upgrade(from: "1.0")),
            ("2.0", "2.0", .relaunch),
            ("2.0.0", "2.0", .relaunch),
            ("2.0-beta.1", "2.0-beta.1", .upgrade(from: "2.0-beta.1")),
            ("1.0", "2.0", .upgrade(from: "1.0")),
            ("1.0", "3.0", .downgrade(from: "3.0")),
            ("2.0", "2.0.1", .downgrade(from: "2.0.1")),
            (nil, "2.0", .adoption(from: "0.9")),
        ] as [(AppVersion?, AppVersion, Launch)])
    func recorded(completed: AppVersion?, highest: AppVersion, expected: Launch) {
        let record = record(floor: "0.9", completed: completed, highest: highest)
        #expect(record.launch(current: "2.0") == expected)
    }

    // MARK: Without a record

    private let request = LaunchRequest(
        manager: "Library", current: "2.0", build: "2.0", line: "app", oldestSupported: nil,
        maximumAttempts: 3, retrying: nil, stop: nil)

    private func state(
        seen: [AppVersion] = [], _ evidence: Evidence = .empty, record: MigrationRecord? = nil,
        line: String = "app"
    ) -> PlaceState {
        PlaceState(
            record: record, seen: [line: seen.map { SeenVersion(version: $0, first: .distantPast) }],
            evidence: evidence)
    }

    private func store(
        _ state: PlaceState, _ answer: AdoptionAnswer? = nil, witnesses: [PlaceState] = []
    ) -> Launch? {
        Launch(ofStore: state, request, answer: answer, witnesses: witnesses)
    }

    private func database(_ state: PlaceState, _ answer: AdoptionAnswer? = nil) -> Launch? {
        Launch(ofDatabase: state, request, answer: answer)
    }

    private func install(_ version: AppVersion?) -> AdoptionAnswer {
        AdoptionAnswer(subject: .install, version: version)
    }

    private func manager(_ version: AppVersion?) -> AdoptionAnswer {
        AdoptionAnswer(subject: .manager, version: version)
    }

    @Test("without a record, an answer about this manager comes first")
    func answerAboutManager() {
        #expect(store(state(seen: ["1.5"]), manager("1.0")) == .adoption(from: "1.0"))
        #expect(database(state(seen: ["1.5"]), manager("1.0")) == .adoption(from: "1.0"))
        #expect(store(state(seen: ["1.5"]), manager(nil)) == .adoption(from: "1.5"), "it names no version")
    }

    @Test("the versions that the place has seen come second, and outrank an answer about the install")
    func seen() {
        #expect(store(state(seen: ["1.0", "1.5", "2.0", "3.0"])) == .adoption(from: "1.5"))
        #expect(store(state(seen: ["2.0-beta.1"])) == .adoption(from: "2.0-beta.1"))
        #expect(store(state(seen: ["2.0"]), install("1.0")) == .freshInstall, "a launch made its own tables")
        #expect(database(state(seen: ["2.0"], .ledgerOnly), install("1.0")) == .freshInstall)
        #expect(database(state(seen: ["1.0", "2.0"], .unmanaged)) == .adoption(from: "1.0"))
        let witness = state(seen: ["1.0"], .ledgerOnly)
        #expect(store(state(seen: ["2.0"]), witnesses: [witness]) == .freshInstall)
    }

    @Test("an answer about the install comes third, if the place has seen no version")
    func answerAboutInstall() {
        #expect(store(state(), install("1.0")) == .adoption(from: "1.0"))
        #expect(store(state(), install("2.1")) == .downgrade(from: "2.1"), "a newer app's data is not ours")
        #expect(store(state(), install("2.0-3")) == .adoption(from: "2.0-3"))
        #expect(database(state(.unmanaged), install("1.0")) == .adoption(from: "1.0"))
        #expect(database(state(), install("1.0")) == .freshInstall, "an empty database is new")
        #expect(store(state(seen: ["1.0"], line: "Plugin"), install("1.2")) == .adoption(from: "1.2"))
    }

    @Test("a database that has seen an earlier version decides for a store that has seen none")
    func witnesses() {
        let completed = record(completed: "2.0", highest: "2.0")
        let cutShort = record(completed: nil, highest: "2.0")
        #expect(
            store(state(), witnesses: [state(seen: ["1.0", "2.0"], .ledgerOnly, record: completed)])
                == .adoption(from: "2.0"))
        #expect(
            store(state(), witnesses: [state(seen: ["1.0", "2.0"], record: cutShort)])
                == .adoption(from: "1.0"))
        #expect(
            store(state(), witnesses: [state(seen: ["1.0", "1.5"]), state(seen: ["1.2"])])
                == .adoption(from: "1.5"))
        #expect(
            store(state(), witnesses: [state(seen: ["2.0"], .ledgerOnly)]) == .freshInstall,
            "a first launch may have died between two writes")
        #expect(store(state(), install("1.2"), witnesses: [state(seen: ["1.5"])]) == .adoption(from: "1.2"))
    }

    @Test("a database that has seen only newer versions makes the launch a downgrade")
    func newerWitnesses() {
        let newer = record(completed: "3.0", highest: "3.0")
        let downgrade = Launch.downgrade(from: "3.0")
        #expect(store(state(), witnesses: [state(seen: ["3.0"], .ledgerOnly)]) == downgrade)
        #expect(store(state(), witnesses: [state(seen: ["3.0"], .ledgerOnly, record: newer)]) == downgrade)
        #expect(store(state(), witnesses: [state(seen: ["2.0", "3.0"]), state(seen: ["2.0"])]) == downgrade)
        #expect(store(state(), install("1.2"), witnesses: [state(seen: ["3.0"])]) == .adoption(from: "1.2"))
    }

    @Test("a database of unknown version that is not empty leaves the store undecided")
    func undecided() {
        for evidence in [Evidence.ledgerOnly, .unmanaged] {
            #expect(store(state(), witnesses: [state(evidence)]) == nil)
            #expect(store(state(), install(nil), witnesses: [state(evidence)]) == nil)
            #expect(store(state(evidence)) == nil, "the store is in that database")
        }
        let other = state(seen: ["1.0"], .unmanaged, line: "Plugin")
        #expect(store(state(), witnesses: [other]) == nil, "another line's versions tell nothing")
        #expect(database(other) == nil)
        #expect(database(state(.unmanaged)) == nil)
    }

    @Test("without any evidence, the install is fresh")
    func fresh() {
        #expect(store(state()) == .freshInstall)
        #expect(store(state(), install(nil), witnesses: [state(), state()]) == .freshInstall)
        #expect(database(state()) == .freshInstall)
    }

    @Test("a database with a ledger and no record has run no step")
    func ledgerOnly() {
        #expect(database(state(.ledgerOnly)) == .adoption(from: "0"))
    }
}
