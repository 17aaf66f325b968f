import AppMigrations
import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TestSupport

/// An install of an app with two accounts, each with a store and databases of its own, and one database that both share.
///
/// Everything that can be lost is lost in turn: a store, the records in a database, as salvaging leaves it, a database, or
/// what has happened to it since a backup. The clock jumps, and processes are killed.
struct AccountsInstall: RandomInstall {
    private let folder: URL
    private let app: AccountsApp
    private(set) var story: [String]
    private var random: RandomNumbers
    private var accounts = [AccountState(), AccountState()]
    private var nextRow = 1

    init(seed: UInt64, in folder: URL) throws {
        self.folder = folder
        random = RandomNumbers(seed: seed, subject: "accounts")
        app = AccountsApp(&random)
        story = [app.description]
    }

    // Each account lives through some events, and both through a launch of the last release that comes to its end.
    mutating func live() throws -> String? {
        var release = 0
        for _ in 0..<Int.random(in: 1...7, using: &random) {
            release = Int.random(in: release..<AccountsApp.versions.count, using: &random)
            for number in [0, 1].shuffled(using: &random) where random.next() % 4 > 0 {
                if let problem = try launch(number, release, isLast: false) { return problem }
                if accounts[number].isComplete, random.next() % 2 == 0 { try lose(number) }
            }
        }
        for number in [0, 1] {
            if let problem = try launch(number, AccountsApp.versions.count - 1, isLast: true) {
                return problem
            }
        }
        return nil
    }

    // MARK: Launches

    private mutating func launch(_ number: Int, _ release: Int, isLast: Bool) throws -> String? {
        let moment = isLast || random.next() % 4 > 0 ? nil : Int.random(in: 1...16, using: &random)
        let year = Int.random(in: 1_990..<2_040, using: &random)
        let title = "\(AccountsApp.versions[release]) of account \(number) in \(year)"
        story.append(title + (moment.map { ", killed at \($0)" } ?? ""))
        let process = SimulatedProcess(dying: moment.map { .moment($0) } ?? .never)
        let environment = Environment.changed { environment in
            environment.observer = process
            environment.build = "\(release)"
            environment.date = { Date(timeIntervalSince1970: Double(year - 1970) * 31_556_952) }
        }
        accounts[number].isComplete = false
        let account = try AccountFiles(number, in: folder, of: app, at: release)
        do {
            try Environment.$current.withValue(environment) {
                try migrate(account, release, process)
            }
        } catch  where process.isDead {
            return nil
        }
        accounts[number].isComplete = true
        accounts[number].release = release
        (accounts[number].hasLostRecords, accounts[number].isRestored) = (false, false)
        accounts[number].hasStore = true
        // A connection that has died stays dead.
        let used = try AccountFiles(number, in: folder, of: app, at: release)
        if let problem = try problem(in: used, release) { return "\(problem), after a launch of \(title)" }
        accounts[number].rows.formUnion([nextRow])
        try used.insert(nextRow, forms: app.forms(release))
        nextRow += 1
        return nil
    }

    /// Launches as an app does that knows how old its data is.
    private func migrate(_ account: AccountFiles, _ release: Int, _ process: SimulatedProcess) throws {
        do {
            try account.manager(process).migrate()
        } catch let error as MigrationError where error.code == .damagedStore {
            guard let known = accounts[account.number].lostAt else { throw error }
            try account.manager(process).replaceRecord(assuming: AccountsApp.versions[known])
            try account.manager(process).migrate()
        }
    }

    private func problem(in account: AccountFiles, _ release: Int) throws -> String? {
        let rows = try account.rows()
        let expected = accounts[account.number].rows
        if Set(rows.keys) != expected {
            return "there are rows \(rows.keys.sorted()), not \(expected.sorted())"
        }
        let forms = app.forms(release)
        if let (id, form) = rows.first(where: { $1 != forms }) {
            return "row \(id) has had the steps \(form), not \(forms)"
        }
        if let form = try account.sharedForms().first(where: { $0 != forms }) {
            return "a row of the shared database has had the steps \(form), not \(forms)"
        }
        return nil
    }

    // MARK: Losses

    private mutating func lose(_ number: Int) throws {
        for _ in 0..<Int.random(in: 1...2, using: &random) { try loseSomething(number) }
    }

    private mutating func loseSomething(_ number: Int) throws {
        let state = accounts[number]
        // Every connection is closed by now.
        let account = try AccountFiles(number, in: folder, of: app, at: state.release)
        switch Int.random(in: 0..<5, using: &random) {
        case 0 where !app.hasSQLiteStore && state.hasStore:
            story.append("the store of account \(number) is gone")
            try account.removeStore()
            accounts[number].hasStore = false
        case 1:
            let place = AccountFiles.Place.allCases.randomElement(using: &random) ?? .database
            let concerned = place == .shared ? [0, 1] : [number]
            // What has come back from a backup does not know how far it was.
            guard account.queue(place) != nil,
                concerned.allSatisfy({ accounts[$0].isComplete && !accounts[$0].isRestored })
            else { return }
            let isWithHistory = Bool.random(using: &random)
            story.append(
                "\(place) of account \(number) has lost its records\(isWithHistory ? " and the history" : "")"
            )
            try account.loseRecords(in: place, andHistory: isWithHistory)
            for index in concerned {
                accounts[index].lostAt = accounts[index].release
                accounts[index].hasLostRecords = true
            }
        case 2:
            story.append("the database of account \(number) is gone")
            try account.removeDatabase()
            accounts[number].rows = []
        case 3:
            guard !state.hasLostRecords else { return }
            story.append("account \(number) has a backup")
            try account.backUp()
            accounts[number].backup = (state.rows, account.path)
        case 4:
            guard let backup = state.backup, backup.path == account.path, !state.hasLostRecords else {
                return
            }
            story.append("the database of account \(number) is as in its backup")
            try account.restore()
            accounts[number].rows = backup.rows
            accounts[number].isRestored = true
        default: break
        }
    }
}

/// What has become of an account.
private struct AccountState {
    /// The rows that its database has.
    var rows: Set<Int> = []
    /// The release of its last launch that was complete.
    var release = 0
    /// True if its last launch was complete, and it was not used since.
    var isComplete = false
    /// The release at which its records were lost.
    var lostAt: Int?
    /// True until the launch that comes next.
    var (hasLostRecords, isRestored, hasStore) = (false, false, true)
    var backup: (rows: Set<Int>, path: String)?
}
