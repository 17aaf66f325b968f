package import Foundation
import MigrationDiagnostics

/// An app version that a store has seen, and when it saw it first.
package struct SeenVersion: Sendable, Equatable {
    package let version: AppVersion
    /// The first build of the app with this version, such as `417`; nil if the process that came first knew none.
    package let build: String?
    package let first: Date
    /// True if evidence named the version, and no launch: the install is then an old one, even at the current version.
    package let isAdopted: Bool

    package init(version: AppVersion, build: String? = nil, first: Date, isAdopted: Bool = false) {
        self.version = version
        self.build = build
        self.first = first
        self.isAdopted = isAdopted
    }
}

/// A step that works in portions and is not complete.
package struct UnfinishedStep: Sendable {
    package let manager: String
    package let id: WorkID
    package let position: StepPosition
    /// How often it has failed.
    package let failures: Int
    /// How often the process has died in it, since it got further last.
    package let deaths: Int
    /// The start that has not come to an end: it is running, or the process died in it; nil if it is waiting.
    package let running: OpenWork.Start?

    package var version: AppVersion { id.version }
}

/// Everything that a ``MigrationStore`` remembers: as a JSON document, or in rows of a table.
///
/// Keys that a newer version of the package wrote are kept as they are. A store that has never been used is
/// `StoreState()`. A state holds what concerns *all* managers of a store, so that they share the app versions that the
/// store has seen.
package struct StoreState: Sendable {
    private static let format = "1.0"

    private var root: [String: JSONValue]

    /// The app versions that the store has seen, for all its managers, by line, each line in the order in which
    /// the versions came.
    ///
    /// Decoded once: every manager asks for it.
    package private(set) var seen: [String: [SeenVersion]] = [:]

    /// The steps that this change has settled, to append to the history; empty in a state that was read.
    package var newHistory: [SettledStep] = []

    /// Creates the state of a store that has never been used.
    package init() {
        root = ["format": .string(Self.format), "seen": .object([:]), "managers": .object([:])]
    }

    private init(root: [String: JSONValue]) throws {
        self.root = root
        try checkFormat()
        seen = try seenVersions()
    }

    private func checkFormat() throws {
        guard case .string(let format) = root["format"],
            let major = format.split(separator: ".").first.flatMap({ Int($0) })
        else { throw MigrationError.damagedStore("no \"format\" such as \"\(Self.format)\"") }
        guard major <= 1 else {
            throw MigrationError(
                .newerThanThisProcess,
                "format \(format) is newer than \(Self.format), which this version of AppMigrations reads",
                remedy: "A newer version of the app wrote it: update the app.")
        }
    }
}

// MARK: - Records and versions seen

extension StoreState {
    /// Identifies the place, wherever it lies: random, and written with its first record, or with the note that it has
    /// lost some; nil before that.
    package var id: String? {
        if case .string(let id) = root["id"] { id } else { nil }
    }

    /// Gives the place an id, unless it has one.
    private mutating func identify() {
        if id == nil { root["id"] = .string(UUID().uuidString) }
    }

