import AppMigrations
import Foundation
import SchemaMigrations

extension FuzzTarget {
    /// SQL files: what is taken falls into statements that are statements by themselves as well.
    static let scripts = FuzzTarget(
        name: "scripts",
        seeds: [
            "CREATE TABLE a(x TEXT DEFAULT ';');\n-- b;\nINSERT INTO a VALUES ('it''s');",
            "-- migrations: transaction=none\nVACUUM;",
            "-- migrations: foreign-keys=immediate\nSELECT [;], `;`, \";\", x'00';",
            "PRAGMA foreign_keys = OFF;\nDROP TABLE a;\nPRAGMA foreign_keys = ON;\n",
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = CASE WHEN 1 THEN 2 END; END; SELECT 1;",
            "BEGIN; COMMIT;", "SELECT 1 /* ; ",
            "\u{FEFF}SELECT 1;\r\n--\r\nEXPLAIN QUERY PLAN SELECT $a::b(c), @x, :y, ?1;",
        ]
    ) { bytes in
        guard let script = try reading(bytes) else { return }
        let contents = Array(script.sql.utf8)
        var end = 0
        var line = 1
        for statement in script.statements {
            try expect(
                statement.range.lowerBound >= end && !statement.range.isEmpty
                    && statement.range.upperBound <= contents.count,
                "\(script.sql.debugDescription) has a statement at \(statement.range), after \(end)")
            line += contents[end..<statement.range.lowerBound].count { $0 == UInt8(ascii: "\n") }
            try expect(
                statement.line == line, "\(script.sql.debugDescription): line \(statement.line), not \(line)")
            line += contents[statement.range].count { $0 == UInt8(ascii: "\n") }
            end = statement.range.upperBound
            // Alone it may be refused, as a pragma is that stands at the start and at the end of a file.
            guard let alone = try reading(Array(contents[statement.range])) else { continue }
            try expect(
                alone.statements.count == 1,
                "\(script.sql.debugDescription) at \(statement.range) is \(alone.statements.count) statements"
            )
        }
        // White space and comments at the end do not count as an edit.
        if let longer = try reading(bytes + Array("\n-- \n /**/ ".utf8)) {
            try expect(longer.checksum == script.checksum, "\(script.sql.debugDescription) has two checksums")
        }
    }

    private static func reading(_ bytes: [UInt8]) throws -> SQLScript? {
        do {
            return try SQLScript(Data(bytes), fileName: "1.sql")
        } catch is MigrationError {
            return nil
        }
    }
}
