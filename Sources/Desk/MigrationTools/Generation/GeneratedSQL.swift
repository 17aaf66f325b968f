import SchemaMigrations
import TextOutput

/// The text of a generated migration, as a person would write it.
package struct GeneratedSQL: Sendable {
    /// The statements, in paragraphs.
    package let text: String

    /// Writes statements for changes.
    package init(_ changes: [SchemaAlteration]) {
        var paragraphs: [(kind: String, lines: [String])] = []
        for change in changes {
            let (kind, lines) = Self.paragraph(change)
            if let last = paragraphs.last, last.kind == kind, lines.count == 1, !kind.isEmpty {
                paragraphs[paragraphs.count - 1].lines += lines
            } else {
                paragraphs.append((kind, lines))
            }
        }
        text = paragraphs.map { $0.lines.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    /// Returns the lines of a change, and the kind of changes that it can share a paragraph with.
    private static func paragraph(_ change: SchemaAlteration) -> (kind: String, lines: [String]) {
        switch change {
        case .renameTable(let table, let name):
            ("rename", ["ALTER TABLE \(table.plain) RENAME TO \(name.plain);"])
        case .renameColumn(let column, let table, let name):
            ("rename", ["ALTER TABLE \(table.plain) RENAME COLUMN \(column.plain) TO \(name.plain);"])
        case .drop(let object):
            ("drop", ["DROP \(object.type.uppercasedASCII) \(object.name.plain);"])
        case .dropColumn(let column, let table):
            ("alter \(table)", ["ALTER TABLE \(table.plain) DROP COLUMN \(column.plain);"])
        case .addColumn(_, let table, let definition):
            ("alter \(table)", ["ALTER TABLE \(table.plain) ADD COLUMN \(definition);"])
        case .create(let object): (object.sql.contains("\n") ? "" : object.type, [object.statement])
        case .proposal(let statement):
            ("proposal", ["-- To keep the values: \(statement.inOneLine)"])
        case .reindex(let table):
            ("reindex", ["INSERT INTO \(table.plain)(\(table.plain)) VALUES ('rebuild');"])
        case .configure(let statements): ("", statements)
        case .rebuild(let rebuild): ("", lines(of: rebuild))
        case .redefine(let object, let reasons, let isFilled):
            (
                "",
                ["-- \(object.name.text.inOneLine): \(reasons.joined(separator: ", ").inOneLine)."]
                    + (isFilled
                        ? ["-- The file before this one fills what is NULL.", "-- allow: new-not-null"] : [])
                    + [object.statement]
            )
        case .fill(let column, let table, let value):
            (
                "fill \(table)",
                ["UPDATE \(table.plain) SET \(column.plain) = \(value) WHERE \(column.plain) IS NULL;"]
            )
        }
    }

    private static func lines(of rebuild: TableRebuild) -> [String] {
        let (old, new) = (rebuild.oldName.plain, rebuild.temporaryName.plain)
        let rowID = rebuild.rowID.map { [$0.plain] } ?? []
        let columns = (rowID + rebuild.copies.map(\.column.plain)).joined(separator: ", ")
        let values = (rowID + rebuild.copies.map(\.expression)).joined(separator: ", ")
        var lines = [
            "-- Rebuild \(rebuild.table.text.inOneLine): \(rebuild.reasons.joined(separator: ", ").inOneLine)."
        ]
        lines.append(rebuild.sql.contains("--") ? "\(rebuild.sql)\n;" : "\(rebuild.sql);")
        if rebuild.keepsSequence {
            let (from, to) = (rebuild.oldName.literal, rebuild.temporaryName.literal)
            lines += [
                "-- No id is given twice.",
                "INSERT INTO sqlite_sequence(name, seq) SELECT \(to), seq FROM sqlite_sequence WHERE name = \(from);",
            ]
        }
        // A constraint with a conflict clause of its own could leave rows out (lang_conflict.html).
        let or = rebuild.sql.uppercasedASCII.contains("CONFLICT") ? " OR ABORT" : ""
        let insert = "INSERT\(or) INTO \(new)(\(columns))"
        let select = "SELECT \(values) FROM \(old);"
        lines += insert.count + select.count < 100 ? ["\(insert) \(select)"] : [insert, "    \(select)"]
        return lines + ["DROP TABLE \(old);", "ALTER TABLE \(new) RENAME TO \(rebuild.table.plain);"]
    }
}
