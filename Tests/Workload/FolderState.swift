import Foundation

/// The contents of the folder of a launch, read without the package: by plain SQL, as JSON, and as text.
struct FolderState: Equatable {
    /// A closure that was begun.
    struct Beginning: Equatable {
        let version: String
        let attempt: Int
    }

    /// The versions that a record says were settled and completed.
    struct Record: Equatable {
        var settled: Set<String> = []
        var completed: String?
        /// How far deferred steps are, by version.
        var positions: [String: Position] = [:]
        /// The steps that have been started and have not ended, and those that have failed: none in the end.
        ///
        /// A schema step is left out: one that has died between its last commit and the end is not pending any more.
        var unended: Set<String> = []
    }

    /// How far a deferred step is.
    struct Position: Equatable {
        let done: Int
        /// Where the next batch begins; for a range of rows, 0.
        let next: Int

        init(_ fields: [String: Any]) {
            done = fields["done"] as? Int ?? 0
            // JSON: a range of rows, an id as text, or a checkpoint.
            let cursor = fields["cursor"] as? String ?? ""
            next = Int(cursor.filter { $0 != "\"" }) ?? 0
        }
    }

    var ledger: [Int] = []
    /// The last of its migrations; 0 if there is none.
    var latest: Int { ledger.last ?? 0 }
    /// The migrations of another branch in the ledger.
    var branch: [Int] = []
    var dump: [String] = []
    /// The steps that have worked in the database, by their rows in it.
    var inside: [String] = []
    /// The closures that were begun, in the order of their lines in the log.
    var begun: [Beginning] = []
    /// The changes of the version that were noted, in the order of their lines in the log.
    var changes: [String] = []
    /// The closures of a second manager that were begun.
    var begunBySecond: Set<String> = []
    /// The counters of deferred steps by version, and by the ids of their rows.
    var counters: [String: [Int: Int]] = [:]
    /// The items of a deferred closure that were begun, in the order of their lines in the log.
    var items: [Int] = []
    /// The contents of the closures' files.
    var files: [String: String] = [:]
    var storeRecord = Record()
    var databaseRecord = Record()
    /// How many migrations each copy of the database holds, from before it was migrated.
    var copies: [Int] = []
    /// The files among the copies that are no copies.
    var litter: [String] = []
    /// The contents of a damaged database that a launch has salvaged and set aside.
    var setAside: [String]?
    /// The mistakes that no state may have.
    var damages: [String] = []

    init(_ folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        let old = "\(folder)/\(Scenario.oldFolder)"
        let oldNames = (try? FileManager.default.contentsOfDirectory(atPath: old)) ?? []
        /// A file is in its place, or still in the old one.
        func path(_ name: String) -> String? {
            if names.contains(name) { return "\(folder)/\(name)" }
            return oldNames.contains(name) ? "\(old)/\(name)" : nil
        }
        if let aside = try Damage(folder: folder).undo() {
            try read(aside) { db, state in state.setAside = try Reference.dump(db) }
        }
        if let path = path("library.sqlite") {
            try read(path) { db, state in
                state.dump = try Reference.dump(db)
                if try db.hasTable("schema_migrations") {
                    let versions = try db.column("SELECT version FROM schema_migrations ORDER BY 1")
                        .compactMap { Int($0) }
                    state.ledger = versions.filter { $0 <= Schema.migrations.count }
                    state.branch = versions.filter { $0 > Schema.migrations.count }
                }
                if try db.hasTable("effect") {
                    state.inside = try db.column("SELECT version FROM effect ORDER BY rowid")
                }
                for (version, table) in Deferral.counters where try db.hasTable(table) {
                    let rows = try db.rows("SELECT id, count FROM \(table)").map {
                        (Int($0[0]) ?? 0, Int($0[1]) ?? 0)
                    }
                    state.counters["\(version)"] = Dictionary(uniqueKeysWithValues: rows)
                }
                state.databaseRecord = try Self.record(db)
            }
        }
        if let path = path("migrations.sqlite") {
            try read(path) { db, state in state.storeRecord = try Self.record(db) }
        }
        if let path = path("migrations.json") {
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            if root == nil { damages.append("the JSON record is unreadable") }
            storeRecord = Self.record(root?["managers"].flatMap { ($0 as? [String: Any])?[Launch.manager] })
        }
        for name in names where name.hasPrefix("file-") {
            files[String(name.dropFirst(5))] = try String(
                contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        }
        if names.contains("effects") { begun = try Self.beginnings("\(folder)/effects") }
        if names.contains(Effects.second) {
            begunBySecond = Set(try Self.beginnings("\(folder)/\(Effects.second)").map(\.version))
        }
        if names.contains("changes") {
            changes = try Self.beginnings("\(folder)/changes").map(\.version)
        }
        if names.contains("items") {
            items = try Self.beginnings("\(folder)/items").compactMap { Int($0.version) }
        }
        try readBackups("\(folder)/backups")
        litter += oldNames.filter { !$0.hasSuffix(".lock") }.sorted()
        litter += names.filter { $0.hasSuffix(".moving") || $0.contains(".aside-") }
    }

    /// How much a deferred step has done, as the records say it.
    func done(_ version: String) -> Int {
        let records = [databaseRecord, storeRecord]
        if records.contains(where: { $0.settled.contains(version) }) { return .max }
        return records.compactMap { $0.positions[version]?.done }.max() ?? 0
    }

    private static func beginnings(_ log: String) throws -> [Beginning] {
        try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 2
                ? Int(words[1]).map { Beginning(version: String(words[0]), attempt: $0) } : nil
        }
    }

