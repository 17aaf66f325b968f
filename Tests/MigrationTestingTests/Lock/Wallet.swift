import Foundation
import GRDB

/// A stand-in for an app whose migrations read rows in Swift, with the parts of them that somebody may edit.
struct Wallet: Sendable {
    // Statements.
    var tokenColumns = "id INTEGER PRIMARY KEY, symbol TEXT NOT NULL, name TEXT, price TEXT, decimals INTEGER"
    var accountColumns = "id INTEGER PRIMARY KEY, network TEXT, label TEXT, memo INTEGER NOT NULL DEFAULT 0"
    var firstTokens = ["BTC", "ETH"]
    var index = "entry_token ON entry(token)"
    var statesRebuild = "INSERT INTO state2 SELECT id, kind FROM state"
    var clean = "DELETE FROM entry WHERE note = '' AND day < '2000-01-01'"

    // Conditions of statements that feed a loop.
    var stablecoin = "symbol = 'DAI'"
    var stablecoinArguments: StatementArguments = []
    var newSymbol = "SAI"
    var namedTokens = "name IS NOT NULL"
    var memoNetworks = "network IN ('eos', 'xrp')"
    var countedEntries = "SELECT account, count(*) AS number FROM entry GROUP BY account"

    // Swift code over rows.
    var trim: @Sendable (String) -> String = { $0.trimmingCharacters(in: .whitespaces).lowercased() }
    var memoNetwork = "eos"
    var memo = 1
    var otherMemo: Int?
    var decimals = ["BTC": 8, "EOS": 4, "ETH": 18]
    var usualDecimals = 18
    var cents: @Sendable (Double) -> Int = { Int(($0 * 100).rounded()) }
    var centsOfNone: Int?
    var separator: Character = " "
    var isBodyKept = true
    var days: @Sendable (Int) -> Int = { $0 - 1970 }
    var statesByKind = ["open": 1, "closed": 2]
    var countedOffset = 0
    var colorKey = "color"
    var key: @Sendable (Int64) -> String = { _ in UUID().uuidString }
    var keyPrefix = "e-"
    var shout: @Sendable (String) -> String = { $0.uppercased() }
    var isShouted = true
    var oldLabel = "Main"
    var label = "Wallet"

