import AppMigrations
import Foundation
import SchemaMigrations
import TestTraits
import Testing

@Suite("The table of codes in the documentation", .timed)
struct FailureTableTests {
    private static let codes: [(String, Int)] =
        ([
            .stepFailed, .gaveUp, .undecided, .tooOld, .newerThanThisProcess, .notYetMigrated,
            .unreadableStore,
            .unwritableStore, .damagedStore, .newerFormat, .unusableDatabase, .twoRecords, .deviceLocked,
            .diskFull, .locked, .readOnly, .postponed, .suspended, .invalidRegistration,
            .invalidConfiguration, .invalidCall,
        ] as [MigrationError.Code]).map { ($0.description, $0.number) }
    private static let schemaCodes: [(String, Int)] =
        ([
            .migrationFailed, .backupFailed, .databaseFailed, .damagedDatabase, .newerDatabase, .twoDatabases,
            .missingDatabase,
            .damagedLedger, .deviceLocked, .diskFull, .locked, .suspended, .tooOld, .unmanagedDatabase,
            .differentSet,
            .editedMigration, .differentSchema, .noMigrations, .invalidMigration, .refusedStatement,
            .invalidSnapshot, .invalidRequest,
        ] as [MigrationError.Code]).map { ($0.description, $0.number) }

    @Test("is what the code says")
    func table() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/AppMigrations/AppMigrations.docc/ReportingFailures.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        var shown: [String: (codes: [String], schemaCodes: [String])] = [:]
        for (name, number) in Self.codes {
            shown[Self.advice(name), default: ([], [])].codes.append("`\(name)` \(number)")
        }
        for (name, number) in Self.schemaCodes {
            shown[Self.advice(name), default: ([], [])].schemaCodes.append("`\(name)` \(number)")
        }
        let rows = shown.map { advice, codes in
            let cells = [codes.codes, codes.schemaCodes].map { $0.sorted().joined(separator: ", ") }
            return "| \(advice) | \(cells[0]) | \(cells[1]) |"
        }
        let lines = text.split(separator: "\n").map(String.init)
        let header = "| the person is advised | `MigrationError` | `SchemaMigrationError` |"
        let start = try #require(lines.firstIndex(of: header)) + 2
        let table = lines[start...].prefix { $0.hasPrefix("| ") }
        #expect(table.map(Self.sorted).sorted() == rows.sorted())
        #expect(Set(Self.codes.map(\.1)).count == Self.codes.count)
        #expect(Set(Self.schemaCodes.map(\.1)).count == Self.schemaCodes.count)
    }

    /// What a person is advised to do for a code.
    private static func advice(_ code: String) -> String {
        RecoveryAdvice(forCode: code).localizedDescription
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
