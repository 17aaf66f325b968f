import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("The state of a store", .timed)
struct StoreStateTests {
    private let date = Date(timeIntervalSince1970: 1_772_474_651)

    private var state: StoreState {
        get throws {
            var state = try StoreState(
                json: Data(
                    #"""
                    {"format":"1.3","new":[1,2.5,true,null,"x",{"a":[]}],"seen":{},"managers":
                    {"Other":{"start":"1.0","done":[],"mood":"good"}}}
                    """#.utf8))
            var record = MigrationRecord(start: "1.0")
            record.settle(WorkID("1.1"))
            record.noteDeaths(2, in: "2.0", build: "2.0 (417)", forgiven: 1)
            record.changeOpen(WorkID("1.5", .schemaStep)) { open in
                open.remaining = 3
                open.running = OpenWork.Start(build: "1.5", since: date)
            }
            record.changeOpen(WorkID("1.2")) { open in
                open.stop(failure: "2.0 (417): NSPOSIXErrorDomain 2")
            }
            try state.setRecord(record, of: "Library")
            for version in ["1.0", "2.0"] as [AppVersion] { state.see(version, in: "app", at: date) }
            return state
        }
    }

    @Test("survives encoding and decoding, with the fields of a newer version")
    func codable() throws {
        let state = try state
        let json = try StoreState(json: state.json())
        #expect(json == state)
        let again = try StoreState(json: state.json())
        #expect(again == state)
        #expect(try String(decoding: again.json(), as: UTF8.self).contains(#""mood" : "good""#))
        let rows = try StoreState(rows: state.rows(of: "Library"))
        #expect(try rows.record(of: "Library") == state.record(of: "Library"))
        #expect(rows.seen == state.seen)
    }

    @Test("keeps the fields of a newer version in the list of databases")
    func databaseFields() throws {
        let text = """
            {"format":"1.3","seen":{},"managers":{"A":{"start":"1.0","done":[],"databases":[\
            {"id":"a","path":"a.sqlite","completed":"1.0"},{"id":"b","path":"b.sqlite"}]}}}
            """
        var state = try StoreState(json: Data(text.utf8))
        try state.apply(
            .knows([KnownDatabase(id: "a", path: "moved.sqlite"), KnownDatabase(id: "c", path: "b.sqlite")]),
            toRecordOf: "A")
        let json = try String(decoding: state.json(), as: UTF8.self)
        #expect(json.contains(#""completed" : "1.0""#))
        #expect(try state.record(of: "A")?.databases.map(\.id) == ["c", "a"])
    }

    @Test("has an id as soon as records are lost, so that its manager's store can list it")
    func lostID() {
        var state = StoreState()
        #expect(state.id == nil)
        state.markRecordsAsLost(at: Date())
        #expect(state.id != nil)
    }

    @Test("keeps whole numbers that are larger than any signed one")
    func unsigned() throws {
        let text = #"{"format":"1.3","managers":{},"new":18446744073709551615,"seen":{}}"#
        let state = try StoreState(json: Data(text.utf8))
        #expect(try String(decoding: state.json(), as: UTF8.self).contains("18446744073709551615"))
        let decoded = try StoreState(json: state.json())
        #expect(decoded == state)
    }

    @Test("refuses a count of rows that cannot be true")
    func hugeCount() throws {
        let state = try StoreState(
            json: Data(
                #"{"format":"1.0","seen":{},"managers":{"A":{"start":"1","done":[],"open":{"2":{"position":{"done":9223372036854775807}}}}}}"#
                    .utf8))
        #expect(throws: MigrationError.self) { try state.record(of: "A") }
    }

    @Test("distinguishes managers with a record from those without")
    func absent() throws {
        var state = try state
        #expect(try state.record(of: "library") == nil)
        #expect(try state.managerNames == ["Library", "Other"])
        try state.setRecord(nil, of: "Library")
        #expect(try state.managerNames == ["Other"])
    }

    @Test("lists each version once, in the order of first launches")
    func seen() throws {
        var state = try state
        for version in ["2.0.0", "1.5"] as [AppVersion] { state.see(version, in: "app", at: date) }
        #expect(state.seen["app"]?.map(\.version) == ["1.0", "2.0", "1.5"])
        #expect(state.seen["plug-in"] == nil)
    }

    @Test("refuses a newer format and damage when it is parsed")
    func refused() {
        func code(_ json: String) -> MigrationError.Code? {
            do {
                _ = try StoreState(json: Data(json.utf8))
                return nil
            } catch { return (error as? MigrationError)?.code }
        }
        #expect(code(#"{"format":"2.0","seen":{},"managers":{}}"#) == .newerThanThisProcess)
        #expect(code(#"{"seen":{},"managers":{}}"#) == .damagedStore)
        #expect(code(#"{"format":"1.0","seen":[],"managers":{}}"#) == .damagedStore)
    }
}