    var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        registerTables(&migrator)
        registerTokens(&migrator)
        registerEntries(&migrator)
        registerRest(&migrator)
        return migrator
    }

    private func registerTables(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("create") { db in
            try db.execute(
                sql: """
                    CREATE TABLE token(\(tokenColumns));
                    CREATE TABLE account(\(accountColumns));
                    CREATE TABLE entry(
                        id INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES account, token INTEGER REFERENCES token,
                        note TEXT, day TEXT, style TEXT);
                    CREATE TABLE state(id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('open', 'closed')));
                    """)
        }
        migrator.registerMigration("firstTokens") { db in
            for symbol in firstTokens {
                try db.execute(sql: "INSERT INTO token(symbol) VALUES (?)", arguments: [symbol])
            }
        }
        migrator.registerMigration("indexTokens") { try $0.execute(sql: "CREATE INDEX \(index)") }
    }

    private func registerTokens(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("trimNames") { db in
            for row in try Row.fetchAll(db, sql: "SELECT id, name FROM token WHERE \(namedTokens)") {
                try db.execute(
                    sql: "UPDATE token SET name = ? WHERE id = ?",
                    arguments: [trim(row["name"]), row["id"] as Int64])
            }
        }
        migrator.registerMigration("renameStablecoin") { db in
            let ids = try Int64.fetchAll(
                db, sql: "SELECT id FROM token WHERE \(stablecoin)", arguments: stablecoinArguments)
            for id in ids {
                try db.execute(
                    sql: "UPDATE token SET symbol = ? WHERE id = ?", arguments: [newSymbol, id])
            }
        }
        migrator.registerMigration("decimals") { db in
            for row in try Row.fetchAll(db, sql: "SELECT id, symbol FROM token") {
                let number = decimals[row["symbol"] as String] ?? usualDecimals
                try db.execute(
                    sql: "UPDATE token SET decimals = ? WHERE id = ?",
                    arguments: [number, row["id"] as Int64])
            }
        }
        migrator.registerMigration("cents") { db in
            try db.execute(sql: "ALTER TABLE token ADD COLUMN cents INTEGER")
            for row in try Row.fetchAll(db, sql: "SELECT id, price FROM token") {
                let price = (row["price"] as String?).flatMap(Double.init)
                try db.execute(
                    sql: "UPDATE token SET cents = ? WHERE id = ?",
                    arguments: [price.map(cents) ?? centsOfNone, row["id"] as Int64])
            }
        }
    }

    private func registerEntries(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("memos") { db in
            for row in try Row.fetchAll(db, sql: "SELECT id, network FROM account WHERE \(memoNetworks)") {
                let number = (row["network"] as String?) == memoNetwork ? memo : otherMemo
                guard let number else { continue }
                try db.execute(
                    sql: "UPDATE account SET memo = ? WHERE id = ?", arguments: [number, row["id"] as Int64])
            }
        }
        migrator.registerMigration("splitNotes") { db in
            try db.execute(sql: "ALTER TABLE entry ADD COLUMN title TEXT")
            for row in try Row.fetchAll(db, sql: "SELECT id, note FROM entry") {
                let parts = (row["note"] as String? ?? "").split(separator: separator, maxSplits: 1)
                let body = isBodyKept ? parts.last.map(String.init) : nil
                try db.execute(
                    sql: "UPDATE entry SET title = ?, note = ? WHERE id = ?",
                    arguments: [parts.first.map(String.init), body, row["id"] as Int64])
            }
        }
        migrator.registerMigration("years") { db in
            try db.execute(sql: "ALTER TABLE entry ADD COLUMN year INTEGER")
            for row in try Row.fetchAll(db, sql: "SELECT id, day FROM entry") {
                let year = (row["day"] as String?).flatMap { Int($0.prefix(4)) }
                try db.execute(
                    sql: "UPDATE entry SET year = ? WHERE id = ?",
                    arguments: [year.map(days), row["id"] as Int64])
            }
        }
        migrator.registerMigration("clean") { try $0.execute(sql: clean) }
        migrator.registerMigration("colors") { db in
            try db.execute(sql: "ALTER TABLE entry ADD COLUMN color TEXT")
            for row in try Row.fetchAll(db, sql: "SELECT id, style FROM entry") {
                let data = Data((row["style"] as String? ?? "").utf8)
                guard let color = (try? JSONDecoder().decode([String: String].self, from: data))?[colorKey]
                else { continue }
                try db.execute(
                    sql: "UPDATE entry SET color = ? WHERE id = ?", arguments: [color, row["id"] as Int64])
            }
        }
    }

    private func registerRest(_ migrator: inout DatabaseMigrator) {
        migrator.registerMigration("states") { db in
            try db.execute(sql: "CREATE TABLE state2(id INTEGER PRIMARY KEY, kind, number INTEGER)")
            try db.execute(sql: statesRebuild.replacing("state2 ", with: "state2(id, kind) "))
            for row in try Row.fetchAll(db, sql: "SELECT id, kind FROM state") {
                try db.execute(
                    sql: "UPDATE state2 SET number = ? WHERE id = ?",
                    arguments: [statesByKind[row["kind"] as String], row["id"] as Int64])
            }
            try db.execute(sql: "DROP TABLE state; ALTER TABLE state2 RENAME TO state")
        }
        migrator.registerMigration("counts") { db in
            try db.execute(sql: "CREATE TABLE total(account INTEGER PRIMARY KEY, number INTEGER)")
            for row in try Row.fetchAll(db, sql: countedEntries) {
                try db.execute(
                    sql: "INSERT INTO total VALUES (?, ?)",
                    arguments: [row["account"] as Int64, (row["number"] as Int) + countedOffset])
            }
        }
        migrator.registerMigration("keys") { db in
            try db.execute(
                sql: "ALTER TABLE entry ADD COLUMN key TEXT; ALTER TABLE entry ADD COLUMN tag TEXT")
            for id in try Int64.fetchAll(db, sql: "SELECT id FROM entry") {
                try db.execute(
                    sql: "UPDATE entry SET key = ?, tag = ? WHERE id = ?",
                    arguments: [key(id), "\(keyPrefix)\(id)", id])
            }
        }
        migrator.registerMigration("shout") { db in
            let function = DatabaseFunction("shout", argumentCount: 1, pure: true) { [shout] values in
                String.fromDatabaseValue(values[0]).map(shout)
            }
            db.add(function: function)
            if isShouted { try db.execute(sql: "UPDATE token SET name = shout(name)") }
        }
        migrator.registerMigration("labels") { db in
            let all = try Row.fetchAll(db, sql: "SELECT id, label FROM account")
            for row in all where (row["label"] as String?) == oldLabel {
                try db.execute(
                    sql: "UPDATE account SET label = ? WHERE id = ?",
                    arguments: [label, row["id"] as Int64])
            }
        }
    }
}