    private mutating func read(
        _ path: String, _ body: (PlainDatabase, inout FolderState) throws -> Void
    ) throws {
        do {
            let db = try PlainDatabase(path)
            let found = try db.column("PRAGMA integrity_check")
            if found != ["ok"] { damages.append("\(path): \(found.joined(separator: "; "))") }
            let orphans = try db.rows("PRAGMA foreign_key_check")
            if !orphans.isEmpty { damages.append("\(path): \(orphans.count) rows refer to none") }
            try body(db, &self)
        } catch let error as PlainDatabase.Failure {
            damages.append("\(path): \(error)")
        }
    }

    /// Every copy that has its final name is whole.
    private mutating func readBackups(_ folder: String) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        // The note of an attempt, and what a death has left of it, are replaced with the next copy.
        litter = names.filter { !$0.hasSuffix(".backup") && !$0.contains(".attempt") }
        for name in names where name.hasSuffix(".backup") {
            try read("\(folder)/\(name)") { db, state in
                let count = try db.rows("SELECT version FROM schema_migrations").count
                if count == 0 { state.damages.append("the copy \(name) holds no migration") }
                state.copies.append(count)
            }
        }
    }

    private static func record(_ db: PlainDatabase) throws -> Record {
        guard try db.hasTable("app_migrations") else { return Record() }
        let text = try db.column(
            "SELECT value FROM app_migrations WHERE part = 'managers' AND name = '\(Launch.manager)'")
        let json = text.first.map { try? JSONSerialization.jsonObject(with: Data($0.utf8)) }
        if let json, json == nil { throw PlainDatabase.Failure(description: "the record is unreadable") }
        return record(json ?? nil)
    }

    private static func record(_ json: Any?) -> Record {
        let fields = json as? [String: Any]
        // A closure beside its store's database is a step here; no version of the plan has both.
        func step(_ key: String) -> String {
            key.hasPrefix("closure ") ? String(key.dropFirst("closure ".count)) : key
        }
        let known = fields?["open"] as? [String: [String: Any]] ?? [:]
        let open = Dictionary(uniqueKeysWithValues: known.map { (step($0), $1) }).filter {
            !$0.key.contains(" ")
        }
        return Record(
            settled: Set(
                ["done", "notNeeded", "skipped"].flatMap { fields?[$0] as? [String] ?? [] }.map(step)
                    .filter { !$0.contains(" ") }),
            completed: fields?["completed"] as? String,
            positions: open.compactMapValues { $0["position"] as? [String: Any] }.mapValues(Position.init),
            unended: Set(
                open.filter { !Set($0.value.keys).isDisjoint(with: ["running", "deaths", "failures"]) }.keys))
    }
}
