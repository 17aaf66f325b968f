import Foundation

/// The chief rows of the table as bars, for the README.
///
/// The bars of a row have one scale, that of the slower way; those of two rows cannot be compared.
struct Picture {
    /// A row of the table that is shown, and what it is called.
    private struct Subject {
        let title: String
        let what: String
        let size: String
        let against: String
        let rival: String
    }

    private static let subjects = [
        Subject(
            title: "Nothing pending in a schema of 100 files, compiled into the app",
            what: "nothing pending: schema, embedded, building the migrator included", size: "100 applied",
            against: "GRDB's migrator, building it included", rival: "GRDB's migrator"),
        Subject(
            title: "Nothing pending in a schema of 100 files, in a folder",
            what: "nothing pending: schema, from a folder, building the migrator included",
            size: "100 applied", against: "GRDB's migrator, building it included", rival: "GRDB's migrator"),
        Subject(
            title: "Nothing pending for 10 managers of 20 steps", what: "nothing pending: scheduler, JSON",
            size: "10 managers of 20 steps", against: "MFMigrationManager's way",
            rival: "MFMigrationManager's way"),
        Subject(
            title: "A whole launch: 5 managers, 2 databases", what: "the whole launch",
            size: "5 managers, 2 databases of 30 tables",
            against: "opening by GRDB and one SELECT each, and JSONSerialization of the record",
            rival: "opening and reading alone"),
        Subject(
            title: "Apply 100 small schema files", what: "apply small schema files, embedded",
            size: "100 files", against: "GRDB's migrator", rival: "GRDB's migrator"),
        Subject(
            title: "Apply 100 small schema files", what: "apply small schema files, embedded",
            size: "100 files", against: "the same SQL in one raw transaction", rival: "raw SQLite"),
        Subject(
            title: "Apply 100 small data files", what: "apply small data files, embedded",
            size: "100 files", against: "GRDB's migrator", rival: "GRDB's migrator"),
        Subject(
            title: "Change a million rows", what: "one big rewrite, with foreign keys",
            size: "1,000,000 rows", against: "raw SQLite, and one foreign_key_check",
            rival: "raw SQLite, and one foreign_key_check"),
        Subject(
            title: "20 files beside a million rows that they do not touch",
            what: "20 pending files beside rows with foreign keys that they do not touch",
            size: "1,000,000 rows", against: "GRDB's migrator, default checks", rival: "GRDB's migrator"),
    ]

    private let rows: [(subject: Subject, ours: Double, other: Double)]

    /// Picks the rows from a whole table.
    ///
    /// - Throws: an error that names a row that the table does not have.
    init(of table: [TableRow]) throws {
        rows = try Self.subjects.map { subject in
            let row = table.first {
                $0.what == subject.what && $0.size == subject.size && $0.against == subject.against
            }
            guard let times = row?.times else {
                throw CocoaError(
                    .coderValueNotFound,
                    userInfo: [
                        NSDebugDescriptionErrorKey:
                            "the table has no row “\(subject.what)”, \(subject.size), against \(subject.against)"
                    ])
            }
            return (subject, times.ours, times.other)
        }
    }

    /// The picture as SVG.
    var svg: String {
        let height = rows.count * Self.rowHeight + 56
        let bars = rows.enumerated().map { index, row in
            let top = 48 + index * Self.rowHeight
            let scale = max(row.ours, row.other)
            return """
                  <text x="24" y="\(top + 13)" font-weight="600">\(Self.escaped(row.subject.title))</text>
                \(Self.bar(top + 21, "AppMigrations", row.ours, of: scale, fill: "#0066cc"))
                \(Self.bar(top + 38, row.subject.rival, row.other, of: scale, fill: "#aeaeb2"))
                """
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 780 \(height)" width="780" height="\(height)" \
            role="img" font-family="-apple-system, 'Helvetica Neue', Helvetica, Arial, sans-serif" font-size="13" \
            fill="#1d1d1f">
              <title>How long AppMigrations and others take</title>
              <rect x="0.5" y="0.5" width="779" height="\(height - 1)" rx="8" fill="#ffffff" stroke="#d1d1d6"/>
              <text x="24" y="30" fill="#6e6e73">Medians of one run. Shorter is better; each pair has its own scale.</text>
            \(bars.joined(separator: "\n"))
            </svg>

            """
    }

    private static let rowHeight = 66
    private static let longest = 400.0

    private static func bar(_ top: Int, _ name: String, _ time: Double, of scale: Double, fill: String)
        -> String
    {
        let width = max(1, time / scale * longest)
        return """
              <text x="24" y="\(top + 11)" font-size="12" fill="#6e6e73">\(escaped(name))</text>
              <rect x="270" y="\(top)" width="\(String(format: "%.1f", width))" height="13" rx="2" fill="\(fill)"/>
              <text x="\(String(format: "%.1f", 278 + width))" y="\(top + 11)" font-size="12">\(time.asTime)</text>
            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
