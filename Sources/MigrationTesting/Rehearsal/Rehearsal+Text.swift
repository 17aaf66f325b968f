package import TextOutput

extension Rehearsal {
    /// The times, schema changes, rows, foreign keys and size as text, as `app-migrations rehearse` prints them.
    public var summary: String { text(calling: "The database", style: .plain) }

    /// The losses that a test should reject, one sentence each.
    ///
    /// A loss is a table that lost rows, whatever new ones it got, a column in which values became null or refer to other rows, or
    /// that is gone, a foreign key that more rows violate than before, or an `AUTOINCREMENT` sequence that went back. A column is not
    /// lost if another one got its values, or if a new column of its table has a value in each of its rows.
    ///
    /// ```swift
    /// let rehearsal = try schema.rehearse(path: "library.sqlite")
    /// #expect(rehearsal.losses == [])
    /// ```
    public var losses: [String] {
        let fewer = rows.compactMap { row -> String? in
            guard let before = row.before, before > row.after ?? 0 || row.gone > 0 else { return nil }
            guard let after = row.after else {
                return "table \(row.table.quoted) is gone, and had \(before.counting("row"))"
            }
            let gone =
                row.gone > before - after ? ", of which \(row.gone) \(row.gone == 1 ? "is" : "are") gone" : ""
            return "table \(row.table.quoted) has \(after.counting("row")), and had \(before)\(gone)"
        }
        let orphans = violations.filter { $0.after > $0.before }.map {
            """
            \($0.after.counting("row")) of table \($0.table.quoted) without a row of \($0.parent.quoted), \
            \($0.before) before
            """
        }
        let lost = values.filter { $0.lost > 0 || $0.refersToOtherRows }.map {
            "column \("\($0.table).\($0.column)".quoted) has changed: \($0.sentence)"
        }
        return fewer + lostColumns + lost + orphans + lostSequences
    }

    /// Returns the summary with the database's name, in colour on a terminal.
    package func text(calling name: String, style: Style) -> String {
        let count = undone.count + steps.count
        guard count > 0 else { return "Nothing is pending: there is nothing to rehearse." }
        var lines = [
            "\(style.heading(name)): \(count.counting("migration")) on a copy, in \(duration.asText)"
        ]
        var table = Table(.left, .right, .left, .right)
        for version in undone {
            table.add(
                .init(text: "↶", highlight: style.notable), .init(text: "\(version)"), .init(text: "undone"))
        }
        for step in steps {
            table.add(
                .init(text: "✓", highlight: style.good), .init(text: "\(step.version)"),
                .init(text: step.name),
                .init(text: step.duration.asText, highlight: style.faint))
        }
        lines += table.lines()
        lines += ["", style.heading("Schema")]
        lines += schemaChanges.isEmpty ? ["  unchanged"] : schemaChanges.map { "  \($0)" }
        lines += ["", style.heading("Rows")] + rowLines(style)
        if !values.isEmpty { lines += ["", style.heading("Values")] + valueLines(style) }
        lines += ["", style.heading("Foreign keys")]
        if violations.isEmpty { lines.append("  no row refers to a missing row") }
        lines += violations.map {
            "  \($0.table): \($0.after.counting("row")) without a row of \($0.parent), \($0.before) before"
        }
        if !unreadableRows.isEmpty {
            lines += ["", style.heading("Rows that types of old schemas cannot read")]
            lines += unreadableRows.map { "  \(style.bad($0.sentence))" }
        }
        lines += lostSequences.map { "  \(style.notable("warning:")) \($0)" }
        lines += warnings.map { "  \(style.notable("warning:")) \($0)" }
        lines += ["", style.heading("Size"), "  \(sizeBefore.asSize) → \(sizeAfter.asSize)"]
        lines.append("  at most \(sizeAtMost.asSize) meanwhile, with the journal and temporary files")
        return lines.joined(separator: "\n")
    }

    private func valueLines(_ style: Style) -> [String] {
        var table = Table(.left, .left)
        for value in values {
            var text = value.sentence
            if let example = value.example { text += ": " + example.inOneLine }
            let isLoss = value.lost > 0 || value.refersToOtherRows
            table.add(
                .init(text: "\(value.table).\(value.column)"),
                isLoss ? .init(text: text, highlight: style.bad) : .init(text: text))
        }
        return table.lines()
    }

    private func rowLines(_ style: Style) -> [String] {
        var counts = Table(.left, .right, .left, .right, .left)
        for row in rows {
            let isFewer = row.before.map { row.after ?? 0 < $0 } ?? false
            // Otherwise the numbers say it.
            let isExchange = row.gone > 0 && row.new > 0
            let words =
                (isFewer ? ["fewer"] : []) + (isExchange ? ["\(row.gone) gone", "\(row.new) new"] : [])
            counts.add(
                .init(text: row.table), .init(text: row.before.map(String.init) ?? "-"), .init(text: "→"),
                .init(text: row.after.map(String.init) ?? "-"),
                .init(text: words.joined(separator: ", "), highlight: style.bad))
        }
        return counts.lines()
    }
}

extension Rehearsal.ValueChange {
    /// The counts in a clause, such as `3 of 12 rows, 3 to NULL`.
    fileprivate var sentence: String {
        let count = "\(changed) of \(rows.counting("row"))"
        if refersToOtherRows { return "\(count) refer to another row" }
        return lost == 0 ? count : "\(count), \(lost) to NULL"
    }
}

extension Rehearsal.UnreadableRows {
    /// The count in a sentence, such as `entry.day at 20240110090000000: 3 rows do not hold a Date`.
    fileprivate var sentence: String {
        let verb = rows == 1 ? "does" : "do"
        let first = firstKey.map { $0.isEmpty ? "" : ", the first where \($0.inOneLine)" } ?? ""
        return "\(table).\(column) at \(version): \(rows.counting("row")) \(verb) not hold a \(type)\(first)"
    }
}
