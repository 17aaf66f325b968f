import Foundation
import Testing

@testable import AppMigrations

@Suite("Where a manager begins", .timed)
struct BeginningTests {
    /// A version that a place has seen, in words: `2.0`, `2.0 (7)` for its build, `2.0 answered` for an answer.
    private func seen(_ texts: [String]) -> [SeenVersion] {
        texts.enumerated().map { index, text in
            let words = text.split(separator: " ")
            let last = words.count > 1 ? String(words[1]) : ""
            return SeenVersion(
                version: AppVersion(String(words[0])) ?? "0",
                build: last.hasPrefix("(") ? String(last.dropFirst().dropLast()) : nil,
                first: Date(timeIntervalSince1970: Double(index)), isAdopted: last == "answered")
        }
    }

    private func place(
        _ texts: String..., evidence: Evidence = .empty, record: MigrationRecord? = nil,
        isRemoved: Bool = false, assuming version: AppVersion? = nil, line: String = "app"
    ) -> PlaceState {
        PlaceState(
            record: record, hasRemovedRecord: isRemoved, seen: texts.isEmpty ? [:] : [line: seen(texts)],
            assumptions: version.map { [line: $0] } ?? [:], evidence: evidence)
    }

    private func record(start: AppVersion, completed: AppVersion? = nil) -> MigrationRecord {
        var record = MigrationRecord(start: start)
        record.completed = completed
        return record
    }

    private func request(_ current: AppVersion, build: String? = "7", line: String = "app") -> LaunchRequest {
        LaunchRequest(
            manager: "B", current: current, build: "\(current) (\(build ?? ""))", appBuild: build,
            line: line,
            oldestSupported: nil, maximumAttempts: 3, retrying: nil, stop: nil, hasVersionChanges: false,
            date: .distantPast)
    }

    private func store(
        _ current: AppVersion, _ places: PlaceState..., build: String? = "7", answer: AppVersion? = nil,
        isBound: Bool = false, line: String = "app"
    ) -> Beginning {
        Beginnings(
            request: request(current, build: build, line: line), places: places,
            steps: places.map { _ in [] }, answer: AdoptionAnswer(version: answer, isBound: isBound)
        ).inStore()
    }

    private func database(
        _ current: AppVersion, _ place: PlaceState, in launch: Launch = .upgrade(from: "1.9"),
        isMadeAnew: Bool = false, build: String? = "7", answer: AppVersion? = nil, line: String = "app"
    ) -> Beginning {
        let record = MigrationRecord(start: launch.previousVersion ?? current)
        return Beginnings(
            request: request(current, build: build, line: line), places: [self.place(record: record), place],
            steps: [[], []], answer: AdoptionAnswer(version: answer)
        ).inDatabase(1, launch, record, isMadeAnew: isMadeAnew)
    }

    @Test("asks the app only if nothing stronger decides")
    func asking() {
        func beginning(_ place: PlaceState) -> Beginning {
            Beginnings(request: request("2.0"), places: [place], steps: [[]], answer: nil).inStore()
        }
        #expect(beginning(place("1.0", "2.0")) == .askTheApp)
        #expect(beginning(place("1.0", isRemoved: true)) == .fresh(.install))
        #expect(beginning(place("3.0")) == .downgrade(from: "3.0"))
        #expect(beginning(place(assuming: "1.5")) == .at("1.5", .lost))
    }

    @Test("a manager that no launch has reached begins at the earliest version that was seen")
    func earliest() {
        #expect(store("2.1", place("1.0", "2.0 (6)", "2.1 (7)")) == .at("1.0", .seen))
        #expect(store("2.1", place("2.0 (6)", "2.1 (7)")) == .at("2.0", .seen))
        #expect(store("3.0", place("2.0", "1.5", "3.0")) == .at("2.0", .seen), "1.5 was a visit")
        #expect(store("2.0", place("1.0", "3.0-beta.1")) == .at("1.0", .seen), "1.0 came before")
        #expect(store("2.0-beta.2", place("2.0-beta.1")) == .at("2.0-beta.1", .seen))
        #expect(database("2.1", place("1.0", "2.1", evidence: .ledgerOnly)) == .at("1.0", .seen))
    }

