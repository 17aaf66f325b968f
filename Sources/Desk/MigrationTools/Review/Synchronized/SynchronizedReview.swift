import SchemaMigrations
import TextOutput

/// Finds what the tables of a synchronized database may not have, and what may not happen to them.
///
/// Devices with older releases send and receive rows for years. A record in which a required value is missing fails as a whole.
struct SynchronizedReview {
    private(set) var findings: [ReviewFinding] = []
    private let outline: ScriptOutline

    /// - Parameters:
    ///   - old: the tables that were synchronized before the file.
    ///   - all: the tables that are synchronized from this file on.
    init(
        _ outline: ScriptOutline, _ all: Set<SQLName>, old: Set<SQLName>, from before: ReviewedSchema,
        to after: ReviewedSchema
    ) {
        self.outline = outline
        for name in all.sorted() {
            let earlier = before.tables[name].flatMap { SynchronizedTable($0, in: before) }
            let later = after.tables[name].flatMap { SynchronizedTable($0, in: after) }
            let known = old.contains(name) ? earlier?.problems ?? [] : []
            for problem in later?.problems ?? [] where !known.contains(problem) {
                report(problem.rule, at: name, problem.sentence)
            }
            guard let earlier else { continue }
            reviewChanges(from: earlier, to: later)
            reviewUpdates(of: name)
        }
    }

    private mutating func reviewChanges(from earlier: SynchronizedTable, to later: SynchronizedTable?) {
        let title = "Table \(earlier.name.text.quoted)"
        guard let later else {
            return report(
                .syncedChange, at: earlier.name,
                "\(title) is gone: devices with older releases go on sending its rows.")
        }
        for column in earlier.layout.columns {
            let words = "Column \(column.name.text.quoted) of table \(earlier.name.text.quoted)"
            guard let new = later.layout.column(named: column.name) else {
                report(
                    .syncedChange, at: earlier.name,
                    "\(words) is gone: devices with older releases go on sending its values.")
                continue
            }
            guard new.type != column.type else { continue }
            report(
                .syncedChange, at: earlier.name,
                "\(words) is \(new.type.orNothing) and was \(column.type.orNothing): the record keeps its first type."
            )
        }
        for column in later.columnsThatRejectNull where column.isNew(since: earlier) {
            report(
                .syncedNotNull, at: earlier.name,
                """
                Column \(column.name.text.quoted) of table \(earlier.name.text.quoted) is NOT NULL: a row from a device with an \
                older release has no value there, and is rejected as a whole.
                """)
        }
    }

    private mutating func reviewUpdates(of table: SQLName) {
        for statement in outline.statements where statement.updatedTable == table {
            report(
                .syncedUpdate, statement,
                """
                Rows of table \(table.text.quoted) are changed once: each device changes its own, sends nothing, and goes on \
                receiving rows in the old form from older releases.
                """)
        }
    }

    private mutating func report(_ rule: ReviewRule, at table: SQLName, _ problem: String) {
        let statement =
            outline.statement(shaping: table)
            ?? outline.statements.first { $0.mentions(table) }
        report(rule, statement, problem)
    }

    private mutating func report(_ rule: ReviewRule, _ statement: ScriptOutline.Statement?, _ problem: String)
    {
        findings.append(
            ReviewFinding(
                file: outline.script.fileName, line: statement?.line ?? 1, rule: rule, problem: problem,
                reason: "\(problem) \(rule.remedy)"))
    }
}

extension ColumnOutline {
    /// Returns whether an earlier table has no such column, or lets it be null.
    fileprivate func isNew(since table: SynchronizedTable) -> Bool {
        !table.columnsThatRejectNull.contains { $0.name == name }
    }
}

extension String {
    fileprivate var orNothing: String { isEmpty ? "without a type" : self }
}
