import AppMigrations
import Foundation
import MigrationDiagnostics

/// The trial of one rule, in a folder of its own.
final class StoreTrial {
    let folder: URL
    let suite: StoreConformance
    /// What is being tried, as a message begins that tells what was thrown.
    var subject: String
    private(set) var violations: [String] = []
    private var first: (any MigrationStore)?
    private var second: (any MigrationStore)?

    init(of rule: StoreRule, folder: URL, suite: StoreConformance) {
        subject = rule.subject
        self.folder = folder
        self.suite = suite
    }

    /// The store.
    func store() throws -> any MigrationStore {
        if let first { return first }
        let store = try suite.make(folder)
        first = store
        return store
    }

    /// Asks those who must see the same, each with a name for it, until one of them sees what is wrong.
    func byEachView(_ body: (_ store: any MigrationStore, _ whose: String) throws -> Void) throws {
        let before = violations.count
        try body(try store(), "by the object that has written it")
        guard suite.lifetime == .place else { return }
        if violations.count == before { try body(try other(), "by an object that was made before") }
        if violations.count == before { try body(try suite.make(folder), "by an object that was made later") }
    }

    /// Another object on the same place, or the same one where there is no other.
    func other() throws -> any MigrationStore {
        guard suite.lifetime == .place else { return try store() }
        if let second { return second }
        let store = try suite.make(folder)
        second = store
        return store
    }

    func note(_ violation: String) {
        violations.append(violation.asSentence)
    }

    func expect(_ isKept: Bool, _ violation: @autoclosure () -> String) {
        if !isKept { note(violation()) }
    }

    /// Compares what was read, field by field.
    func expect(_ found: StoreState, is expected: StoreState, _ subject: String) {
        let differences = found.differences(from: expected)
        if !differences.isEmpty { note("\(subject): \(differences.asList)") }
    }
}

extension StoreState {
    /// What is not as expected, a clause for each field.
    func differences(from expected: StoreState) -> [String] {
        guard let record, let other = expected.record else {
            let difference =
                switch (record, expected.record) {
                case (nil, nil): nil as String?
                case (nil, _): "the record is missing"
                default: "there is a record, and none was written"
                }
            return [difference, seenDifference(from: expected)].compactMap { $0 }
        }
        let fields: [(String, Bool)] = [
            ("floor", record.floor == other.floor), ("settled", record.settled == other.settled),
            ("owed", record.owed == other.owed), ("completed", record.completed == other.completed),
            ("highest", record.highest == other.highest),
            ("downgradedTo", record.downgradedTo == other.downgradedTo),
            ("running", record.running == other.running),
        ]
        let wrong = fields.filter { !$0.1 }.map { "`\($0.0)`" }
        let difference =
            switch wrong.count {
            case 0: nil as String?
            case 1: "the record's field \(wrong.asList) is not what was written"
            default: "the record's fields \(wrong.asList) are not what was written"
            }
        return [difference, seenDifference(from: expected)].compactMap { $0 }
    }

    private func seenDifference(from expected: StoreState) -> String? {
        seen == expected.seen ? nil : "the versions seen are not what was written"
    }
}