    @Test("a fresh install that was cut short is fresh in its own build, and old in a later one")
    func builds() {
        let first = place("2.0 (7)")
        #expect(store("2.0", first) == .fresh(.install))
        #expect(store("2.0", first, build: "8") == .at("2.0", .seen))
        #expect(store("2.0", first, build: nil) == .fresh(.install), "an extension knows no build")
        #expect(store("2.0", place("2.0")) == .fresh(.install))
        #expect(store("2.0", place("2.0 answered", "2.0 (7)")) == .at("2.0", .seen), "data of 2.0 was there")
    }

    @Test("a later version, and none before it, is a downgrade")
    func downgrade() {
        #expect(store("2.0", place("3.0", "2.0")) == .downgrade(from: "3.0"))
        #expect(store("2.0", place("3.0", "4.0")) == .downgrade(from: "4.0"))
        #expect(store("2.0", place("3.0"), answer: "1.0") == .downgrade(from: "3.0"))
    }

    @Test("an exact answer stands, whatever was launched since")
    func answer() {
        #expect(store("2.1", place("2.0", "2.1"), answer: "1.3") == .at("1.3", .answered))
        #expect(store("2.0", place("1.5 answered", "2.0"), answer: "1.0") == .at("1.0", .answered))
        #expect(database("2.0", place("1.5", evidence: .ledgerOnly), answer: "1.0") == .at("1.0", .answered))
    }

