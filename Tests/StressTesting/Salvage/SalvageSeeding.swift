import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// The rows that the migrations of an app insert into its tables.
///
/// Each names the version that inserts it, and its number, as in `note#s2-17.`.
struct SalvageSeeding: Sendable {
    /// The number of rows that a version inserts into a table; 0 if none does.
    let count: Int
    /// The tables into which each version inserts rows; true for those whose ids are the next ones.
    private let tables: [Int: [String: Bool]]

    /// Lets the migrations of half of all databases insert rows, also into a table of their own.
    init(into tables: inout [SalvageTable], _ random: inout RandomNumbers) {
        guard random.chance(50) else {
            (count, self.tables) = (0, [:])
            return
        }
        if random.chance(60) { tables.append(.label) }
        count =
            random.chance(80)
            ? Int.random(in: 6...30, using: &random) : Int.random(in: 60...200, using: &random)
        var chosen: [Int: [String: Bool]] = [:]
        for version in 1...SalvageSchema.latest {
            for table in tables where table.seed != nil && random.chance(version == 1 ? 80 : 30) {
                let takesNext = version > 1 && table.takesNextIDs && Bool.random(using: &random)
                // Their parents may be deleted later.
                if version == 1 || table.mark != "child" {
                    chosen[version, default: [:]][table.mark] = takesNext
                }
            }
        }
        if chosen[1]?["child"] != nil { chosen[1]?["twin_a"] = false }
        self.tables = chosen
    }

    /// The last number of a row.
    var lastNumber: Int { count * SalvageSchema.latest }

    /// Returns the statements of a version.
    func statements(of version: Int, _ all: [SalvageTable]) -> [String] {
        let (first, last) = ((version - 1) * count + 1, version * count)
        return all.compactMap { table in
            guard let seed = table.seed, let takesNext = tables[version]?[table.mark] else { return nil }
            return """
                INSERT INTO \(table.name(at: version) ?? table.mark)\(seed) FROM (
                    SELECT i, \(takesNext ? "NULL" : "i") AS k, '\(table.mark)#s\(version)-' || i || '.' AS t FROM (
                        WITH RECURSIVE n(i) AS (SELECT \(first) UNION ALL SELECT i + 1 FROM n WHERE i < \(last))
                        SELECT i FROM n));
                """
        }
    }

    /// Returns the rows of new databases, by their versions.
    func rows(
        of schema: SalvageSchema, _ migrations: SalvageShape.Migrations
    ) throws -> [Int: SalvageSnapshot] {
        guard count > 0 else { return [:] }
        let queue = try DatabaseQueue()
        let migrator = try schema.migrator(migrations)
        var rows: [Int: SalvageSnapshot] = [:]
        for version in 1...SalvageSchema.latest {
            try migrator.migrate(queue, upTo: version)
            rows[version] = try queue.read { try SalvageSnapshot($0, schema.tables, at: version) }
        }
        return rows
    }

    /// Returns what a row says of its origin, as in `note#s2-17`; nil if no migration has inserted it.
    func mark(of row: SalvageRow, in table: String) -> Mark? {
        for case .text(let bytes) in row {
            let text = String(
                decoding: bytes.prefix { ![UInt8(ascii: "."), UInt8(ascii: ":")].contains($0) }, as: UTF8.self
            )
            guard text.hasPrefix("\(table)#") else { continue }
            let origin = text.dropFirst(table.count + 1)
            if table == "trail", let number = Int(origin) {
                // A trigger has made it when a migration has inserted the note.
                return number <= lastNumber ? Mark(name: text, version: (number - 1) / count + 1) : nil
            }
            let numbers = origin.dropFirst().split(separator: "-").map { Int($0) }
            // In a damaged text, they need not belong together.
            guard origin.hasPrefix("s"), numbers.count == 2, let version = numbers[0],
                let number = numbers[1],
                (number - 1) / count + 1 == version
            else { return nil }
            return Mark(name: text, version: version)
        }
        return nil
    }

    /// The origin of a row.
    struct Mark: Hashable {
        let name: String
        /// The version that has inserted it.
        let version: Int
    }
}