    /// The record of one manager; nil if there is none.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package func record(of manager: String) throws -> MigrationRecord? {
        guard let value = try managers.object()[ManagerName(manager).key], !value.isRemovedRecord else {
            return nil
        }
        return try MigrationRecord(JSONField(value: value, path: "managers.\(manager)"))
    }

    /// Returns true if the app has removed the record of a manager, and with it the manager's data.
    package func hasRemovedRecord(of manager: String) throws -> Bool {
        try managers.object()[ManagerName(manager).key]?.isRemovedRecord ?? false
    }

    /// Puts a mark in the place of a manager's record: the manager's data is gone.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package mutating func removeRecord(of manager: String, at date: Date) throws {
        var managers = try managers.object()
        managers[ManagerName(manager).key] = .object([JSONValue.removed: .string(date.recordText)])
        root["managers"] = .object(managers)
    }

    /// Replaces the record of one manager, keeping the keys of the old one that this version does not know.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package mutating func setRecord(_ record: MigrationRecord?, of manager: String) throws {
        var managers = try managers.object()
        let key = ManagerName(manager).key
        var old: [String: JSONValue] = [:]
        if case .object(let fields) = managers[key] { old = fields }
        old[JSONValue.removed] = nil
        managers[key] = record.map { .object($0.json(replacing: old)) }
        root["managers"] = .object(managers)
        identify()
    }

    /// Changes the record of one manager.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`; what the change throws.
    package mutating func changeRecord(
        of manager: String, _ change: (inout MigrationRecord?) throws -> Void
    ) throws {
        let known = try record(of: manager)
        var record = known
        try change(&record)
        // The mark of a record that was removed stays.
        if known != nil || record != nil { try setRecord(record, of: manager) }
    }

    /// The names of the managers that have a record.
    package var managerNames: [String] {
        get throws { try managers.object().keys.map { ManagerName(key: $0).text }.inOrder() }
    }

    /// The steps of each manager that wait for a deferred run, or that have saved a checkpoint.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package func unfinishedSteps() throws -> [UnfinishedStep] {
        try managerNames.flatMap { manager in
            guard let record = try record(of: manager) else { return [UnfinishedStep]() }
            return record.positions.map { id, work, position in
                UnfinishedStep(
                    manager: manager, id: id, position: position, failures: work.failures,
                    deaths: work.deaths, running: work.running)
            }
        }
    }

    /// Notes a version that the store has seen, unless it knows it.
    ///
    /// - Parameters:
    ///   - build: the build of the app, if an app has launched the version.
    ///   - isAdopted: whether evidence has named it, and no launch.
    package mutating func see(
        _ version: AppVersion, build: String? = nil, in line: String, at date: Date, isAdopted: Bool = false
    ) {
        guard case .object(var lines) = root["seen"], !hasSeen(version, in: line, isAdopted: isAdopted) else {
            return
        }
        seen[line, default: []].append(
            SeenVersion(version: version, build: build, first: date, isAdopted: isAdopted))
        var entries: [JSONValue] = []
        if case .array(let known) = lines[line] { entries = known }
        var entry: [String: JSONValue] = [
            "version": .string("\(version)"), "first": .string(date.recordText),
        ]
        entry["build"] = build.map(JSONValue.string)
        if isAdopted { entry["adopted"] = .bool(true) }
        lines[line] = .array(entries + [.object(entry)])
        root["seen"] = .object(lines)
    }

    /// The versions that the store's data was assumed to be at when damaged contents were replaced, by line.
    package var assumptions: [String: AppVersion] {
        get throws {
            guard let replaced = root["replaced"] else { return [:] }
            let field = JSONField(value: replaced, path: "replaced")
            return try field.object().keys.reduce(into: [:]) { versions, line in
                versions[line] = try field.field(line).field("version").version()
            }
        }
    }

    /// True if the store's contents were damaged and have been replaced.
    package var isReplacement: Bool { root["replaced"] != nil }

    /// Notes that the store's contents were damaged, and that these replace them.
    ///
    /// - Parameter version: the version that all data here is assumed to be at.
    package mutating func markAsReplacement(assuming version: AppVersion, in line: String, at date: Date) {
        var lines: [String: JSONValue] = [:]
        if case .object(let known) = root["replaced"] { lines = known }
        lines[line] = .object(["date": .string(date.recordText), "version": .string("\(version)")])
        root["replaced"] = .object(lines)
    }

    /// True if the database was salvaged, and records that it had may be lost: that a manager has none does not mean then that
    /// nothing of it has run here.
    package var hasLostRecords: Bool { root["lost"] != nil }

    /// Notes that records may be lost, because their database was salvaged, and with them the id.
    package mutating func markRecordsAsLost(at date: Date) {
        identify()
        root["lost"] = .object(["records": .object(["date": .string(date.recordText)])])
    }

    /// Identifies the contents of the file from which this state was moved; nil if it was not moved.
    package var origin: String? {
        get { if case .string(let origin) = root["movedFrom"] { origin } else { nil } }
        set { root["movedFrom"] = newValue.map { .string($0) } }
    }

    private func hasSeen(_ version: AppVersion, in line: String, isAdopted: Bool) -> Bool {
        // The version of an answer may also be launched.
        seen[line]?.contains { $0.version == version && $0.isAdopted == isAdopted } ?? false
    }

    private var managers: JSONField { JSONField(value: root["managers"], path: "managers") }

    private func seenVersions() throws -> [String: [SeenVersion]] {
        try JSONField(value: root["seen"], path: "seen").object().reduce(into: [:]) { seen, line in
            seen[line.key] = try JSONField(value: line.value, path: "seen.\(line.key)").list().map { entry in
                SeenVersion(
                    version: try entry.field("version").version(),
                    build: try entry.fieldIfPresent("build")?.text(), first: try entry.field("first").date(),
                    isAdopted: try entry.isTrue("adopted"))
            }
        }
    }
}

// MARK: - A JSON file

