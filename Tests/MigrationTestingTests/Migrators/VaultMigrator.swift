import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A vault of passwords and cards: tables renamed and copied back, values encrypted and hashed in Swift, random
    /// identifiers for existing rows, and merged migrations.
    static var vault: ShapedMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerVaultTables()
        migrator.registerVaultRecords()
        return ShapedMigrator(
            description: "vault", migrator: migrator,
            inSwift: [
                "v6": "reads rows between its statements",
                "v8": "reads rows between its statements",
                "v9": "reads rows between its statements",
                "v10": "reads rows between its statements",
                "v11": "reads rows between its statements",
            ],
            findings: [],
            rowCounts: [.changed("note", by: "v18") { $0 + 1 }],
            problems: [
                """
                Table `card` may give the ids of deleted rows again after upgrading from v5: its AUTOINCREMENT sequence was \
                at 1020, and is at 20.
                """
            ])
    }
}

extension DatabaseMigrator {
    fileprivate mutating func registerVaultTables() {
        // Three releases were merged into one.
        registerMigration("v3", merging: ["v1", "v2"]) { db, applied in
            if !applied.contains("v1") {
                try db.create(table: "login") {
                    $0.column("id", .integer)
                    $0.column("user", .text)
                    $0.column("created", .date)
                    $0.primaryKey(["id"])
                }
                try db.create(table: "secret") {
                    $0.column("id", .integer)
                    $0.column("password", .blob)
                    $0.primaryKey(["id"])
                }
            }
            if !applied.contains("v2") {
                try db.alter(table: "login") { $0.add(column: "site", .text) }
                try db.create(
                    index: "login_unique", on: "login", columns: ["site", "user"], unique: true,
                    ifNotExists: true)
            }
            try db.alter(table: "login") { $0.add(column: "title", .text) }
        }
        // Both tables are renamed, and copied into new ones, of which one refers to the other.
        registerMigration("v4") { db in
            try db.rename(table: "login", to: "loginOld")
            try db.rename(table: "secret", to: "secretOld")
            try db.create(table: "login") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("user", .text)
                $0.column("created", .date)
                $0.column("site", .text)
                $0.column("title", .text)
            }
            try db.create(table: "secret") {
                $0.column("id", .integer)
                $0.column("password", .blob)
                $0.primaryKey(["id"])
                $0.foreignKey(["id"], references: "login", onDelete: .cascade)
            }
            try db.execute(sql: "INSERT INTO login SELECT * FROM loginOld")
            try db.execute(sql: "INSERT INTO secret SELECT * FROM secretOld")
            try db.drop(table: "loginOld")
            try db.drop(table: "secretOld")
            try db.execute(sql: "DROP INDEX IF EXISTS \"login_unique\"")
            try db.create(index: "login_unique", on: "login", columns: ["site", "user"], unique: true)
        }
        registerMigration("v5") { db in
            try db.create(table: "note") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text)
                $0.column("text", .text)
            }
            try db.create(table: "card") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text)
                $0.column("number", .text)
                $0.column("expires", .integer)
            }
        }
        // Card numbers are encrypted, which gives other bytes each time.
        registerMigration("v6") { db in
            try db.rename(table: "card", to: "cardOld")
            try db.create(table: "card") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text)
                $0.column("suffix", .text)
                $0.column("sealed", .blob)
                $0.column("expires", .integer)
            }
            let rows = try Row.fetchCursor(db, sql: "SELECT * FROM cardOld")
            while let row = try rows.next() {
                let number = row["number"] as String? ?? ""
                let nonce = Data((0..<12).map { _ in UInt8.random(in: 0...255) })
                try db.execute(
                    sql: "INSERT INTO card (id, title, suffix, sealed, expires) VALUES (?, ?, ?, ?, ?)",
                    arguments: [
                        row["id"] as Int64, row["title"] as String?, String(number.suffix(4)),
                        nonce + Data(number.utf8.reversed()), row["expires"] as Int?,
                    ])
            }
            try db.drop(table: "cardOld")
        }
        registerMigration("v7") { db in
            try db.alter(table: "login") { $0.add(column: "notes", .text) }
        }
        // The second one repairs what the first one got wrong.
        registerMigration("v8") { db in
            try db.alter(table: "login") { $0.add(column: "hash", .text) }
            try Self.hashLogins(db) { $0.lowercased() }
        }
        registerMigration("v9") { db in try Self.hashLogins(db) { $0 } }
    }

    private static func hashLogins(_ db: Database, _ hash: (String) -> String) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT * FROM login")
        while let row = try rows.next() {
            let secret = try Row.fetchOne(
                db, sql: "SELECT * FROM secret WHERE id = ?", arguments: [row["id"] as Int64])
            guard let password = secret?["password"] as Data? else { continue }
            let text = "\(row["site"] as String? ?? "")|\(password.count)"
            try db.execute(
                sql: "UPDATE login SET hash = ? WHERE id = ?", arguments: [hash(text), row["id"] as Int64])
        }
    }

    fileprivate mutating func registerVaultRecords() {
        registerMigration("v10") { db in
            try db.create(table: "syncedLogin") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("uuid", .text)
                $0.column("modified", .date)
                $0.column("loginID", .integer)
                $0.foreignKey(["loginID"], references: "login", onDelete: .setNull)
            }
            try db.create(index: "syncedLogin_uuid", on: "syncedLogin", columns: ["uuid"])
            try db.create(index: "syncedLogin_loginID", on: "syncedLogin", columns: ["loginID"], unique: true)
            let rows = try Row.fetchCursor(db, sql: "SELECT id FROM login")
            while let row = try rows.next() {
                try db.execute(
                    sql: "INSERT INTO syncedLogin (uuid, loginID) VALUES (?, ?)",
                    arguments: [UUID().uuidString, row["id"] as Int64])
            }
            try db.execute(sql: "DROP INDEX IF EXISTS \"login_unique\"")
            try db.create(index: "login_site_user", on: "login", columns: ["site", "user"])
        }
        registerMigration("v11") { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT id, title FROM login")
            while let row = try rows.next() {
                let title = (row["title"] as String?)?.trimmingPrefix("www.")
                try db.execute(
                    sql: "UPDATE login SET title = ? WHERE id = ?",
                    arguments: [title.map(String.init), row["id"] as Int64])
            }
        }
        registerMigration("v12") { db in
            try db.create(table: "neverAsk") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("site", .text)
            }
        }
        for (number, column) in ["lastUsed", "icon", "origin", "group"].enumerated() {
            registerMigration("v\(number + 13)") { db in
                try db.alter(table: "login") { $0.add(column: column, .text) }
            }
        }
        registerMigration("v17", foreignKeyChecks: .immediate) { db in
            try db.create(table: "identity") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("name", .text).notNull().collate(.nocase)
                $0.column("home", .text).check { length($0) < 1_000 }
            }
            try db.create(index: "by_name", on: "identity", columns: ["name"])
        }
        registerMigration("v18") { db in
            try db.execute(
                sql: "INSERT INTO note(title, text) VALUES (?, ?)",
                arguments: ["Welcome; it's here", "-- not a comment\nof two lines"])
        }
        for number in 19...24 {
            registerMigration("v\(number)") { db in
                try db.create(table: "synced_\(number)") {
                    $0.column("id", .text).primaryKey(onConflict: .ignore)
                    $0.column("login", .integer).references("login", onDelete: .cascade)
                    $0.column("ratio", .double).notNull().defaults(to: 0.5)
                }
                try db.create(index: "synced_\(number)_login", on: "synced_\(number)", columns: ["login"])
            }
        }
    }
}
