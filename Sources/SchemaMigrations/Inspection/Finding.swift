import MigrationDiagnostics

/// One way in which a database is broken.
enum Finding {
    /// Rows that refer to rows that do not exist.
    case orphans(ForeignKey, count: Int)
    /// A foreign key that SQLite cannot check.
    case brokenKey(child: SQLName, reason: String)
    /// A foreign key that refers to a table that no longer exists.
    case cutKey(child: SQLName, parent: SQLName)
    /// A view or a trigger that does not compile.
    case brokenObject(BrokenObject)

    /// A clause that completes "leaves …".
    var description: String {
        switch self {
        case .orphans(let key, let count):
            """
            \(count) \(count == 1 ? "row" : "rows") of table \(key.child) whose \
            \(key.columns.map(\.text).joined(separator: ", ")) \(count == 1 ? "refers" : "refer") to no row of \
            \(key.parent)
            """
        case .brokenKey(let child, let reason): "a foreign key of table \(child) broken: \(reason)"
        case .cutKey(let child, let parent):
            "table \(child) with a foreign key to table \(parent), which no longer exists"
        case .brokenObject(let object):
            "\(object.identity.type) \(object.identity.name) broken: \(object.reason)"
        }
    }

    /// A likely reason, in a sentence.
    var hint: String? {
        if case .brokenObject(let object) = self { object.hint } else { nil }
    }

    /// The remedy: how to change the migration.
    var remedy: String {
        switch self {
        case .orphans: "Keep the rows that others refer to, or delete the rows that refer to them."
        case .brokenKey: "Make the foreign key refer to columns that are unique together."
        case .cutKey(let child, let parent):
            "Drop \(child) as well, or rebuild it without the key: every insert would fail without \(parent)."
        case .brokenObject: "Drop what uses the old names first, and create it again."
        }
    }
}

extension SchemaMigrationError {
    /// Creates an error for a problem that a migration has caused.
    init(_ finding: Finding, leftBy job: MigrationJob) {
        let remedies = [finding.hint, finding.remedy, MigrationJob.remedy]
        self.init(
            .migrationFailed, at: .file(job.title), "leaves \(finding.description)",
            remedy: remedies.compactMap(\.self).joined(separator: " "))
        version = job.version
    }
}
