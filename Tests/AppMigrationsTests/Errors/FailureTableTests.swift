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
        let shown = Dictionary(grouping: Self.codes) { code in
            MigrationError(code, "failed", remedy: "Wait.").advice.localizedDescription
        }
        let rows = shown.map { advice, codes in
            "| \(advice) | \(codes.map { "`\($0)` \($0.number)" }.sorted().joined(separator: ", ")) |"
        }
        let table = try Self.table("| the person is advised | codes |")
        #expect(table.map(Self.sorted).sorted() == rows.sorted())
        #expect(Set(Self.codes.map(\.number)).count == Self.codes.count)
    }

    @Test("says which causes count before the code")
    func causes() throws {
        let damaged = MigrationError(.damagedDatabase, "is damaged", remedy: "Repair it.")
        let advices = Set(
            Self.codes.map {
                MigrationError($0, "failed", remedy: "Wait.", underlyingError: damaged).advice
            })
        #expect(advices == [.repair])
        var repeated = MigrationError(.stepFailed, "failed", remedy: "Wait.")
        repeated.isRepeated = true
        let refused = MigrationError(
            .databaseFailed, "failed", remedy: "Wait.", underlyingError: POSIXError(.EACCES))
        #expect(
            try Self.table("| cause | the person is advised |") == [
                "| a database is damaged, whatever the code | \(damaged.advice.localizedDescription) |",
                "| `stepFailed` for the second time in the same way, in one build of the app | "
                    + "\(repeated.advice.localizedDescription) |",
                "| `databaseFailed`, because the system refuses the file | "
                    + "\(refused.advice.localizedDescription) |",
            ])
    }

    /// The rows below a heading in the article.
    private static func table(_ heading: String) throws -> [String] {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/AppMigrations/AppMigrations.docc/ReportingFailures.md")
        let lines = try String(contentsOf: article, encoding: .utf8).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex(of: heading)) + 2
        return Array(lines[start...].prefix { $0.hasPrefix("| ") })
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