    @Test("a bound gives way to the earliest version launched, unless an answer was noted")
    func bound() {
        #expect(store("2.1", place(), answer: "1.0", isBound: true) == .at("1.0", .bound))
        #expect(store("2.1", place("2.0", "2.1"), answer: "1.0", isBound: true) == .at("2.0", .seen))
        #expect(
            store("2.1", place("1.0 answered", "2.0"), answer: "1.0", isBound: true) == .at("1.0", .bound))
        #expect(store("2.1", place("0.9", "2.1"), answer: "1.0", isBound: true) == .at("1.0", .bound))
        #expect(
            store("2.1", place("2.1 (7)"), answer: "1.0", isBound: true) == .at("1.0", .bound),
            "another manager has just launched this build")
        #expect(store("2.1", place("2.1 (6)"), answer: "1.0", isBound: true) == .at("2.1", .seen))
    }

    @Test("a store that has lost the record takes it from the manager's own databases")
    func lost() {
        let done = place("1.0", "2.0", evidence: .empty, record: record(start: "1.0", completed: "2.0"))
        #expect(store("2.1", place(), done, answer: "0.5") == .at("2.0", .lost))
        let begun = place("2.0", record: record(start: "1.0"))
        #expect(store("2.1", place(), begun) == .at("1.0", .lost))
        #expect(store("2.1", place("2.0", "2.1"), done) == .at("2.0", .lost), "whatever others have noted")
        #expect(store("2.1", place("1.0", "2.1"), done) == .at("1.0", .lost), "the store is an older backup")
        #expect(store("2.1", place("2.1", assuming: "1.5"), done) == .at("1.5", .lost), "the app has said so")
    }

    @Test("what another manager has just been answered is no evidence where builds have no numbers, either")
    func unnumbered() {
        let done = place("1.0", "2.0", record: record(start: "1.0", completed: "2.0"))
        let asked = place("1.0 answered", "2.0")
        #expect(store("2.0", asked, done, build: nil) == .at("2.0", .lost))
        #expect(store("2.1", asked, done, build: nil) == .at("1.0", .lost), "the store is an older backup")
    }

    @Test("a store that knows nothing lets databases bear witness to the versions launched")
    func witnesses() {
        #expect(store("2.1", place(), place("1.5", "2.0", evidence: .ledgerOnly)) == .at("1.5", .seen))
        #expect(store("2.1", place("2.1"), place("1.5", evidence: .ledgerOnly)) == .fresh(.install))
        #expect(store("2.0", place(), place("3.0", evidence: .ledgerOnly)) == .downgrade(from: "3.0"))
    }

    @Test(
        "a database with nothing in it, or with tables of this build alone, begins as the store stands",
        arguments: [
            (.freshInstall, .fresh(.install)), (.upgrade(from: "1.9"), .at("1.9", .newDatabase)),
            (.adoption(from: "1.0"), .at("1.0", .newDatabase)), (.relaunch, .fresh(.database)),
            (.downgrade(from: "3.0"), .fresh(.database)),
        ] as [(Launch, Beginning)])
    func newDatabase(launch: Launch, expected: Beginning) {
        #expect(database("2.0", place(), in: launch, answer: "0.5") == expected)
        #expect(database("2.0", place("2.0 (7)", evidence: .unmanaged), in: launch) == expected)
        if launch != .freshInstall {
            #expect(database("2.0", place(), in: launch, isMadeAnew: true) == .fresh(.database))
        }
    }

    @Test("a new database of an app that came back before a launch was complete begins as the store stands")
    func interrupted() {
        func begins(_ record: MigrationRecord?, isMadeAnew: Bool = false, answer: AppVersion? = nil)
            -> Beginning
        {
            Beginnings(
                request: request("2.0"), places: [self.place(record: record), self.place()],
                steps: [[], []], answer: AdoptionAnswer(version: answer)
            ).inDatabase(1, .downgrade(from: "3.0"), record, isMadeAnew: isMadeAnew)
        }
        #expect(begins(record(start: "1.0")) == .at("1.0", .newDatabase))
        #expect(begins(record(start: "1.0", completed: "1.5")) == .at("1.5", .newDatabase))
        #expect(begins(record(start: "1.0", completed: "3.0")) == .fresh(.database))
        #expect(begins(record(start: "1.0"), isMadeAnew: true) == .fresh(.database))
        #expect(begins(nil) == .fresh(.database))
        #expect(begins(nil, answer: "1.5") == .at("1.5", .newDatabase), "the store begins there, too")
        #expect(begins(nil, answer: "2.0") == .fresh(.database))
    }

    @Test("a first launch goes on in a new database, though a lower version has come between")
    func visited() {
        func begins(
            freshIn build: String, _ launch: Launch = .upgrade(from: "1.0"), isMadeAnew: Bool = false
        ) -> Beginning {
            var record = record(start: "2.0")
            record.freshBuild = build
            return Beginnings(
                request: request("2.0"), places: [self.place(record: record), self.place()],
                steps: [[], []], answer: AdoptionAnswer(version: nil)
            ).inDatabase(1, launch, record, isMadeAnew: isMadeAnew)
        }
        #expect(begins(freshIn: "2.0 (7)") == .fresh(.install))
        #expect(begins(freshIn: "2.0 (6)") == .fresh(.install), "a build whose launch was never complete")
        #expect(begins(freshIn: "2.0 (7)", isMadeAnew: true) == .fresh(.database), "the visit has made it")
        #expect(begins(freshIn: "2.0 (7)", .downgrade(from: "3.0")) == .fresh(.database), "3.0 has gone on")
    }

    @Test("tables of another build, or of an answer, are not new")
    func notNew() {
        let tables = place("2.0 (6)", evidence: .ledgerOnly)
        #expect(database("2.0", tables) == .at("2.0", .seen))
        #expect(database("2.0", place("0 answered", "2.0 (7)", evidence: .ledgerOnly)) == .at("0", .seen))
    }

    @Test("a ledger without a version is older than any, and tables alone are undecided")
    func ledger() {
        #expect(database("2.0", place(evidence: .ledgerOnly)) == .at("0", .seen))
        #expect(database("2.0", place(evidence: .unmanaged)) == .undecided(at: 1))
        #expect(
            store("2.0", place(evidence: .ledgerOnly)) == .at("0", .seen), "the store is in that database")
        #expect(store("2.0", place(evidence: .unmanaged)) == .undecided(at: 0))
        #expect(store("2.0", place(), place(), place(evidence: .unmanaged)) == .undecided(at: 2))
        #expect(store("2.0", place(), place(evidence: .ledgerOnly)) == .undecided(at: 1))
    }

    @Test("lines are compared with themselves, but a plug-in is new where the app is")
    func lines() {
        #expect(store("7.0", place("1.0", "2.0"), line: "Importer") == .fresh(.install))
        let new = place("2.0 (7)", evidence: .ledgerOnly)
        #expect(database("7.0", new, in: .freshInstall, line: "Importer") == .fresh(.install))
        let tables = place("7.0 (7)", evidence: .unmanaged, line: "Importer")
        #expect(database("2.0", tables) == .at("1.9", .newDatabase), "made in this build")
        for text in ["7.0 (6)", "7.0", "7.0 answered"] {
            let tables = place(text, evidence: .unmanaged, line: "Importer")
            #expect(database("2.0", tables) == .undecided(at: 1))
        }
        let old = place("1.0", "2.0", evidence: .unmanaged)
        #expect(database("7.0", old, line: "Importer") == .undecided(at: 1))
        let damaged = place("2.0", evidence: .replaced, assuming: "1.0")
        #expect(database("7.0", damaged, line: "Importer") == .undecided(at: 1))
    }

    @Test("a store whose contents a manager of another line has replaced hears the manager's own databases")
    func replaced() {
        let replaced = place(evidence: .replaced, assuming: "5.0", line: "Importer")
        let own = place("1.0", "2.0", record: record(start: "1.0", completed: "2.0"))
        #expect(store("2.1", replaced, own) == .at("2.0", .lost))
        #expect(store("2.1", replaced) == .undecided(at: 0))
        let withLedger = place(evidence: .ledgerOnly, assuming: "5.0", line: "Importer")
        #expect(
            store("2.1", withLedger, own) == .at("2.0", .lost), "its own database knows more than a ledger")
        #expect(store("2.1", withLedger) == .undecided(at: 0))
        #expect(store("7.0", replaced, own, line: "Importer") == .at("5.0", .lost))
    }

    @Test("a version that the app has named for a damaged database explains it")
    func explained() {
        let database = place(evidence: .unmanaged, assuming: "1.5")
        #expect(store("2.0", place(), database) == .at("1.5", .lost), "the install is not new")
    }

    @Test("without any evidence, the install is fresh")
    func fresh() {
        #expect(store("2.0", place()) == .fresh(.install))
        #expect(store("2.0", place(), place()) == .fresh(.install))
    }
}

