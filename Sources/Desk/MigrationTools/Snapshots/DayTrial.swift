import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A trial of whether migrations make the same database on every day, and whatever `random()` returns.
///
/// A snapshot or a baseline would keep what they make today for every later install. The migrations run on two days that are
/// years apart. What SQLite computes when the app uses the database, such as a column's default, is not affected.
struct DayTrial {
    private let migrator: SchemaMigrator
    private let configuration: Configuration
    private let progress: Progress?

    init(
        _ migrator: SchemaMigrator, configuration: Configuration = Configuration(), progress: Progress? = nil
    ) {
        self.migrator = migrator
        self.configuration = configuration
        self.progress = progress
    }

    /// - Throws: `MigrationError`, if the databases differ.
    func check() throws {
        let contents = try ["2001-02-03 04:05:06.789", "2034-11-12 13:14:15.678"].map { now in
            var configuration = configuration
            configuration.prepareDatabase { db in
                for function in try Self.functions(now) { db.add(function: function) }
            }
            let database = try configuration.scratchDatabase()
            try migrator.migrate(database, progress: progress)
            return try database.writeWithoutTransaction(DatabaseContents.init)
        }
        let differences = contents[0].differences(from: contents[1], calling: "one day", "another")
        guard !differences.isEmpty else { return }
        throw MigrationError(
            .misuse,
            "What the migrations make depends on the day or on chance: \(differences.joined(separator: "; "))",
            remedy: """
                Every later install would get the values of today. Write the value itself in the file, or leave the row to \
                the app. Nothing was changed.
                """)
    }

    /// SQLite's functions of time and chance, as they are at a moment.
    private static func functions(_ now: String) throws -> [DatabaseFunction] {
        let sqlite = try DatabaseQueue()
        @Sendable func value(_ name: String, _ arguments: [DatabaseValue]) throws -> DatabaseValue {
            let marks = arguments.map { _ in "?" }.joined(separator: ", ")
            return try sqlite.unsafeReentrantRead {
                try DatabaseValue.fetchOne(
                    $0, sql: "SELECT \(name)(\(marks))", arguments: StatementArguments(arguments)) ?? .null
            }
        }
        // lang_datefunc.html: `now` is the present, and so is a time that is left out.
        let ofTime = ["date", "time", "datetime", "julianday", "unixepoch", "strftime"].map { name in
            DatabaseFunction(name, pure: true) { arguments in
                var arguments = arguments.map { $0.atMoment(now) }
                let format = name == "strftime" ? 1 : 0
                if arguments.count <= format { arguments.append(now.databaseValue) }
                return try value(name, arguments)
            }
        }
        let constants = [
            ("current_date", "date"), ("current_time", "time"), ("current_timestamp", "datetime"),
        ]
        .map { name, function in
            DatabaseFunction(name, argumentCount: 0, pure: true) { _ in
                try value(function, [now.databaseValue])
            }
        }
        let chance = UInt64(now.prefix(4)) ?? 0
        return ofTime + constants + DatabaseFunction.random { chance }
    }
}

extension DatabaseValue {
    /// The value, or the moment if it stands for the present.
    fileprivate func atMoment(_ now: String) -> DatabaseValue {
        guard let text = String.fromDatabaseValue(self), text.lowercased() == "now" else { return self }
        return now.databaseValue
    }
}
