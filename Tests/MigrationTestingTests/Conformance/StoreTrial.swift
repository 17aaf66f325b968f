import AppMigrations
import Foundation
import MigrationDiagnostics
import TestSupport
import TextOutput

/// A test of one rule, in its own folder.
final class StoreTrial {
    let folder: URL
    let suite: StoreConformance
    /// The operation under test, with which a message about a thrown error begins.
    var subject: String
    private(set) var violations: [String] = []
    private var first: (any RecordStorage)?
    private var second: (any RecordStorage)?

    init(of rule: StoreRule, folder: URL, suite: StoreConformance) {
        subject = rule.subject
        self.folder = folder
        self.suite = suite
    }

    /// Returns the store, and opens it on the first call.
    func store() throws -> any RecordStorage {
        if let first { return first }
        let store = try suite.make(folder)
        first = store
        return store
    }

    /// Calls the body with each store object that must see the same contents, until one of them notes a
    /// violation.
    func byEachView(_ body: (_ store: any RecordStorage, _ whose: String) throws -> Void) throws {
        let before = violations.count
        try body(try store(), "by the object that has written it")
        guard suite.lifetime == .place else { return }
        if violations.count == before { try body(try other(), "by an object that was made before") }
        if violations.count == before { try body(try suite.make(folder), "by an object that was made later") }
    }

    /// Returns another object on the same place, or the same object if the contents end with it.
    func other() throws -> any RecordStorage {
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

    /// Compares a state's values for a manager with a sample, field by field.
    func expect(
        _ state: StoreState, of manager: String = "Library", is expected: StoreSample, _ subject: String
    ) throws {
        let differences = try StoreSample(state, of: manager).differences(from: expected)
        if !differences.isEmpty { note("\(subject): \(differences.asList)") }
    }

    /// Writes a sample by an update.
    func write(_ sample: StoreSample, of manager: String = "Library", to store: any RecordStorage) throws {
        try store.update(manager) { try sample.write(to: &$0, of: manager) }
    }
}
