import GRDB

/// The rows of a database that refer to rows that do not exist, counted.
struct ForeignKeyCheck {
    /// A reference between two tables.
    private struct Reference: Hashable {
        let child: String
        let parent: String
        let columns: [String]
    }

    private var counts: [Reference: Int] = [:]

    init(_ db: Database) throws {
        let tables = try String.fetchAll(
            db,
            sql:
                "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
        for table in tables {
            do {
                let violations = try db.foreignKeyViolations(in: table, in: "main")
                while let violation = try violations.next() {
                    let columns = try columns(of: violation, db)
                    let reference = Reference(
                        child: violation.originTable, parent: violation.destinationTable, columns: columns)
                    counts[reference, default: 0] += 1
                }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
                // A key that refers to columns without a unique index. SQLite cannot check it at all.
                counts[Reference(child: table, parent: error.message ?? "", columns: []), default: 0] += 1
            }
        }
    }

    var isClean: Bool { counts.isEmpty }

    /// A violation that there were fewer of, in words.
    func firstNew(since before: ForeignKeyCheck) -> String? {
        let new = counts.filter { $1 > before.counts[$0, default: 0] }
        guard
            let (reference, count) = new.min(by: {
                ($0.key.child, $0.key.parent) < ($1.key.child, $1.key.parent)
            })
        else { return nil }
        if reference.columns.isEmpty {
            return "a foreign key of table \(reference.child) broken: \(reference.parent)"
        }
        let added = count - before.counts[reference, default: 0]
        let columns = reference.columns.joined(separator: ", ")
        return """
            \(added) \(added == 1 ? "row" : "rows") of table \(reference.child) whose \(columns) \
            \(added == 1 ? "refers" : "refer") to no row of \(reference.parent)
            """
    }

    private func columns(of violation: ForeignKeyViolation, _ db: Database) throws -> [String] {
        let keys = try db.foreignKeys(on: violation.originTable, in: "main")
        return keys.first { $0.id == violation.foreignKeyId }?.originColumns ?? [
            "key \(violation.foreignKeyId)"
        ]
    }
}
