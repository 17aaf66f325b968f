import AppMigrations
import Foundation
import SchemaMigrations
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
            .damagedLedger, .deviceLocked, .diskFull, .locked, .suspended, .unmanagedDatabase, .differentSet,
            .editedMigration, .differentSchema, .noMigrations, .invalidMigration, .refusedStatement,
            .invalidSnapshot, .invalidRequest,
        ] as [SchemaMigrationError.Code]).map { ($0.description, $0.number) }

    @Test("is what the code says")
    func table() throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Sources/AppMigrations/AppMigrations.docc/ReportingFailures.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let sections = [("MigrationError", Self.codes), ("SchemaMigrationError", Self.schemaCodes)]
        for (type, codes) in sections {
            let rows = codes.map { name, number in
                let advice = RecoveryAdvice(forCode: name).localizedDescription
                return "| `\(name)` | \(number) | \(PersonText.text(forCode: name)) | \(advice) |"
            }
            let table =
                "`\(type)`:\n\n| code | number | the person reads | and is advised |\n| --- | --: | --- | --- |\n"
                + rows.joined(separator: "\n") + "\n"
            #expect(text.contains(table), "\(table)")
        }
        #expect(Set(Self.codes.map(\.1)).count == Self.codes.count)
        #expect(Set(Self.schemaCodes.map(\.1)).count == Self.schemaCodes.count)
    }
}
