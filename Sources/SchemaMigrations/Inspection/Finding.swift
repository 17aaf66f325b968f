import MigrationDiagnostics

/// One way in which a database is broken.
enum Finding: Hashable {
    /// Rows of a table that refer to rows that do not exist.
    case orphans(child: String, parent: String, columns: [String])
    /// A foreign key that SQLite cannot check.
    case brokenKey(child: String, reason: String)
    /// A view, or the triggers of a table, that do not compile.
    case brokenObject(name: String, reason: String, hint: String?)

    func isSameKind(as other: Finding) -> Bool {
        switch (self, other) {
        case (.orphans, .orphans), (.brokenKey, .brokenKey), (.brokenObject, .brokenObject): true
        default: false
        }
    }

    /// Returns a clause that completes "leaves …".
    func description(count: Int) -> String {
        switch self {
        case .orphans(let child, let parent, let columns):
            """
            \(count) \(count == 1 ? "row" : "rows") of table \(child) whose \(columns.joined(separator: ", ")) \
            \(count == 1 ? "refers" : "refer") to no row of \(parent)
            """
        case .brokenKey(let child, let reason): "a foreign key of table \(child) broken: \(reason)"
        case .brokenObject(let name, let reason, _): "\(name) broken: \(reason)"
        }
    }

    /// A likely reason, in a sentence.
    var hint: String? {
        if case .brokenObject(_, _, let hint) = self { hint } else { nil }
    }

    /// The remedy: how to change the migration.
    var remedy: String {
        switch self {
        case .orphans: "Keep the rows that others refer to, or delete the rows that refer to them."
        case .brokenKey: "Make the foreign key refer to columns that are unique together."
        case .brokenObject: "Drop what uses the old names first, and create it again."
        }
    }
}

extension SchemaMigrationError {
    /// Creates an error for a problem that a migration has caused.
    ///
    /// - Parameter count: the number of broken rows.
    init(_ finding: Finding, count: Int, leftBy job: MigrationJob) {
        let remedies = [finding.hint, finding.remedy, MigrationJob.remedy]
        self.init(
            .migrationFailed, at: .file(job.title), "leaves \(finding.description(count: count))",
            remedy: remedies.compactMap(\.self).joined(separator: " "))
        version = job.version
    }
}