@Suite("The record with which a manager begins", .timed)
struct BeginningRecordTests {
    private let request = LaunchRequest(
        manager: "B", current: "2.0", build: "2.0 (7)", appBuild: "7", line: "app", oldestSupported: nil,
        maximumAttempts: 3, retrying: nil, stop: nil, hasVersionChanges: false, date: .distantPast)

    private func step(
        _ version: AppVersion, _ rule: FreshInstallRule = .skip, kind: MigrationStep.Kind = .closure
    ) -> MigrationStep {
        MigrationStep(
            version: version, place: .store, kind: kind, onFreshInstall: rule, finishing: [],
            number: 0,
            source: SourceLocation(fileID: "App/Migrations.swift", line: 1))
    }

    private func owed(_ record: MigrationRecord?) -> [AppVersion] {
        record?.work.keys.filter { record?.isOwed($0) ?? false }.map(\.version).sorted() ?? []
    }

    @Test("settles on a fresh install what is not needed, and owes what must run")
    func fresh() {
        let steps = [step("1.0"), step("1.1", .run), step("1.2", .only), step("2.0-1")]
        func begun(_ fresh: Beginning.Fresh) -> MigrationRecord? {
            var record = Beginning.fresh(fresh).record(request, steps)
            record?.apply(.begun(.freshInstall, current: "2.0", due: steps))
            return record
        }
        let record = begun(.install)
        #expect(record?.hasSettled(WorkID("1.0")) == true && record?.hasSettled(WorkID("2.0-1")) == true)
        #expect(owed(record) == ["1.1", "1.2"])
        #expect(record?.completed == nil)
        #expect(owed(begun(.database)) == ["1.1"])
    }

    @Test("owes a .run step where the beginning is seen, and in a new database, but not where it is answered")
    func owedSteps() {
        let steps = [step("1.0", .run), step("1.1", .only), step("1.2", kind: .deferredClosure)]
        func owed(_ reason: Beginning.Reason) -> [AppVersion] {
            self.owed(Beginning.at("1.5", reason).record(request, steps))
        }
        #expect(owed(.seen) == ["1.0"])
        #expect(owed(.newDatabase) == ["1.0"])
        #expect(owed(.answered) == [])
        #expect(owed(.bound) == [])
        #expect(owed(.lost) == ["1.2"], "it may have been waiting")
    }

    @Test("takes over the steps that have moved here")
    func moved() {
        let record = Beginning.at("1.0", .seen).record(
            request, [step("1.5"), step("1.6")], movedHere: [WorkID("1.5")])
        #expect(record?.hasSettled(WorkID("1.5")) == true)
        #expect(record?.hasSettled(WorkID("1.6")) == false)
    }

    @Test("is that of a downgrade where the data is of a newer app")
    func newer() {
        let record = Beginning.at("3.0", .answered).record(request, [])
        #expect(record?.launch(current: "2.0", build: "2.0 (7)") == .downgrade(from: "3.0"))
        #expect(Beginning.downgrade(from: "3.0").record(request, []) == nil)
    }
}
