import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A generated app whose database is synchronized: what each release adds, and whether one of the additions is wrong.
struct SynchronizedApp: Sendable {
    /// What a release adds to the table of entries, right or wrong.
    enum Addition: CaseIterable {
        case optional, withDefault, filled, filledByKey, derived, child
        case withoutAgain, plainNotNull, renamed, filledAtRandom, filledFromTitle

        /// Whether devices agree, whatever they live through.
        var isRight: Bool { Self.right.contains(self) }

        static let right: [Addition] = [.optional, .withDefault, .filled, .filledByKey, .derived, .child]
        static let wrong = allCases.filter { !right.contains($0) }
    }

    /// The additions of each release from 2.0 on, each with the name of its column or table.
    private let releases: [[(addition: Addition, name: String)]]

    var versions: [AppVersion] {
        (1...releases.count + 1).compactMap { AppVersion("\($0).0") }
    }

    /// Makes an app of two to four releases.
    ///
    /// - Parameter wrong: an addition that is wrong; nil for an app that is right.
    init(seed: UInt64, wrong: Addition?) {
        var random = RandomNumbers(seed: seed, subject: "synchronized")
        let count = Int.random(in: 1...3, using: &random)
        var releases = (0..<count).map { _ in
            (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
                Addition.right.randomElement(using: &random)
            }
        }
        if let wrong { releases[Int.random(in: 0..<count, using: &random)].append(wrong) }
        self.releases = releases.enumerated().map { index, additions in
            additions.enumerated().map { ($0.element, "a\(index)\($0.offset)") }
        }
    }

    /// The fleet of the app.
    var fleet: SimulatedFleet {
        var conditions = ["true"]
        var tables: [String: String] = [:]
        for (addition, name) in releases.joined() {
            if addition == .child { tables[name] = "true" }
            conditions += [addition.form(name)].compactMap(\.self)
        }
        tables["entry"] = conditions.joined(separator: " AND ")
        return SimulatedFleet(versions: versions, database: "app.sqlite", tables: tables) { [self] in
            try launch($0, $1)
        }
    }

    private func launch(_ folder: URL, _ version: AppVersion) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.add(function: DatabaseFunction("uuid", argumentCount: 0) { _ in UUID().uuidString })
        }
        let database = try DatabaseQueue(
            path: folder.appendingPathComponent("app.sqlite").path, configuration: configuration)
        let manager = try MigrationManager(
            name: "App", currentVersion: version, adopting: .newApp, store: .database(database))
        manager.whenMigratingToVersion("1.0", in: database, onFreshInstall: .run) { db in
            try db.execute(
                sql: "CREATE TABLE entry(\(Addition.key), title TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '')"
            )
        }
        for (additions, release) in zip(releases, versions.dropFirst()) where release <= version {
            let changes = additions.map { $0.change($1) }
            manager.whenMigratingToVersion(release, in: database, onFreshInstall: .run) { db in
                for change in changes { try db.execute(sql: change) }
            }
            for (index, (addition, name)) in additions.enumerated() {
                guard let fill = addition.fill(name), let step = AppVersion("\(release)-\(index + 1)") else {
                    continue
                }
                let isOld: @Sendable (Database) throws -> Bool = { db in
                    let form = addition.form(name) ?? "true"
                    return try Bool.fetchOne(
                        db, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE NOT (\(form)))")
                        ?? false
                }
                manager.whenMigratingToVersion(
                    step, in: database, again: addition == .withoutAgain ? nil : isOld
                ) { try $0.execute(sql: fill) }
            }
        }
        try manager.migrate()
    }
}

extension SynchronizedApp.Addition {
    fileprivate static let key = "id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid())"

    /// The change of the schema.
    fileprivate func change(_ name: String) -> String {
        switch self {
        case .withDefault:
            "ALTER TABLE entry ADD COLUMN \(name) INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 7"
        case .plainNotNull: "ALTER TABLE entry ADD COLUMN \(name) INTEGER NOT NULL DEFAULT 7"
        case .renamed: "ALTER TABLE entry RENAME COLUMN title TO \(name)"
        case .child:
            "CREATE TABLE \(name)(\(Self.key), entryID TEXT REFERENCES entry ON DELETE CASCADE, note TEXT)"
        default: "ALTER TABLE entry ADD COLUMN \(name) TEXT"
        }
    }

    /// The new form of a row; nil if any form will do.
    fileprivate func form(_ name: String) -> String? {
        switch self {
        case .filled, .filledByKey, .withoutAgain, .filledAtRandom, .filledFromTitle: "\(name) IS NOT NULL"
        case .derived: "\(name) IS lower(id) || length(id)"
        default: nil
        }
    }

    /// The statement of the step that brings rows into the new form.
    fileprivate func fill(_ name: String) -> String? {
        let value: String? =
            switch self {
            case .filled, .withoutAgain: "'none'"
            case .filledByKey: "'key ' || id"
            case .derived: "lower(id) || length(id)"
            case .filledAtRandom: "hex(randomblob(4))"
            case .filledFromTitle: "upper(title)"
            default: nil
            }
        return value.map { "UPDATE entry SET \(name) = \($0) WHERE NOT (\(form(name) ?? "true"))" }
    }
}
