import GRDB
import SchemaMigrations

// The smallest app that embeds its migrations: the build plugin compiles the folder Migrations into `Migrations.all`.

let dbQueue = try DatabaseQueue()
let schema = try SchemaMigrator(migrations: Migrations.all)
for version in try schema.migrate(dbQueue).applied {
    print(version, schema.migration(version: version)?.name ?? "")
}

let titles = try dbQueue.read { db in try String.fetchAll(db, sql: "SELECT title FROM book ORDER BY title") }
print(titles.joined(separator: "\n"))