extension StoreState {
    /// Parses a JSON document.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore` or `newerThanThisProcess`.
    package init(json data: Data) throws {
        guard !data.isEmpty else { throw MigrationError.damagedStore("the file is empty") }
        guard String(validUTF8: data) != nil else {
            throw MigrationError.damagedStore("not UTF-8 text")
        }
        try RecordChecksum.check(data)
        let value: JSONValue
        do {
            value = try JSONValue(parsing: data)
        } catch {
            throw MigrationError.damagedStore(
                "not valid JSON, or cut off", underlyingError: error)
        }
        guard case .object(var root) = value else {
            throw MigrationError.damagedStore("not a JSON object")
        }
        root[RecordChecksum.key] = nil
        try self.init(root: root)
    }

    /// Returns the ``origin`` of a JSON document, also of one that is damaged, as far as its text still says it.
    static func origin(ofJSON data: Data) -> String? {
        if let state = try? StoreState(json: data) { return state.origin }
        let text = String(decoding: data, as: UTF8.self)
        return text.firstMatch(of: #/"movedFrom"\s*:\s*"([0-9a-f]+)"/#).map { String($0.1) }
    }

    /// The state as a JSON document for machines and people: indented, its keys in a stable order, behind a checksum.
    package func json() throws -> Data {
        var data = try JSONValue.object(root).text(.prettyPrinted)
        data.append(UInt8(ascii: "\n"))
        return RecordChecksum.adding(to: data)
    }
}

// MARK: - Rows of a table

extension StoreState {
    /// A piece of the document, for stores that keep it in a table.
    package struct Row: Equatable, Sendable {
        /// The part of the rows with the records of managers.
        package static let managers = "managers"

        /// The part of the row that a table has when it was set aside: it holds no records any more.
        package static let setAside = "setAside"

        /// `format`, `id`, `seen`, `replaced`, `lost` or `managers`.
        package let part: String
        /// The line or the manager; empty for the format and the id.
        package let name: String
        /// The piece's JSON.
        package let value: String

        package init(part: String, name: String, value: String) {
            self.part = part
            self.name = name
            self.value = value
        }

        /// True if the row is a manager's own, and false if it concerns all managers.
        package var isOfManager: Bool { part == Self.managers }
    }

    /// Puts a state together from its rows; no rows are the state of a store that was never used.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore` or `newerThanThisProcess`.
    package init(rows: some Sequence<Row>) throws {
        var state = StoreState()
        for row in rows { try state.insert(row) }
        try self.init(root: state.root)
    }

    /// The state with the row of one more manager.
    ///
    /// - Throws: ``MigrationError`` with the code `damagedStore`.
    package func adding(manager row: Row) throws -> StoreState {
        var state = self
        try state.insert(row)
        return state
    }

    private mutating func insert(_ row: Row) throws {
        let value: JSONValue
        do {
            value = try JSONValue(parsing: Data(row.value.utf8))
        } catch {
            throw MigrationError.damagedStore("damaged at \(row.part).\(row.name): not valid JSON")
        }
        if ["format", "id"].contains(row.part) {
            root[row.part] = value
        } else {
            var part: [String: JSONValue] = [:]
            if case .object(let known) = root[row.part] { part = known }
            part[row.name] = value
            root[row.part] = .object(part)
        }
    }

    /// The name of a manager's row.
    package static func rowName(of manager: String) -> String { ManagerName(manager).key }

    /// The rows that concern all managers.
    package var sharedRows: [Row] {
        get throws {
            var rows = [try row("format", "", root["format"])]
            if let id = root["id"] { rows.append(try row("id", "", id)) }
            for part in ["seen", "replaced", "lost"] {
                if case .object(let fields) = root[part] { rows += try fields.map { try row(part, $0, $1) } }
            }
            return rows
        }
    }

    /// The rows that concern one manager.
    package func rows(of manager: String) throws -> [Row] {
        var rows = try sharedRows
        let key = ManagerName(manager).key
        if let record = try managers.object()[key] { rows.append(try row(Row.managers, key, record)) }
        return rows
    }

    private func row(_ part: String, _ name: String, _ value: JSONValue?) throws -> Row {
        Row(part: part, name: name, value: String(decoding: try (value ?? .null).text(), as: UTF8.self))
    }
}

extension JSONValue {
    fileprivate static let removed = "removed"

    /// True for the mark that the app has removed a manager's record.
    fileprivate var isRemovedRecord: Bool {
        if case .object(let fields) = self { fields[Self.removed] != nil } else { false }
    }
}
