import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("The checksum of a record's file", .timed)
struct RecordChecksumTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    /// A state with two managers, open and settled work, and a position.
    private static func state() throws -> StoreState {
        var state = StoreState()
        let date = Date(timeIntervalSince1970: 1_767_777_777)
        state.see("1.0", build: "17", in: "app", at: date)
        state.see("2.0", build: "29", in: "app", at: date)
        var record = MigrationRecord(start: "1.0")
        for version in ["1.1", "1.2", "2.0"] as [AppVersion] { record.settle(WorkID(version)) }
        record.settle(WorkID("1.3"), as: .skipped)
        record.changeOpen(WorkID("2.1")) { open in
            open.failures = 2
            open.position = StepPosition()
            open.position?.total = 40
        }
        (record.completed, record.highest) = ("2.0", "2.1")
        try state.setRecord(record, of: "Library")
        try state.setRecord(MigrationRecord(start: "1.0"), of: "Settings")
        return state
    }

    /// What the managers go by.
    private struct Meaning: Equatable {
        let records: [MigrationRecord?]
        let seen: [String: [SeenVersion]]
        let names: [String]

        init(_ state: StoreState) throws {
            records = try ["Library", "Settings"].map(state.record)
            seen = state.seen
            names = try state.managerNames
        }
    }

    @Test("finds each flipped bit that would make another record of it")
    func flippedBits() throws {
        let state = try Self.state()
        let (data, meaning) = (try state.json(), try Meaning(state))
        #expect(try Meaning(StoreState(json: data)) == meaning)
        var (refused, others): (Int, [String]) = (0, [])
        for index in data.indices {
            for bit in 0..<8 {
                var flipped = data
                flipped[index] ^= 1 << bit
                do {
                    if try Meaning(StoreState(json: flipped)) != meaning { others.append("\(index).\(bit)") }
                } catch let error as MigrationError {
                    #expect(error.code == .damagedStore)
                    refused += 1
                }
            }
        }
        #expect(others == [])
        // What is left are other names for the checksum's key.
        #expect(data.count * 8 - refused < 8 * 8)
    }

    @Test("finds a part of a file that is missing, doubled or from another one")
    func pieces() throws {
        let data = try Self.state().json()
        var other = try Self.state()
        try other.changeRecord(of: "Library") { $0?.settle(WorkID("2.1")) }
        let later = try other.json()
        for cut in stride(from: 60, to: min(data.count, later.count), by: 7) {
            for pieced in [
                data.prefix(cut) + later.dropFirst(cut), data.prefix(cut) + data.dropFirst(cut + 1),
            ]
            where pieced != data && pieced != later {
                #expect(throws: MigrationError.self, "\(cut)") { try StoreState(json: Data(pieced)) }
            }
        }
    }

    @Test("keeps a file that was edited by hand from being read, and says what to do")
    func edited() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try store.update("Library") { state in
            try state.setRecord(MigrationRecord(start: "1.0"), of: "Library")
        }
        let text = try String(contentsOf: url, encoding: .utf8)
        try text.replacing("\"start\" : \"1.0\"", with: "\"start\" : \"1.1\"")
            .write(to: url, atomically: true, encoding: .utf8)
        let error = try #require(throws: MigrationError.self) { try store.read("Library") }
        #expect(error.code == .damagedStore)
        #expect(
            error.message.contains("has changed since it was written: the checksum at its top differs")
        )
        #expect(error.remedy.contains("remove the line with the checksum"))

        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        #expect(lines[1].hasPrefix("  \"checksum\" : \""))
        try ([lines[0]] + lines[2...]).joined(separator: "\n").write(
            to: url, atomically: true, encoding: .utf8)
        #expect(try store.record(of: "Library")?.start == "1.1")
        // The next write brings it back.
        try store.update("Library") { _ in }
        #expect(try String(contentsOf: url, encoding: .utf8).contains("\"checksum\" : \""))
        #expect(try store.record(of: "Library")?.start == "1.1")
    }

    @Test("does not matter to a file that was only formatted anew, and is not kept in it twice")
    func formatted() throws {
        let state = try Self.state()
        let object = try JSONSerialization.jsonObject(with: state.json())
        let data = try JSONSerialization.data(withJSONObject: object)
        let read = try StoreState(json: data)
        #expect(try Meaning(read) == Meaning(state))
        #expect(try read.json() == state.json())
    }
}
