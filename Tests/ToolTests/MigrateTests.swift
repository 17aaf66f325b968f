import Foundation
import TestSupport
import Testing

@Suite("app-migrations migrate, status, plan and rollback", .timed)
struct MigrateTests {
    @Test("migrate up and roll back")
    func thereAndBack() async throws {
        let tool = try Tool(Tool.books)
        let migrated = try await tool("migrate --database app.sqlite")
        #expect(
            migrated.output.withoutTimes == """
                app.sqlite: 2 migrations applied, now at version 20240601120000000
                  ✓  20240110090000000  create_books TIME
                  ✓  20240601120000000  add_shelves TIME

                """)
        #expect(migrated.errors == "")
        #expect(migrated.status == 0)

        let again = try await tool("migrate --database app.sqlite")
        #expect(again.output == "Nothing is pending: app.sqlite is at version 20240601120000000.\n")

        let back = try await tool("rollback --database app.sqlite --to 20240110090000000")
        #expect(
            back.output == """
                app.sqlite: 1 migration rolled back
                  ✓  20240601120000000  add_shelves

                """)
        #expect(
            try await tool("rollback --database app.sqlite --to 20240110090000000").output
                == "Nothing is above version 20240110090000000.\n")

        let status = try await tool("status --database app.sqlite")
        #expect(
            status.output.withoutTimes == """
                app.sqlite is at version 20240110090000000, and 1 migration is pending
                  ✓  20240110090000000  create_books  applied DATE TIME
                  ·  20240601120000000  add_shelves   pending

                """)
        #expect(status.status == 0)

        let plan = try await tool("plan --database app.sqlite")
        #expect(
            plan.output == """
                app.sqlite: 1 migration would be applied
                  20240601120000000  add_shelves  2 statements

                """)
    }

    @Test("report pending migrations with --exit-code")
    func exitCode() async throws {
        let tool = try Tool(Tool.books)
        _ = try await tool("migrate --database app.sqlite --up-to 20240110090000000 --quiet")
        #expect(try await tool("status --database app.sqlite --exit-code").status == 2)
        #expect(try await tool("status --database app.sqlite --exit-code --json").status == 2)
        let rest = try await tool("migrate --database app.sqlite --quiet")
        #expect(rest.output == "")
        #expect(try await tool("status --database app.sqlite --exit-code").status == 0)
        #expect(try await tool("plan --database app.sqlite").output == "Nothing is pending.\n")
    }

    @Test("print JSON")
    func json() async throws {
        let tool = try Tool(Tool.books)
        let migrated = try await tool("migrate --database app.sqlite --up-to 20240110090000000 --json")
        #expect(
            migrated.output.withoutTimes == """
                {
                  "applied" : [
                    {
                      "name" : "create_books",
                      "seconds" : SECONDS,
                      "version" : "20240110090000000"
                    }
                  ],
                  "currentVersion" : "20240110090000000",
                  "database" : "app.sqlite",
                  "edited" : [

                  ],
                  "undone" : [

                  ],
                  "unknown" : [

                  ],
                  "warnings" : [

                  ]
                }

                """)
        #expect(
            try await tool("status --database app.sqlite --json").output.withoutTimes == """
                {
                  "currentVersion" : "20240110090000000",
                  "database" : "app.sqlite",
                  "deferred" : [

                  ],
                  "hasMigrationsTable" : true,
                  "latestVersion" : "20240601120000000",
                  "migrations" : [
                    {
                      "applied" : "DATE",
                      "name" : "create_books",
                      "origin" : "applied",
                      "seconds" : SECONDS,
                      "state" : "applied",
                      "version" : "20240110090000000"
                    },
                    {
                      "name" : "add_shelves",
                      "state" : "pending",
                      "version" : "20240601120000000"
                    }
                  ],
                  "needsMigration" : true,
                  "originVersion" : "20240110090000000"
                }

                """)
        #expect(
            try await tool("plan --database app.sqlite --json").output == """
                {
                  "currentVersion" : "20240110090000000",
                  "database" : "app.sqlite",
                  "pending" : [
                    {
                      "file" : "20240601120000000_add_shelves.sql",
                      "foreignKeys" : "deferred",
                      "isOutOfOrder" : false,
                      "isReversible" : true,
                      "name" : "add_shelves",
                      "redefines" : false,
                      "statements" : 2,
                      "transaction" : "wrapped",
                      "version" : "20240601120000000"
                    }
                  ]
                }

                """)
    }

    @Test("stop at a failing file, and keep earlier ones")
    func failure() async throws {
        var migrations = Tool.books
        migrations["20240601120000000_add_shelves.sql"] =
            "CREATE TABLE shelf(id INTEGER);\nCREATE TABEL x(y);\n"
        let tool = try Tool(migrations)
        let failed = try await tool("migrate --database app.sqlite")
        #expect(failed.output == "")
        #expect(
            failed.errors == """
                error: 20240601120000000_add_shelves.sql:2: near "TABEL": syntax error (SQLite 1).
                It was rolled back. Fix it and migrate again.

                """)
        #expect(failed.status == 1)
        #expect(try tool.strings("SELECT version FROM schema_migrations") == ["20240110090000000"])
    }

    @Test("keep nothing after a failure with --all-or-nothing")
    func allOrNothing() async throws {
        var migrations = Tool.books
        migrations["20240601120000000_add_shelves.sql"] = "CREATE TABEL x(y);\n"
        let tool = try Tool(migrations)
        #expect(try await tool("migrate --database app.sqlite --all-or-nothing").status == 1)
        #expect(try tool.strings("SELECT name FROM sqlite_master WHERE name = 'book'") == [])
    }

    @Test(
        "report cause and remedy",
        arguments: [
            (
                "status --database nowhere.sqlite",
                """
                error: There is no database nowhere.sqlite.
                Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one.
                """
            ),
            (
                "status --database Migrations",
                """
                error: Migrations is a folder.
                Pass the path of a SQLite database as --database; only `app-migrations migrate` creates one.
                """
            ),
            (
                "status --database noise.sqlite",
                """
                error: noise.sqlite: file is not a database (SQLite 26).
                If it is encrypted, pass its passphrase; if not, restore the database from a backup.
                """
            ),
            (
                "status --database app.sqlite --directory empty",
                """
                error: PLACE/empty: the folder holds no migration.
                Pass another folder as --directory, or make a first migration with `app-migrations new <name>`.
                """
            ),
            (
                "migrate --database unmanaged.sqlite",
                """
                error: The database has tables, but there is no `schema_migrations` table.
                Mark the migrations that it has had with `app-migrations adopt`. Nothing was changed.
                """
            ),
            (
                "migrate --database app.sqlite --up-to 5",
                """
                error: No migration has version 5.
                The latest is 20240601120000000.
                """
            ),
            (
                "rollback --database app.sqlite --to 0",
                """
                error: There is no down migration for 20240110090000000_create_books.sql.
                Give each a .down.sql file, or a `down:` or `rollback:` argument. Nothing was changed.
                """
            ),
            (
                "accept --database app.sqlite 20240110090000000",
                """
                error: 20240110090000000 was not edited after it was applied to app.sqlite.
                No file was: there is nothing to accept.
                """
            ),
            (
                "history --store nowhere.json",
                """
                error: There is no store nowhere.json.
                Pass the path of a store's JSON file as --store.
                """
            ),
            (
                "new a,b",
                """
                error: "a,b" cannot be a migration's name: its name has a character that a name may not have.
                Use letters, digits, _ and -, and do not end with _. For a down migration, pass --down.
                """
            ),
        ])
    func errors(arguments: String, expected: String) async throws {
        let tool = try Tool(Tool.books)
        try tool.write(String(repeating: "noise ", count: 500), to: "noise.sqlite")
        try tool.write("", to: "empty/README.md")
        _ = try await tool("migrate --database app.sqlite --quiet")
        _ = try await tool("dump --database app.sqlite")
        let unmanaged = try Tool()
        try unmanaged.execute("CREATE TABLE note(text)")
        try tool.write(
            Data(contentsOf: unmanaged.folder.file("app.sqlite")), to: "unmanaged.sqlite")

        let run = try await tool(arguments)
        #expect(
            run.errors.replacingOccurrences(of: tool.folder.url.path, with: "PLACE") == expected + "\n")
        #expect(run.output == "")
        #expect(run.status == 1)
    }

    @Test(
        "exit with status 64 after wrong usage",
        arguments: [
            "status", "migrate", "nonsense", "plan --database app.sqlite --up-to soon", "history",
            "history --database a --store b", "adopt --database app.sqlite --from version",
            "adopt --database app.sqlite --from grdb",
            "adopt --database app.sqlite --from user_version --map a=5",
            "adopt --database app.sqlite --from grdb --map a",
        ])
    func usage(arguments: String) async throws {
        let run = try await Tool(Tool.books)(arguments)
        #expect(run.status == 64)
        #expect(run.errors.hasPrefix("Error: "), "\(run.errors)")
    }

    @Test("list migrations in Swift, but do not run them")
    func swift() async throws {
        var migrations = Tool.books
        migrations["20240301000000000_AddAuthors.swift"] = "struct AddAuthors {}\n"
        let tool = try Tool(migrations)
        let failed = try await tool("migrate --database app.sqlite")
        #expect(
            failed.errors == """
                error: 20240301000000000_AddAuthors.swift: is written in Swift, and only the app can run it.
                Let the app migrate the database, or migrate up to the version before it.

                """)
        #expect(
            try await tool("plan --database app.sqlite").output == """
                app.sqlite: 2 migrations would be applied
                  20240301000000000  AddAuthors   in Swift: only the app can run it
                  20240601120000000  add_shelves  2 statements

                """)
        #expect(try await tool("check").status == 0)
    }
}
