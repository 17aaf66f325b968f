import Foundation

extension MigrationRecord {
    /// Reads a record from a store's document.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`, which names the field.
    init(_ field: JSONField) throws {
        self.init(floor: try field.field("floor").ifPresent?.version())
        settled = try field.field("settled").versions()
        owed = try field.field("owed").versions()
        if let known = try field.field("attempts").ifPresent { attempts = try Self.attempts(known) }
        if let known = try field.field("failures").ifPresent {
            failures = try known.byVersion { try $0.count(upTo: Self.maximumCount) }
        }
        if let known = try field.field("givenUp").ifPresent { givenUp = try known.versions() }
        if let known = try field.field("positions").ifPresent {
            positions = try known.byVersion(StepPosition.init)
        }
        completed = try field.field("completed").ifPresent?.version()
        highest = try field.field("highest").ifPresent?.version()
        downgradedTo = try field.field("downgradedTo").ifPresent?.version()
    }

    /// Reads the attempts, without those at work that only a newer version of the package knows.
    private static func attempts(_ field: JSONField) throws -> [Work: Attempt] {
        try field.object().keys.reduce(into: [:]) { attempts, key in
            guard let work = try Work(key: key, in: field) else { return }
            attempts[work] = try Attempt(field.field(key))
        }
    }

    /// Returns the record's fields, among those of an older one that this version does not know.
    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["floor"] = floor?.json
        fields["settled"] = settled.json
        fields["owed"] = owed.json
        fields["attempts"] = .object(attempts.map { ($0.key, $1.json) }, replacing: old["attempts"]) {
            (try? Work(key: $0, in: JSONField(value: nil, path: ""))) != nil
        }
        fields["failures"] = .object(
            failures.map { version, count in ("\(version)", { _ in .integer(Int64(count)) }) })
        fields["givenUp"] = givenUp.isEmpty ? nil : givenUp.json
        fields["positions"] = .object(positions.map { ("\($0)", $1.json) }, replacing: old["positions"])
        fields["completed"] = completed?.json
        fields["highest"] = highest?.json
        fields["downgradedTo"] = downgradedTo?.json
        return fields
    }
}

extension MigrationRecord.Work {
    /// The key under which a record keeps the attempts, as in `2.0` and `move 2.0`.
    fileprivate var key: String { kind == .step ? "\(version)" : "\(kind.rawValue) \(version)" }

    /// Creates the work with a key; nil for a kind that only a newer version of the package knows.
    fileprivate init?(key: String, in field: JSONField) throws {
        let parts = key.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.count == 1 ? Kind.step.rawValue : String(parts[0])
        guard let kind = Kind(rawValue: name) else { return nil }
        self.init(try field.version(in: parts.last.map(String.init) ?? ""), kind)
    }
}

extension MigrationRecord.Attempt {
    fileprivate init(_ field: JSONField) throws {
        let limit = MigrationRecord.maximumCount
        self.init(
            number: try field.field("attempt").count(upTo: limit),
            remaining: try field.field("remaining").ifPresent?.count(upTo: .max),
            build: try field.field("build").text(), since: try field.field("since").date())
        forgiven = try field.field("forgiven").ifPresent?.count(upTo: limit) ?? 0
        hasDied = try field.field("died").value == .bool(true)
    }

    fileprivate func json(replacing old: [String: JSONValue]) -> JSONValue {
        var fields = old
        fields["attempt"] = .integer(Int64(number))
        fields["forgiven"] = forgiven == 0 ? nil : .integer(Int64(forgiven))
        fields["died"] = hasDied ? .bool(true) : nil
        fields["remaining"] = remaining.map { .integer(Int64($0)) }
        fields["build"] = .string(build)
        fields["since"] = .string(since.recordText)
        return .object(fields)
    }
}

extension StepPosition {
    fileprivate init(_ field: JSONField) throws {
        cursor = try field.field("cursor").ifPresent?.text()
        // Far above any real count, and far below where arithmetic overflows, in the 32 bits of watchOS too.
        let limit = Int.max / 2
        done = try field.field("done").count(upTo: limit)
        total = try field.field("total").ifPresent?.count(upTo: limit)
        setAside =
            try field.field("setAside").ifPresent?.list().map { try $0.list().map { try $0.text() } } ?? []
    }

    fileprivate func json(replacing old: [String: JSONValue]) -> JSONValue {
        var fields = old
        fields["cursor"] = cursor.map(JSONValue.string)
        fields["done"] = .integer(Int64(done))
        fields["total"] = total.map { .integer(Int64($0)) }
        fields["setAside"] =
            setAside.isEmpty ? nil : .array(setAside.map { .array($0.map(JSONValue.string)) })
        return .object(fields)
    }
}

extension JSONValue {
    /// Creates an object from its fields, each of which is made from the old field of its name; nil if it has none.
    ///
    /// - Parameter isKnown: returns false for the names of old fields to keep.
    fileprivate static func object(
        _ fields: [(String, ([String: JSONValue]) -> JSONValue)], replacing old: JSONValue? = nil,
        isKnown: (String) -> Bool = { _ in true }
    ) -> JSONValue? {
        var known: [String: JSONValue] = [:]
        if case .object(let fields) = old { known = fields }
        var new = known.filter { !isKnown($0.key) }
        for (name, json) in fields {
            var old: [String: JSONValue] = [:]
            if case .object(let fields) = known[name] { old = fields }
            new[name] = json(old)
        }
        return new.isEmpty ? nil : .object(new)
    }
}

extension AppVersion {
    fileprivate var json: JSONValue { .string(description) }
}

extension SortedSet<AppVersion> {
    fileprivate var json: JSONValue { .array(map(\.json)) }
}
