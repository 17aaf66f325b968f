import Foundation
import Testing

@testable import AppMigrations

@Suite("The verdict on a place without a record", .timed)
struct VerdictTests {
    private let request = LaunchRequest(
        manager: "Library", current: "2.0", build: "2.0", line: "app", oldestSupported: nil,
        maximumAttempts: 3, retrying: nil, stop: nil, hasVersionChanges: false, date: .distantPast)

    private func state(
        seen: [AppVersion] = [], _ evidence: Evidence = .empty, completed: AppVersion? = nil,
        hasRecord: Bool = false, adopted: AppVersion? = nil, line: String = "app"
    ) -> PlaceState {
        var record = MigrationRecord(start: "1.0")
        record.completed = completed
        record.highest = "2.0"
        let versions = seen.map {
            SeenVersion(version: $0, first: .distantPast, isAdopted: $0 == adopted)
        }
        return PlaceState(
            record: hasRecord || completed != nil ? record : nil, seen: [line: versions], evidence: evidence)
    }

    /// The verdict on the store.
    private func store(
        _ state: PlaceState, answer: AppVersion? = nil, databases: [PlaceState] = []
    ) -> Verdict {
        Verdict(
            on: 0, of: [state] + databases, request, earlier: nil, answer: AdoptionAnswer(version: answer))
    }

    /// The verdict on a database.
    private func database(_ state: PlaceState, answer: AppVersion? = nil) -> Verdict {
        let store = self.state(hasRecord: true)
        return Verdict(
            on: 1, of: [store, state], request, earlier: nil, answer: AdoptionAnswer(version: answer))
    }

    /// The verdict on a database for a manager in a line of its own.
    private func plugIn(_ state: PlaceState) -> Verdict {
        let request = LaunchRequest(
            manager: "Importer", current: "7.0", build: "7.0", line: "Importer", oldestSupported: nil,
            maximumAttempts: 3, retrying: nil, stop: nil, hasVersionChanges: false, date: .distantPast)
        return Verdict(
            on: 1, of: [self.state(hasRecord: true), state], request, earlier: nil,
            answer: AdoptionAnswer(version: nil))
    }

    @Test("the app is asked unless a record decides, in this place or in a database of the manager")
    func asking() {
        func verdict(_ places: [PlaceState], on index: Int = 0, earlier: Launch? = nil) -> Verdict {
            Verdict(on: index, of: places, request, earlier: earlier, answer: nil)
        }
        #expect(verdict([state()]) == .askTheApp)
        #expect(verdict([state(seen: ["1.0", "2.0"])]) == .askTheApp, "other managers do not decide")
        #expect(verdict([state(completed: "1.5")]) == .decided(.upgrade(from: "1.5")))
        #expect(verdict([state()], earlier: .freshInstall) == .decided(.freshInstall))
        let known = state(seen: ["1.0", "1.5"], .ledgerOnly, completed: "1.5")
        #expect(verdict([state(), known]) == .decided(.adoption(from: "1.5")))
        #expect(verdict([known, state()], on: 1) == .decided(.freshInstall), "an empty database is new")
        #expect(verdict([known, state(.unmanaged)], on: 1) == .askTheApp)
    }

    @Test("the manager's own record in a database comes first, unless it has seen the current version alone")
    func ownRecord() {
        let completed = state(seen: ["1.0", "2.0"], .ledgerOnly, completed: "2.0")
        #expect(store(state(), answer: "0.5", databases: [completed]) == .decided(.adoption(from: "2.0")))
        let first = state(seen: ["2.0"], .ledgerOnly, completed: "2.0")
        #expect(store(state(), databases: [first]) == .decided(.freshInstall))
        #expect(store(state(), answer: "0.5", databases: [first]) == .decided(.adoption(from: "0.5")))
        let cutShort = state(seen: ["1.0", "2.0"], hasRecord: true)
        #expect(store(state(), databases: [cutShort]) == .decided(.adoption(from: "1.0")))
    }

