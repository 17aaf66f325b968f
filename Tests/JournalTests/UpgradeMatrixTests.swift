import Foundation
import MigrationTesting
import SchemaMigrations
import Testing

@testable import Journal

@Suite("An upgrade matrix of Journal", .timed)
struct UpgradeMatrixTests {
    // snippet: begin
    @Test func everyShippedVersionUpgrades() throws {
        let schema = try SchemaMigrator(migrations: Migrations.all)
        let shipped = Release.all.map { MigrationKey($0.latestSchema) }
        // The index that release 2.1 has replaced.
        let dropped = RowCounts.unchanged(except: [.dropped("entry_search", by: 20241115090000000)])
        print(try UpgradeMatrix(of: schema, from: shipped, rowCounts: dropped).run())
    }
    // snippet: end

    @Test(
        "upgrades generated rows from every migration", arguments: 1...5 as ClosedRange<UInt64>
    )
    func everyMigration(seed: UInt64) throws {
        let schema = try SchemaMigrator(migrations: Migrations.all)
        let report = try UpgradeMatrix(
            of: schema, filledWith: .generatedRows(perTable: 50, seed: seed),
            rowCounts: .unchanged(except: [.dropped("entry_search", by: 20241115090000000)])
        ).run()
        #expect(report.upgrades.count == 7)
        #expect(report.upgrades.flatMap(\.notes) == [])
    }

    @Test("appears in the documentation exactly as here")
    func documentation() throws {
        let article = try String(
            contentsOf: packageRoot.appendingPathComponent(
                "Sources/MigrationTesting/MigrationTesting.docc/TestingUpgrades.md"), encoding: .utf8)
        let test = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let lines = test.components(separatedBy: "// snippet: ").dropFirst().first?
            .split(separator: "\n", omittingEmptySubsequences: false).dropFirst().dropLast()
            .map { $0.dropFirst(4) }
        let snippet = try #require(lines)
        #expect(snippet.count == 7)
        #expect(article.contains("```swift\n\(snippet.joined(separator: "\n"))\n```"))
    }
}
