import Foundation
import GRDB
import MigrationTesting

extension ShapedMigrator {
    /// A vault of passwords and cards: rebuilds without checks of foreign keys, normalized values, merged migrations.
    static var vault: ShapedMigrator {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        // Seven releases were merged into one.
        migrator.registerMigration("v7", merging: ["v1", "v2", "v3", "v4", "v5", "v6"]) { db, applied in
            if !applied.contains("v1") {
                try db.create(table: "website_accounts") {
                    $0.autoIncrementedPrimaryKey("id")
                    $0.column("title", .text)
                    $0.column("username", .text).notNull()
                    $0.column("domain", .text).notNull()
                    $0.column("created", .datetime)
                }
            }
            if !applied.contains("v4") {
                try db.create(table: "website_passwords") {
                    $0.column("id", .integer).primaryKey().references("website_accounts", onDelete: .cascade)
                    $0.column("password", .blob).notNull()
                }
            }
            try db.create(table: "notes") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text).notNull()
                $0.column("text", .text).notNull()
            }
        }
        migrator.registerMigration("v8") { db in
            try db.create(table: "website_accounts_new") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text)
                $0.column("username", .text)
                $0.column("domain", .text)
                $0.column("created", .datetime)
            }
            try db.execute(
                sql: """
                    INSERT INTO website_accounts_new(id, title, username, domain, created)
                    SELECT id, title, username, domain, created FROM website_accounts
                    """)
            try db.drop(table: "website_accounts")
            try db.rename(table: "website_accounts_new", to: "website_accounts")
        }
        migrator.registerMigration("v9") { db in
            try db.alter(table: "website_accounts") { $0.add(column: "signature", .text) }
            for row in try Row.fetchAll(db, sql: "SELECT id, domain, username FROM website_accounts") {
                let signature = "\(row["domain"] as String? ?? "")|\(row["username"] as String? ?? "")"
                try db.execute(
                    sql: "UPDATE website_accounts SET signature = ? WHERE id = ?",
                    arguments: [signature.lowercased(), row["id"] as Int64])
            }
        }
        for (number, column) in ["notes", "lastUsed", "icon", "origin", "group", "tld"].enumerated() {
            migrator.registerMigration("v\(number + 10)") { db in
                try db.alter(table: "website_accounts") { $0.add(column: column, .text) }
            }
        }
        migrator.registerMigration("v16", foreignKeyChecks: .immediate) { db in
            try db.create(table: "cards") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("title", .text).notNull()
                $0.column("suffix", .text).notNull()
                $0.column("expiration", .integer)
            }
            try db.execute(sql: "UPDATE website_accounts SET notes = ? WHERE notes IS NULL", arguments: [""])
        }
        migrator.registerMigration("v17") { db in
            try db.create(table: "identities") {
                $0.autoIncrementedPrimaryKey("id")
                $0.column("name", .text).notNull().collate(.nocase)
                $0.column("home", .text).check { length($0) < 1_000 }
            }
            try db.create(index: "by_name", on: "identities", columns: ["name"])
        }
        migrator.registerMigration("v18") { db in
            try db.execute(
                sql: "INSERT INTO notes(title, text) VALUES (?, ?)",
                arguments: ["Welcome; it's here", "-- not a comment\nof two lines"])
        }
        for number in 19...28 {
            migrator.registerMigration("v\(number)") { db in
                try db.create(table: "sync_\(number)") {
                    $0.column("id", .text).primaryKey(onConflict: .ignore)
                    $0.column("account", .integer).references("website_accounts", onDelete: .cascade)
                    $0.column("ratio", .double).notNull().defaults(to: 0.5)
                }
                try db.create(index: "sync_\(number)_account", on: "sync_\(number)", columns: ["account"])
            }
        }
        return ShapedMigrator(
            description: "vault", migrator: migrator,
            inSwift: ["v9": "reads rows between its statements"],
            findings: ["v8 lost-sequence"],
            rowCounts: [.changed("notes", by: "v18") { $0 + 1 }],
            problems: [
                """
                Table `website_accounts` may give the ids of deleted rows again after upgrading from v7: its AUTOINCREMENT \
                sequence was at 1020, and is at 20.
                """
            ])
    }
}