    @Test("the app's answer comes second, whatever other managers have left")
    func answer() {
        #expect(store(state(), answer: "1.0") == .decided(.adoption(from: "1.0")))
        #expect(store(state(), answer: "2.1") == .decided(.downgrade(from: "2.1")), "a newer app's data")
        #expect(store(state(), answer: "2.0-3") == .decided(.adoption(from: "2.0-3")))
        #expect(store(state(seen: ["1.5", "2.0"]), answer: "1.0") == .decided(.adoption(from: "1.0")))
        #expect(store(state(seen: ["2.0"]), answer: "1.0") == .decided(.adoption(from: "1.0")))
        #expect(
            store(state(), answer: "1.2", databases: [state(seen: ["1.5"])])
                == .decided(.adoption(from: "1.2")))
        #expect(database(state(.unmanaged), answer: "1.0") == .decided(.adoption(from: "1.0")))
        #expect(
            database(state(seen: ["1.5"], .ledgerOnly), answer: "1.0") == .decided(.adoption(from: "1.0")))
    }

    @Test("the versions that the place has seen come third: an earlier one, an adopted one, a newer one")
    func seen() {
        #expect(store(state(seen: ["1.0", "1.5", "2.0", "3.0"])) == .decided(.adoption(from: "1.5")))
        #expect(store(state(seen: ["2.0-beta.1"])) == .decided(.adoption(from: "2.0-beta.1")))
        #expect(store(state(seen: ["2.0"])) == .decided(.freshInstall), "another manager's first launch")
        #expect(store(state(seen: ["2.0"], adopted: "2.0")) == .decided(.adoption(from: "2.0")))
        #expect(store(state(seen: ["2.0", "3.0"])) == .decided(.downgrade(from: "3.0")))
        #expect(database(state(seen: ["2.0"], .ledgerOnly)) == .decided(.freshInstall))
        #expect(database(state(seen: ["1.0", "2.0"], .unmanaged)) == .decided(.adoption(from: "1.0")))
    }

    @Test("for a store that has seen no version, its databases say what they have seen")
    func databases() {
        #expect(
            store(state(), databases: [state(seen: ["1.0", "1.5"]), state(seen: ["1.2"])])
                == .decided(.adoption(from: "1.5")))
        #expect(
            store(state(), databases: [state(seen: ["3.0"], .ledgerOnly)])
                == .decided(.downgrade(from: "3.0")))
        #expect(
            store(state(), databases: [state(seen: ["2.0"], .ledgerOnly)]) == .decided(.freshInstall),
            "a first launch may have died between two writes")
        #expect(
            store(state(seen: ["2.0"]), databases: [state(seen: ["1.0"], .ledgerOnly)])
                == .decided(.freshInstall))
    }

    @Test("data that no version explains leaves the place undecided, and is named")
    func undecided() {
        for evidence in [Evidence.ledgerOnly, .unmanaged, .replaced] {
            #expect(store(state(), databases: [state(), state(evidence)]) == .undecided(at: 2))
            #expect(store(state(evidence)) == .undecided(at: 0), "the store is in that database")
        }
        let other = state(seen: ["1.0"], .unmanaged, line: "Plugin")
        #expect(store(state(), databases: [other]) == .undecided(at: 1), "another line's versions")
        #expect(database(other) == .undecided(at: 1))
        #expect(plugIn(state(seen: ["1.0", "2.0"], .unmanaged)) == .undecided(at: 1))
        #expect(plugIn(state(seen: ["2.0"], .unmanaged, adopted: "2.0")) == .undecided(at: 1))
        #expect(plugIn(state(seen: ["2.0"], .replaced)) == .undecided(at: 1))
        #expect(database(state(.unmanaged)) == .undecided(at: 1))
    }

    @Test("without any evidence, the install is fresh")
    func fresh() {
        #expect(store(state()) == .decided(.freshInstall))
        #expect(store(state(), databases: [state(), state()]) == .decided(.freshInstall))
        #expect(store(state(seen: ["1.0"], line: "Plugin")) == .decided(.freshInstall))
        #expect(database(state(), answer: "1.0") == .decided(.freshInstall))
        // No older version of the app has been here, and so no older one of a plug-in.
        for evidence in [Evidence.ledgerOnly, .unmanaged] {
            #expect(plugIn(state(seen: ["2.0"], evidence)) == .decided(.freshInstall))
        }
    }

    @Test("a database with a ledger and no record has run no step")
    func ledgerOnly() {
        #expect(database(state(.ledgerOnly)) == .decided(.adoption(from: "0")))
    }
}
