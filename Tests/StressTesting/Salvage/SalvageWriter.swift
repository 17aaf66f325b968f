import GRDB
import MigrationTesting
import MigrationTools

/// Writes rows as the users of an app do.
struct SalvageWriter {
    let shape: SalvageShape
    let tables: [SalvageTable]
    var random: RandomNumbers
    /// The version of the schema.
    var version = 1
    var nextID = 1

    /// Inserts so many rows into each table.
    mutating func fill(_ db: Database, _ count: Int) throws {
        for table in tables { try insert(count, into: table, db) }
        nextID += count
    }

    /// Inserts, changes and deletes rows of some tables, or of nearly all.
    mutating func change(_ db: Database) throws {
        let count = Int.random(in: 3...max(4, shape.scale / 4), using: &random)
        let share = random.pick([20, 40, 80])
        for table in tables where random.chance(share) {
            if random.chance(70) { try insert(count, into: table, db) }
            if random.chance(50) { try update(table, db, isInPlace: random.chance(50)) }
            if random.chance(50) { try delete(count, from: table, db) }
        }
        nextID += count
    }

    /// Changes rows that migrations have inserted, as far as the number of one.
    mutating func changeSeeds(upTo number: Int, _ db: Database) throws {
        for table in tables where number > 0 && random.chance(50) {
            guard let change = table.seedChange else { continue }
            try db.execute(sql: change, arguments: [number])
        }
    }

    /// Deletes most rows of a table, so that whole pages are free.
    mutating func deleteMany(_ db: Database) throws {
        try delete(shape.scale, from: random.pick(tables), db)
        if shape.vacuum == .incremental, random.chance(50) {
            try db.execute(sql: "PRAGMA incremental_vacuum(2)")
        }
    }

    private mutating func insert(_ count: Int, into table: SalvageTable, _ db: Database) throws {
        var writing = RowWriting(
            db: db, encoding: shape.encoding, pageSize: shape.pageSize, random: random)
        try table.insert(nextID..<nextID + count, at: version, &writing)
        random = writing.random
    }

    /// Changes some texts, without making them longer if asked to.
    mutating func update(_ table: SalvageTable, _ db: Database, isInPlace: Bool) throws {
        guard let text = table.text, let name = table.name(at: version) else { return }
        let new = isInPlace ? "replace(\(text), '.', ':')" : "\(text) || 'u'"
        try db.execute(sql: "UPDATE \(name) SET \(text) = \(new) WHERE \(range(of: table, shape.scale / 3))")
    }

    mutating func delete(_ count: Int, from table: SalvageTable, _ db: Database) throws {
        guard let name = table.name(at: version) else { return }
        try db.execute(sql: "DELETE FROM \(name) WHERE \(range(of: table, count))")
    }

    /// Returns the condition for neighboring rows.
    private mutating func range(of table: SalvageTable, _ count: Int) -> String {
        let (key, name) = (table.columns(at: version)[0], table.name(at: version) ?? table.mark)
        let offset = Int.random(in: 0...max(1, shape.scale / 2), using: &random)
        return """
            \(key) IN (SELECT \(key) FROM \(name) WHERE \(table.deletable) ORDER BY \(key) \
            LIMIT \(max(1, count)) OFFSET \(offset))
            """
    }
}
