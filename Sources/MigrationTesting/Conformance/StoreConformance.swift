public import AppMigrations
public import Foundation

/// Tests that a store keeps the rules of `MigrationStore`, whoever wrote it.
///
/// A few lines in a test, with Swift Testing or XCTest:
///
/// ```swift
/// @Test func storeKeepsTheRules() throws {
///     try StoreConformance { folder in
///         try JSONStore(at: folder.appendingPathComponent("records.json"))
///     }.check()
/// }
/// ```
///
/// A store that conforms to `HistoryStore` or `RecoverableStore` is held to their rules as well. That a change survives
/// a power cut, and that a lock dies with its process, no test in one process can tell.
public struct StoreConformance: Sendable {
    /// How long what a store keeps lasts.
    public enum Lifetime: Sendable {
        /// Another object on the same place finds it. The default.
        case place
        /// It ends with the object, as with a store in memory.
        case object
    }

    let lifetime: Lifetime
    let damage: (@Sendable (URL) throws -> Void)?
    let make: @Sendable (URL) throws -> any MigrationStore

    /// Creates a suite; ``check()`` runs it.
    ///
    /// - Parameters:
    ///   - lifetime: how long what the store keeps lasts.
    ///   - damage: spoils what the store has left in a folder, so that it cannot be understood any more; nil where that
    ///     is not to be tried.
    ///   - make: makes a store in a folder, which is empty at first. It is called several times with the same folder,
    ///     for stores that are open at once.
    public init(
        _ lifetime: Lifetime = .place, damage: (@Sendable (_ folder: URL) throws -> Void)? = nil,
        making make: @escaping @Sendable (_ folder: URL) throws -> any MigrationStore
    ) {
        self.lifetime = lifetime
        self.damage = damage
        self.make = make
    }

    /// Tries every rule, each in a folder of its own.
    ///
    /// - Throws: ``StoreConformanceError``, which tells in words every rule that is broken, and not only the first.
    public func check() throws {
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
                // A store that remembers what it has read has something to remember now.
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
