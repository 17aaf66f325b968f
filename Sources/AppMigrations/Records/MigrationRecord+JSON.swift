import Foundation

extension MigrationRecord {
    /// Reads a record from a store's document.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`, which names the field.
    init(_ field: JSONField) throws {
        self.init(start: try field.fieldIfPresent("start")?.version())
        let known = try field.field("work")
        let states = try known.object()
        reserve(states.count)
        for (key, state) in states {
            // Work of a kind that only a newer version of the package knows is left as it is.
            guard let id = try WorkID(key: key, in: known) else { continue }
            self[id] = try WorkState(settled: state) ?? .open(OpenWork(known.field(key)))
        }
        freshBuild = try field.fieldIfPresent("fresh")?.text()
        completed = try field.fieldIfPresent("completed")?.version()
        highest = try field.fieldIfPresent("highest")?.version()
        downgradedTo = try field.fieldIfPresent("downgradedTo")?.version()
        if let names = try field.fieldIfPresent("databases") {
            databases = Set(try names.list().map { try $0.text() })
        }
    }

    /// Returns the record's fields, among those of an older one that this version does not know.
    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["start"] = start?.json
        fields["work"] = .object(workFields(replacing: old["work"]))
        fields["fresh"] = freshBuild.map(JSONValue.string)
        fields["completed"] = completed?.json
        fields["highest"] = highest?.json
        fields["downgradedTo"] = downgradedTo?.json
        fields["databases"] =
            databases.isEmpty ? nil : .array(databases.sorted().map(JSONValue.string))
        return fields
    }

    private func workFields(replacing old: JSONValue?) -> [String: JSONValue] {
        let known = old.fields
        var fields = known.filter { WorkID.isUnknown(key: $0.key) }
        for (id, state) in work { fields[id.key] = state.json(replacing: known[id.key]) }
        return fields
    }
}

extension WorkID {
    /// The key under which a record keeps the work, as in `2.0` and `schema step 2.0`.
    var key: String { kind == .step ? "\(version)" : "\(kind.rawValue) \(version)" }

    /// Creates the work with a key; nil for a kind that only a newer version of the package knows.
    fileprivate init?(key: String, in field: JSONField) throws {
        guard let space = key.utf8.lastIndex(of: UInt8(ascii: " ")) else {
            self.init(try field.version(in: key))
            return
        }
        guard let kind = Kind(rawValue: String(key[..<space])) else { return nil }
        self.init(try field.version(in: String(key[key.index(after: space)...])), kind)
    }

    /// Returns true for the key of a kind that only a newer version of the package knows.
    fileprivate static func isUnknown(key: String) -> Bool {
        key.utf8.lastIndex(of: UInt8(ascii: " ")).map { Kind(rawValue: String(key[..<$0])) == nil } ?? false
    }
}

extension WorkState {
    /// Reads the state of work that has come to its end; nil for anything else.
    fileprivate init?(settled value: JSONValue) {
        switch value {
        case .string("done"): self = .done
        case .string("notNeeded"): self = .notNeeded
        case .string("skipped"): self = .skipped
        default: return nil
        }
    }

    fileprivate func json(replacing old: JSONValue?) -> JSONValue {
        switch self {
        case .done: return .string("done")
        case .notNeeded: return .string("notNeeded")
        case .skipped: return .string("skipped")
        case .open(let open): return .object(open.json(replacing: old.fields))
        }
    }
}

extension OpenWork {
    fileprivate init(_ field: JSONField) throws {
        if case .string(let word) = field.value { throw field.damage("\"\(word)\" is no state of work") }
        let limit = Self.maximumCount
        isOwed = try field.isTrue("owed")
        running = try field.fieldIfPresent("running").map { try Start($0) }
        deaths = try field.fieldIfPresent("deaths")?.count(upTo: limit) ?? 0
        forgiven = min(deaths, try field.fieldIfPresent("forgiven")?.count(upTo: limit) ?? 0)
        build = try field.fieldIfPresent("build")?.text()
        remaining = try field.fieldIfPresent("remaining")?.count(upTo: .max)
        failures = try field.fieldIfPresent("failures")?.count(upTo: limit) ?? 0
        lastFailure = try field.fieldIfPresent("lastFailure")?.text()
        isGivenUp = try field.isTrue("givenUp")
        position = try field.fieldIfPresent("position").map { try StepPosition($0) }
    }

    fileprivate func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        func count(_ number: Int) -> JSONValue? { number == 0 ? nil : .integer(Int64(number)) }
        var fields = old
        fields["owed"] = isOwed ? .bool(true) : nil
        fields["running"] = running.map { .object($0.json(replacing: fields["running"])) }
        fields["deaths"] = count(deaths)
        fields["forgiven"] = count(forgiven)
        fields["build"] = build.map(JSONValue.string)
        fields["remaining"] = remaining.map { .integer(Int64($0)) }
        fields["failures"] = count(failures)
        fields["lastFailure"] = lastFailure.map(JSONValue.string)
        fields["givenUp"] = isGivenUp ? .bool(true) : nil
        fields["position"] = position.map { .object($0.json(replacing: fields["position"])) }
        return fields
    }
}

extension OpenWork.Start {
    fileprivate init(_ field: JSONField) throws {
        self.init(
            build: try field.field("build").text(), since: try field.field("since").date(),
            isDeferred: try field.isTrue("deferred"))
    }

    fileprivate func json(replacing old: JSONValue?) -> [String: JSONValue] {
        var fields = old.fields
        fields["build"] = .string(build)
        fields["since"] = .string(since.recordText)
        fields["deferred"] = isDeferred ? .bool(true) : nil
        return fields
    }
}

extension StepPosition {
    fileprivate init(_ field: JSONField) throws {
        cursor = try field.fieldIfPresent("cursor")?.text()
        // Far above any real count, and far below where arithmetic overflows, in the 32 bits of watchOS too.
        let limit = Int.max / 2
        done = try field.field("done").count(upTo: limit)
        total = try field.fieldIfPresent("total")?.count(upTo: limit)
        setAside =
            try field.fieldIfPresent("setAside")?.list().map { try $0.list().map { try $0.text() } } ?? []
    }

    fileprivate func json(replacing old: JSONValue?) -> [String: JSONValue] {
        var fields = old.fields
        fields["cursor"] = cursor.map(JSONValue.string)
        fields["done"] = .integer(Int64(done))
        fields["total"] = total.map { .integer(Int64($0)) }
        fields["setAside"] =
            setAside.isEmpty ? nil : .array(setAside.map { .array($0.map(JSONValue.string)) })
        return fields
    }
}

extension JSONValue? {
    /// The fields of an object; none for anything else.
    fileprivate var fields: [String: JSONValue] {
        if case .object(let fields) = self { fields } else { [:] }
    }
}

extension AppVersion {
    fileprivate var json: JSONValue { .string(description) }
}
