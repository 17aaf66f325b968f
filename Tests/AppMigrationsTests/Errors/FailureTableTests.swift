import AppMigrations
import Foundation
import TestTraits
import Testing

@Suite("The table of codes in the documentation", .timed)
struct FailureTableTests {
    private static let codes: [MigrationError.Code] = [
        .misuse, .invalidMigration, .stepFailed, .gaveUp, .undecided, .tooOld, .newerThanThisProcess,
        .notYetMigrated,
        .differentSchema, .twoPlaces, .unreadableStore, .damagedStore, .databaseFailed, .damagedDatabase,
        .deviceLocked, .diskFull, .locked, .unwritable, .postponed, .suspended,
    ]

    @Test("is what the code says")
    func table() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/AppMigrations/AppMigrations.docc/ReportingFailures.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let shown = Dictionary(grouping: Self.codes) { RecoveryAdvice($0).localizedDescription }
        let rows = shown.map { advice, codes in
            "| \(advice) | \(codes.map { "`\($0)` \($0.number)" }.sorted().joined(separator: ", ")) |"
        }
        let lines = text.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex(of: "| the person is advised | codes |")) + 2
        let table = lines[start...].prefix { $0.hasPrefix("| ") }
        #expect(table.map(Self.sorted).sorted() == rows.sorted())
        #expect(Set(Self.codes.map(\.number)).count == Self.codes.count)
    }

    /// A row of the table with the codes of each cell in alphabetical order.
    private static func sorted(_ row: String) -> String {
        let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
        let codes = cells.dropFirst().map {
            $0.components(separatedBy: ", ").sorted().joined(separator: ", ")
        }
        return "| \(([cells[0]] + codes).joined(separator: " | ")) |"
    }
}
