import Foundation

extension MigrationRecord {
    /// Reads a record from a store's document.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`, which names the field.
    init(_ field: JSONField) throws {
        self.init(floor: try field.field("floor").ifPresent?.version())
        settled = try field.field("settled").versions()
        owed = try field.field("owed").versions()
        failures =
            try field.field("failures").ifPresent?.byVersion { try $0.count(upTo: Self.maximumFailures) }
            ?? [:]
        deferred = try field.field("deferred").ifPresent?.byVersion(DeferredState.init) ?? [:]
        completed = try field.field("completed").ifPresent?.version()
        highest = try field.field("highest").ifPresent?.version()
        downgradedTo = try field.field("downgradedTo").ifPresent?.version()
        downgradedFrom = try field.field("downgradedFrom").ifPresent?.version()
        running = try field.field("running").ifPresent.flatMap(Running.init)
    }

    /// Counting ends here.
    static let maximumFailures = 1_000_000

    /// The record's fields, among those of an older one that this version does not know.
    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["floor"] = floor?.json
        fields["settled"] = settled.json
        fields["owed"] = owed.json
        fields["failures"] =
            failures.isEmpty
            ? nil
            : .object(
                Dictionary(uniqueKeysWithValues: failures.map { ($0.description, .integer(Int64($1))) }))
        fields["deferred"] = deferredJSON(replacing: old["deferred"])
        fields["completed"] = completed?.json
        fields["highest"] = highest?.json
        fields["downgradedTo"] = downgradedTo?.json
        fields["downgradedFrom"] = downgradedFrom?.json
        fields["running"] = running.map { running in
            var known: [String: JSONValue] = [:]
            if case .object(let fields) = old["running"] { known = fields }
            return .object(running.json(replacing: known))
        }
        return fields
    }

    private func deferredJSON(replacing old: JSONValue?) -> JSONValue? {
        guard !deferred.isEmpty else { return nil }
        var known: [String: JSONValue] = [:]
        if case .object(let fields) = old { known = fields }
        let states = deferred.map { version, state in
            var fields: [String: JSONValue] = [:]
            if case .object(let old) = known[version.description] { fields = old }
            return (version.description, JSONValue.object(state.json(replacing: fields)))
        }
        return .object(Dictionary(uniqueKeysWithValues: states))
    }
}

extension MigrationRecord.Running {
    /// Reads what was running; nil for work that only a newer version of the package knows.
    init?(_ field: JSONField) throws {
        let name = try field.field("work").ifPresent?.text()
        guard let work = name.map(MigrationRecord.Work.init) ?? .step else { return nil }
        self.init(
            work,
            version: try field.field("version").version(),
            remaining: try field.field("remaining").ifPresent?.count(upTo: .max),
            attempt: try field.field("attempt").count(upTo: Self.maximumAttempt),
            forgiven: try field.field("forgiven").ifPresent?.count(upTo: Self.maximumAttempt) ?? 0,
            build: try field.field("build").text(), since: try field.field("since").date())
    }

    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["work"] = work == .step ? nil : .string(work.rawValue)
        fields["version"] = version.json
        fields["remaining"] = remaining.map { .integer(Int64($0)) }
        fields["attempt"] = .integer(Int64(attempt))
        fields["forgiven"] = forgiven == 0 ? nil : .integer(Int64(forgiven))
        fields["build"] = .string(build)
        fields["since"] = .string(since.recordText)
        return fields
    }
}

extension AppVersion {
    fileprivate var json: JSONValue { .string(description) }
}

extension SortedSet<AppVersion> {
    fileprivate var json: JSONValue { .array(map(\.json)) }
}
