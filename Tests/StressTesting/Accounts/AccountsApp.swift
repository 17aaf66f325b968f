import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// What an app with accounts registers.
struct AccountsApp: CustomStringConvertible {
    static let versions: [AppVersion] = ["1.0", "2.0", "3.0", "4.0"]

    let hasSQLiteStore: Bool
    /// The release whose step imports an account's database into one of the same name in another folder; nil if none does.
    let importing: Int?
    let hasShared: Bool
    /// True if the steps of a release come before its closure.
    let beginsInside: Bool

    init(_ random: inout RandomNumbers) {
        hasSQLiteStore = .random(using: &random)
        importing =
            Bool.random(using: &random) ? Int.random(in: 1..<Self.versions.count, using: &random) : nil
        hasShared = .random(using: &random)
        beginsInside = .random(using: &random)
    }

    var description: String {
        "an app with \(hasSQLiteStore ? "its store in the database" : "a JSON store")"
            + (importing.map { ", that imports at \(Self.versions[$0])" } ?? "")
            + (hasShared ? ", with a shared database" : "")
    }

    /// The steps that a row of a release has had, each as the number of its release.
    func forms(_ release: Int) -> String { (0...release).map { "\($0)" }.joined() }
}

/// The files of one account in one release.
struct AccountFiles {
    let number: Int
    private let app: AccountsApp
    private let release: Int
    private let folder: URL
    /// From before the app has imported it.
    private let old: DatabaseQueue?
    private let database: DatabaseQueue
    private let shared: DatabaseQueue

    var path: String { database.path }

    init(_ number: Int, in root: URL, of app: AccountsApp, at release: Int) throws {
        (self.number, self.app, self.release) = (number, app, release)
        folder = root.appendingPathComponent("account \(number)")
        let group = folder.appendingPathComponent("group")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        func open(_ url: URL) throws -> DatabaseQueue { try DatabaseQueue(path: url.path) }
        let isImported = app.importing.map { release >= $0 } ?? false
        old = isImported ? try open(folder.appendingPathComponent("mail.sqlite")) : nil
        database = try open((isImported ? group : folder).appendingPathComponent("mail.sqlite"))
        shared = try open(root.appendingPathComponent("index.sqlite"))
    }

    // MARK: Migrating

    /// The store stays where it is when the app imports the database.
    private func store() throws -> MigrationStore {
        try app.hasSQLiteStore ? .database(old ?? database) : .jsonFile(at: storeFile)
    }

    private var storeFile: URL { folder.appendingPathComponent("migrations.json") }

    /// Returns the account's manager, with all its steps.
    func manager(_ process: SimulatedProcess) throws -> MigrationManager {
        let manager = try MigrationManager(
            name: "Account \(number)", currentVersion: AccountsApp.versions[release], adopting: .newApp,
            store: store(), options: MigrationOptions(maximumAttempts: 100))
        for step in 0...release {
            let version = AccountsApp.versions[step]
            if !app.beginsInside { manager.whenMigratingToVersion(version) { try process.moment() } }
            if step == app.importing, let old {
                manager.whenMigratingToVersion(version, in: database) { db in
                    try Self.importRows(of: old, db, step: step)
                }
            } else {
                let place = app.importing.map { step < $0 } == true ? old ?? database : database
                manager.whenMigratingToVersion(version, in: place) { db in
                    try Self.change("note", nil, step, db)
                }
            }
            if app.hasShared {
                manager.whenMigratingToVersion(version, in: shared) { [number] db in
                    try Self.change("entry", number, step, db)
                }
            }
            if app.beginsInside { manager.whenMigratingToVersion(version) { try process.moment() } }
        }
        return manager
    }

    private static func change(_ table: String, _ account: Int?, _ step: Int, _ db: Database) throws {
        try create(table, db)
        let rows = account.map { "WHERE account = \($0)" } ?? ""
        try db.execute(sql: "UPDATE \(table) SET forms = forms || '\(step)' \(rows)")
    }

    private static func importRows(of old: DatabaseQueue, _ db: Database, step: Int) throws {
        try create("note", db)
        let rows = try old.read { old in
            try old.tableExists("note") ? Row.fetchAll(old, sql: "SELECT id, forms FROM note") : []
        }
        for row in rows {
            try db.execute(
                sql: "INSERT INTO note(id, forms) VALUES (?, ? || ?)",
                arguments: [row["id"] as Int, row["forms"] as String, "\(step)"])
        }
    }

    private static func create(_ table: String, _ db: Database) throws {
        try db.execute(
            sql: "CREATE TABLE IF NOT EXISTS \(table)(id INTEGER PRIMARY KEY, account INT, forms TEXT)")
    }

    // MARK: Using

    /// Writes a row as the app does when it has been launched.
    func insert(_ row: Int, forms: String) throws {
        for (table, queue) in [("note", database)] + (app.hasShared ? [("entry", shared)] : []) {
            try queue.write { db in
                try Self.create(table, db)
                try db.execute(
                    sql: "INSERT INTO \(table) VALUES (?, ?, ?)", arguments: [row, number, forms])
            }
        }
    }

    /// The steps that each row of the account has had.
    func rows() throws -> [Int: String] { try Self.forms("note", in: database) }

    /// The steps that the account's rows have had which are in the database of all accounts.
    func sharedForms() throws -> [String] {
        app.hasShared ? try Self.forms("entry", in: shared, "account = \(number)").map(\.value) : []
    }

    private static func forms(
        _ table: String, in queue: DatabaseQueue, _ condition: String = "true"
    ) throws -> [Int: String] {
        try queue.read { db in
            guard try db.tableExists(table) else { return [:] }
            let rows = try Row.fetchAll(db, sql: "SELECT id, forms FROM \(table) WHERE \(condition)")
            return Dictionary(uniqueKeysWithValues: rows.map { ($0["id"], $0["forms"]) })
        }
    }

    // MARK: Losing

    /// The databases in which the account's manager has records.
    enum Place: String, CaseIterable { case old, database, shared }

    /// Returns the database that is a place; nil if the app has none such.
    func queue(_ place: Place) -> DatabaseQueue? {
        switch place {
        case .old: old
        case .database: database
        case .shared: app.hasShared ? shared : nil
        }
    }

    func removeStore() throws { try FileManager.default.removeItem(at: storeFile) }

    /// Loses the records in a database, as salvaging leaves it.
    func loseRecords(in place: Place, andHistory: Bool) throws {
        try queue(place)?.write { try $0.loseRecords(andHistory: andHistory) }
    }

    func removeDatabase() throws { try FileManager.default.removeItem(atPath: database.path) }

    private var backup: String { database.path + ".backup" }

    func backUp() throws {
        try? FileManager.default.removeItem(atPath: backup)
        try FileManager.default.copyItem(atPath: database.path, toPath: backup)
    }

    func restore() throws {
        try removeDatabase()
        try FileManager.default.copyItem(atPath: backup, toPath: database.path)
    }
}
