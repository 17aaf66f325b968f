import Foundation
import SmallWorlds
import Testing

/// Holds the events of the small worlds against the functions that a manager has.
@Suite("The events of the small worlds", .timed)
struct WorldEventsTests {
    /// The events that call a function, or why none has to: by the function's name.
    private static let events: [String: String] = [
        "migrate": "launch, twice; through: inTwo and through; retrying: retrying",
        "runDeferred": "runDeferred; retrying: retrying",
        "skip": "call(.skip)",
        "rerun": "call(.rerun)",
        "rerunStep": "call(.rerun)",
        "rerunAllSteps": "call(.rerunAllSteps)",
        "removeRecord": "call(.removeRecord)",
        "replaceRecord": "call(.replaceRecord)",
    ]

    /// The functions that change nothing that is remembered.
    private static let reasons: [String: String] = [
        "whenMigratingToVersion": "registers, in memory: the steps and the move of an app",
        "afterMigratingToVersion": "registers, in memory: the deferred closures of an app",
        "whenVersionChanges": "registers, in memory: managers that have version changes",
        "pending": "reads",
        "pendingVersions": "reads",
        "pendingMoves": "reads",
        "pendingDeferred": "reads",
        "history": "reads",
        "seenVersions": "reads",
    ]

    @Test("call every public function of a manager that changes something")
    func functions() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources").standardized
        var found: Set<String> = []
        let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        for case let file as URL in try #require(files) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            // A file may declare other types, too: what is public in those has to be told apart by name.
            for declaration in text.split(separator: "\n}\n") {
                let isManager = declaration.contains(/(class|extension) MigrationManager\b/)
                guard isManager else { continue }
                for match in declaration.matches(of: /public func ([A-Za-z]+)/) {
                    found.insert(String(match.1))
                }
            }
        }
        #expect(
            found.contains("migrate") && found.contains("removeRecord")
                && found.contains("whenMigratingToVersion"))
        let known = Set(Self.events.keys).union(Self.reasons.keys)
        let unknown = found.subtracting(known).sorted()
        #expect(unknown == [], "Make an event of it in SmallEvent, or say why it changes nothing.")
    }
}
