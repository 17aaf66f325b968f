package import Foundation

/// The JSON in which records are kept.
///
/// A document holds one store's records and the versions that it has seen. Keys that it does not know, from a
/// newer minor format, stay as they are when it is written back.
package struct RecordDocument {
    private static let format = "1.0"

    private var root: [String: Any]
    /// What `root` says of the versions seen: all managers ask for it.
    private var seen: [String: [SeenVersion]] = [:]
    private let place: String

    /// Creates the document of a store that has never been used.
    ///
    /// - Parameter place: how messages call the store.
    package init(place: String) {
        self.place = place
        root = ["format": Self.format, "seen": [String: Any](), "managers": [String: Any]()]
    }

    /// Reads a document.
    ///
    /// - Throws: ``MigrationError``, `damagedStore` or `newerFormat`.
    package init(_ data: Data, place: String) throws {
        self.place = place
        guard !data.isEmpty else { throw Self.damage(place, "is empty") }
        guard String(validating: data, as: UTF8.self) != nil else {
            throw Self.damage(place, "is not UTF-8 text")
        }
        do {
            guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
                throw Self.damage(place, "is not a JSON object")
            }
            root = object
        } catch let error as MigrationError {
            throw error
        } catch {
            throw Self.damage(place, "is not valid JSON, or has been cut off", underlying: error)
        }
        try checkFormat()
        seen = try seenVersions()
    }

    private func checkFormat() throws {
        guard let format = root["format"] as? String,
            let major = format.split(separator: ".").first.flatMap({ Int($0) })
        else { throw damage("has no \"format\" such as \"\(Self.format)\"") }
        guard major <= 1 else {
            throw MigrationError(
                .newerFormat,
                "\(place) has format \(format); this version of AppMigrations reads \(Self.format).",
                remedy: "A newer version of the app wrote it: update the app.")
        }
    }

    // MARK: Reading

    /// What the document says that concerns one manager.
    package func state(of manager: String) throws -> StoreState {
        guard let object = try managers()[manager] else { return StoreState(seen: seen) }
        return StoreState(record: try record(object, at: "managers.\(manager)"), seen: seen)
    }

    /// The managers that have a record, by name.
    package var managerNames: [String] {
        get throws { try managers().keys.sorted() }
    }

    private func managers() throws -> [String: Any] {
        try value(root["managers"], at: "managers", "an object")
    }

    private func seenLines() throws -> [String: [Any]] {
        try value(root["seen"], at: "seen", "an object of lists")
    }

    private func seenVersions() throws -> [String: [SeenVersion]] {
        try seenLines().mapValues { line in try line.map(seenVersion) }
    }

    private func record(_ object: Any, at path: String) throws -> MigrationRecord {
        let fields: [String: Any] = try value(object, at: path, "an object")
        var record = MigrationRecord(floor: try optionalVersion(fields["floor"], at: "\(path).floor"))
        record.settled = try versions(fields["settled"], at: "\(path).settled")
        record.owed = try versions(fields["owed"], at: "\(path).owed")
        record.completed = try optionalVersion(fields["completed"], at: "\(path).completed")
        record.highest = try optionalVersion(fields["highest"], at: "\(path).highest")
        record.downgradedTo = try optionalVersion(fields["downgradedTo"], at: "\(path).downgradedTo")
        record.running = try fields["running"].map { try running($0, at: "\(path).running") }
        return record
    }

    private func running(_ object: Any, at path: String) throws -> MigrationRecord.Running {
        let fields: [String: Any] = try value(object, at: path, "an object")
        return MigrationRecord.Running(
            version: try version(fields["version"], at: "\(path).version"),
            attempt: try count(fields["attempt"], at: "\(path).attempt"),
            forgiven: try fields["forgiven"].map { try count($0, at: "\(path).forgiven") } ?? 0,
            build: try value(fields["build"], at: "\(path).build", "a text"),
            since: try date(fields["since"], at: "\(path).since"))
    }

    private func count(_ object: Any?, at path: String) throws -> Int {
        let count: Int = try value(object, at: path, "a whole number")
        guard (0...MigrationRecord.Running.maximumAttempt).contains(count) else {
            throw damage("is damaged at \(path): \(count) is out of range")
        }
        return count
    }

    private func seenVersion(_ object: Any) throws -> SeenVersion {
        let fields: [String: Any] = try value(object, at: "seen", "a list of objects")
        return SeenVersion(
            version: try version(fields["version"], at: "seen.version"),
            first: try date(fields["first"], at: "seen.first"))
    }

    private func versions(_ object: Any?, at path: String) throws -> Set<AppVersion> {
        let list: [Any] = try value(object, at: path, "a list of versions")
        return Set(try list.map { try version($0, at: path) })
    }

    private func optionalVersion(_ object: Any?, at path: String) throws -> AppVersion? {
        try object.map { try version($0, at: path) }
    }

    private func version(_ object: Any?, at path: String) throws -> AppVersion {
        let text: String = try value(object, at: path, "a version")
        do {
            return try AppVersion(parsing: text)
        } catch {
            throw damage("is damaged at \(path): \(error)")
        }
    }

    private func date(_ object: Any?, at path: String) throws -> Date {
        let text: String = try value(object, at: path, "a date")
        guard let date = try? Date(text, strategy: .iso8601) else {
            throw damage("is damaged at \(path): \"\(text)\" is not a date")
        }
        return date
    }

    private func value<Value>(_ object: Any?, at path: String, _ expected: String) throws -> Value {
        guard let value = object as? Value else {
            throw damage("is damaged at \(path): expected \(expected)")
        }
        return value
    }

    // MARK: Writing

    /// Replaces what concerns one manager, and keeps every key that this version does not know.
    package mutating func replaceState(of manager: String, with state: StoreState) throws {
        var managers = try managers()
        managers[manager] = state.record.map { record in
            merged(record, into: managers[manager] as? [String: Any] ?? [:])
        }
        root["managers"] = managers

        var lines = try seenLines()
        for (line, versions) in state.seen {
            let known = lines[line, default: []].count
            // A line only ever grows.
            lines[line, default: []] += versions.dropFirst(known).map { seen in
                ["version": seen.version.description, "first": seen.first.formatted(.iso8601)]
            }
        }
        root["seen"] = lines
        seen = try seenVersions()
    }

    private func merged(_ record: MigrationRecord, into object: [String: Any]) -> [String: Any] {
        var object = object
        object["floor"] = record.floor?.description
        object["settled"] = record.settled.sorted().map(\.description)
        object["owed"] = record.owed.sorted().map(\.description)
        object["completed"] = record.completed?.description
        object["highest"] = record.highest?.description
        object["downgradedTo"] = record.downgradedTo?.description
        object["running"] = record.running.map { running in
            var object = object["running"] as? [String: Any] ?? [:]
            object["version"] = running.version.description
            object["attempt"] = running.attempt
            object["forgiven"] = running.forgiven == 0 ? nil : running.forgiven
            object["build"] = running.build
            object["since"] = running.since.formatted(.iso8601)
            return object
        }
        return object
    }

    /// The document as text for machines and people: indented, its keys in a stable order.
    package func data() throws -> Data {
        var data = try JSONSerialization.data(
            withJSONObject: root, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        data.append(UInt8(ascii: "\n"))
        return data
    }

    // MARK: In rows

    /// A piece of the document, for stores that keep it in pieces.
    package struct Row: Hashable, Sendable {
        /// `format`, `seen` or `managers`.
        package let part: String
        /// The line or the manager; empty for the format.
        package let name: String
        /// The piece's JSON.
        package let value: String

        package init(part: String, name: String, value: String) {
            self.part = part
            self.name = name
            self.value = value
        }
    }

    /// Puts a document together from its pieces.
    ///
    /// No pieces are the document of a store never used.
    package init(rows: some Sequence<Row>, place: String) throws {
        self.init(place: place)
        var parts: [String: [String: Any]] = [:]
        for row in rows {
            guard
                let value = try? JSONSerialization.jsonObject(
                    with: Data(row.value.utf8), options: .fragmentsAllowed)
            else { throw Self.damage(place, "is damaged at \(row.part).\(row.name): not valid JSON") }
            parts[row.part, default: [:]][row.name] = value
        }
        root.merge(parts) { _, piece in piece }
        root["format"] = parts["format"].map { $0[""] as Any } ?? Self.format
        try checkFormat()
        seen = try seenVersions()
    }

    /// The pieces that concern one manager.
    package func rows(of manager: String) throws -> [Row] {
        var rows = [try row("format", "", root["format"])]
        rows += try seenLines().map { line, versions in try row("seen", line, versions) }
        if let record = try managers()[manager] { rows.append(try row("managers", manager, record)) }
        return rows
    }

    private func row(_ part: String, _ name: String, _ value: Any?) throws -> Row {
        let data = try JSONSerialization.data(
            withJSONObject: value ?? NSNull(),
            options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        return Row(part: part, name: name, value: String(decoding: data, as: UTF8.self))
    }

    // MARK: Damage

    private func damage(_ what: String) -> MigrationError {
        Self.damage(place, what)
    }

    private static func damage(
        _ place: String, _ what: String, underlying: (any Error)? = nil
    ) -> MigrationError {
        MigrationError(
            .damagedStore, "\(place) \(what)\(what.hasSuffix(".") ? "" : ".")",
            remedy:
                "Nothing was changed. Restore it from a backup, or start a new record that assumes a version.",
            underlyingError: underlying)
    }
}
