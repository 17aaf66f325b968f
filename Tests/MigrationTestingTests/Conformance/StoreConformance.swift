import AppMigrations
import Foundation

/// Tests that a store obeys the rules of `RecordStorage`.
///
/// Call it from a test, with Swift Testing or XCTest:
///
/// ```swift
/// @Test func storeKeepsTheRules() throws {
///     try StoreConformance { folder in
///         try JSONStore(at: folder.appendingPathComponent("records.json"))
///     }.check()
/// }
/// ```
///
/// The suite also tests `history(_:)` and `setAside(replacingWith:)` if the store implements them. It
/// runs in one process, so it cannot test that a change survives a power cut or that a lock ends with its
/// process.
struct StoreConformance: Sendable {
    /// The lifetime of a store's contents.
    enum Lifetime: Sendable {
        /// The contents stay in the place: another object on the same place finds them.
        ///
        /// The default.
        case place
        /// The contents end with the object, as in a store in memory.
        case object
    }

    let lifetime: Lifetime
    let damage: (@Sendable (URL) throws -> Void)?
    let make: @Sendable (URL) throws -> any RecordStorage

    /// Creates a suite; ``check()`` runs it.
    ///
    /// - Parameters:
    ///   - lifetime: the lifetime of the store's contents.
    ///   - damage: makes the store's files in a folder unreadable for the store; nil to skip the tests of
    ///     damage.
    ///   - make: makes a store in a folder, which is empty at first. The suite calls it several times with
    ///     the same folder, for stores that are open at once.
    init(
        _ lifetime: Lifetime = .place, damage: (@Sendable (_ folder: URL) throws -> Void)? = nil,
        making make: @escaping @Sendable (_ folder: URL) throws -> any RecordStorage
    ) {
        self.lifetime = lifetime
        self.damage = damage
        self.make = make
    }

    /// Tests every rule, each in its own folder.
    ///
    /// - Throws: ``StoreConformanceError``, which describes every broken rule, not only the first.
    func check() throws {
        var violations: [String] = []
        var name = "The store"
        for rule in StoreRule.all {
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("StoreConformance-\(UUID().uuidString)", isDirectory: true)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let trial = StoreTrial(of: rule, folder: folder, suite: self)
            do {
                name = try trial.store().name
                // Fill the cache of a store that has one.
                _ = (try trial.store().read("Library"), try trial.other().read("Library"))
                try rule.check(trial)
            } catch {
                trial.note("\(trial.subject) throws: \(error)")
            }
            violations += trial.violations.filter { !violations.contains($0) }
        }
        guard violations.isEmpty else { throw StoreConformanceError(store: name, violations: violations) }
    }
}
