import GRDB
import TestTraits
import Testing

@testable import MigrationTesting

@Suite("The comparison of an export", .timed)
struct ExportComparisonTests {
    private func database(at second: Int) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { try $0.execute(sql: "CREATE TABLE day(time); INSERT INTO day VALUES (\(second))") }
        return queue
    }

    @Test("takes a time for no difference, although two runs of the migrator fall into one second")
    func seconds() throws {
        var seconds = [1, 3]
        let differences = try ExportComparison.differences(of: database(at: 2), from: database(at: 1)) {
            try database(at: seconds.removeFirst())
        }
        #expect(differences == [])
    }

    @Test("names a value that is the same whenever the migrator runs, and another one after the files")
    func values() throws {
        let differences = try ExportComparison.differences(of: database(at: 2), from: database(at: 1)) {
            try database(at: 1)
        }
        #expect(
            differences == [
                "table `day` has 1 row after the files, 1 after the migrator, with other values"
            ])
    }
}
