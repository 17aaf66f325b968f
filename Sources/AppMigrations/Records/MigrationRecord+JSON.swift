import Foundation
import MigrationDiagnostics

extension MigrationRecord {
    /// Reads a record from a store's document.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`, which names the field.
    init(_ field: JSONField) throws {
        self.init(start: try field.versionIfPresent("start"))
        for (name, state) in Self.lists {
            // This one is always there, or a record that has lost its fields would be taken for one of nothing.
            let list = try name == "done" ? field.field(name) : field.fieldIfPresent(name)
            guard let list else { continue }
            let keys = try list.texts()
            reserve(keys.count)
            for key in keys { try add(key, in: list) { state } }
        }
        if let open = try field.fieldIfPresent("open") {
            for key in try open.object().keys {
                try add(key, in: open) { try .open(OpenWork(open.field(key))) }
            }
        }
        freshBuild = try field.textIfPresent("fresh")
        began = try field.versionIfPresent("began")
        isInOldInstall = try field.isTrue("inOldInstall")
        completed = try field.versionIfPresent("completed")
        highest = try field.versionIfPresent("highest")
        downgradedTo = try field.versionIfPresent("downgradedTo")
        databases = try field.fieldIfPresent("databases")?.list().map(KnownDatabase.init) ?? []
        store = try field.textIfPresent("store")
    }

    /// Returns the record's fields, among those of an older one that this version does not know.
    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["start"] = start?.json
        for (name, state) in Self.lists {
            let keys = keys(of: state, replacing: old[name])
            fields[name] = keys.isEmpty && name != "done" ? nil : .array(keys.map(JSONValue.string))
        }
        fields["open"] = openFields(replacing: old["open"])
        fields["fresh"] = freshBuild.map(JSONValue.string)
        fields["began"] = began?.json
        fields["inOldInstall"] = isInOldInstall ? .bool(true) : nil
        fields["completed"] = completed?.json
        fields["highest"] = highest?.json
        fields["downgradedTo"] = downgradedTo?.json
        fields["databases"] = databaseFields(replacing: old["databases"])
        fields["store"] = store.map(JSONValue.string)
        return fields
    }

    /// The lists of settled work.
    private static let lists: KeyValuePairs<String, WorkState> = [
        "done": .done, "notNeeded": .notNeeded, "skipped": .skipped,
    ]

    /// Adds work with its state, if this version of the package knows its kind.
    @inline(never)
    private mutating func add(_ key: String, in field: JSONField, _ state: () throws -> WorkState) throws {
        guard let id = try WorkID(key: key, in: field) else { return }
        guard insert(id, try state()) else { throw field.damage("\(key) has two states") }
    }

    private func keys(of state: WorkState, replacing old: JSONValue?) -> [String] {
        var keys = work.filter { $0.value == state }.map(\.key).inOrder().map(\.key)
        if case .array(let known) = old {
            for case .string(let key) in known where WorkID.isUnknown(key: key) { keys.append(key) }
        }
        return keys
    }

    private func databaseFields(replacing old: JSONValue?) -> JSONValue? {
        if databases.isEmpty { return nil }
        let known: [JSONValue] = if case .array(let entries) = old { entries } else { [] }
        return .array(
            databases.map { database in
                let entry = known.first { entry in
                    if case .string(database.id) = Optional(entry).fields["id"] { true } else { false }
                }
                return .object(database.json(replacing: entry.fields))
            })
    }

    private func openFields(replacing old: JSONValue?) -> JSONValue? {
        let known = old.fields
        var fields = known.filter { WorkID.isUnknown(key: $0.key) }
        for case (let id, .open(let open)) in work {
            fields[id.key] = .object(open.json(replacing: known[id.key].fields))
        }
        return fields.isEmpty ? nil : .object(fields)
    }
}

extension WorkID {
    /// The key under which a record keeps the work, as in `2.0` and `schema step 2.0`.
    var key: String { kind == .step ? version.description : "\(kind.rawValue) \(version)" }

    /// Creates the work with a key; nil for a kind that only a newer version of the package knows.
    fileprivate init?(key: String, in field: JSONField) throws {
        // A version begins with a digit, and a kind with a letter.
        guard key.utf8.first?.isDigit == false, let space = key.utf8.lastIndex(of: UInt8(ascii: " ")) else {
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

extension OpenWork {
    fileprivate init(_ field: JSONField) throws {
        let limit = Self.maximumCount
        isOwed = try field.isTrue("owed")
        isAgain = try field.isTrue("again")
        running = try field.fieldIfPresent("running").map { try Start($0) }
        deaths = try field.countIfPresent("deaths", upTo: limit) ?? 0
        forgiven = min(deaths, try field.countIfPresent("forgiven", upTo: limit) ?? 0)
        build = try field.textIfPresent("build")
        remaining = try field.countIfPresent("remaining", upTo: .max)
        failures = try field.countIfPresent("failures", upTo: limit) ?? 0
        lastFailure = try field.textIfPresent("lastFailure")
        position = try field.fieldIfPresent("position").map { try StepPosition($0) }
    }

    fileprivate func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        func count(_ number: Int) -> JSONValue? { number == 0 ? nil : .integer(Int64(number)) }
        var fields = old
        fields["owed"] = isOwed ? .bool(true) : nil
        fields["again"] = isAgain ? .bool(true) : nil
        fields["running"] = running.map { .object($0.json(replacing: fields["running"])) }
        fields["deaths"] = count(deaths)
        fields["forgiven"] = count(forgiven)
        fields["build"] = build.map(JSONValue.string)
        fields["remaining"] = remaining.map { .integer(Int64($0)) }
        fields["failures"] = count(failures)
        fields["lastFailure"] = lastFailure.map(JSONValue.string)
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
        cursor = try field.textIfPresent("cursor")
        // Far above any real count, and far below where arithmetic overflows, in the 32 bits of watchOS too.
        let limit = Int.max / 2
        done = try field.field("done").count(upTo: limit)
        total = try field.countIfPresent("total", upTo: limit)
        setAside =
            try field.fieldIfPresent("setAside")?.list().map { try $0.texts() } ?? []
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
