import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A trial of whether migrations make the same database on every day, whatever `random()` and the app's functions return.
///
/// A snapshot or a baseline would keep what they make today for every later install. The migrations run on two days that are
/// years apart, and once for each stand-in for a function, which returns something else then. What SQLite computes when the app
/// uses the database, such as a column's default, is not affected.
struct DayTrial {
    private let migrator: SchemaMigrator
    private let configuration: Configuration
    private let standIns: StandIns
    private let progress: Progress?

    private static let days = ["2001-02-03 04:05:06.789", "2034-11-12 13:14:15.678"]

    /// - Parameter configuration: the one for databases in memory, with the stand-ins.
    init(
        _ migrator: SchemaMigrator, configuration: Configuration = Configuration(),
        standIns: StandIns = StandIns(), progress: Progress? = nil
    ) {
        self.migrator = migrator
        self.configuration = configuration
        self.standIns = standIns
        self.progress = progress
    }

    /// - Throws: `MigrationError`, if the databases differ.
    func check() throws {
        // Where one day has a number, the other has its complement: another sign, another remainder, the reverse order.
        let contents = try contents(adding: Self.functions(Self.days[0]))
        let others = try self.contents(adding: Self.functions(Self.days[1], complement: .max))
        try refuse(
            contents.differences(from: others, calling: "one day", "another"),
            "depends on the day or on chance",
            "get the values of today")
        for standIn in standIns.used where standIn.kind == .function {
            try refuse(
                differences(of: contents, from: standIn), "depends on \(standIn.title) of the app",
                "get the values of its stand-in")
        }
    }

    /// Compares a database with one for which a stand-in has returned something else.
    private func differences(of contents: DatabaseContents, from standIn: StandIn) throws -> [String] {
        do {
            let others = try self.contents(
                adding: Self.functions(Self.days[0]) + [standIn.function(isOther: true)], checking: false)
            return contents.differences(from: others, calling: "one result", "another")
        } catch let error as MigrationError {
            return ["with another result, \(error.message)"]
        }
    }

    /// - Parameter isChecking: false to take rows that fail a check: a function in one freezes no value.
    private func contents(
        adding functions: [DatabaseFunction], checking isChecking: Bool = true
    ) throws -> DatabaseContents {
        var configuration = configuration
        configuration.prepareDatabase { db in
            for function in functions { db.add(function: function) }
            if !isChecking { try db.execute(sql: "PRAGMA ignore_check_constraints = 1") }
        }
        let database = try configuration.scratchDatabase()
        try migrator.migrate(database, progress: progress)
        return try database.writeWithoutTransaction { try DatabaseContents($0, isWritable: true) }
    }

    private func refuse(_ differences: [String], _ problem: String, _ consequence: String) throws {
        guard !differences.isEmpty else { return }
        throw MigrationError(
            .misuse, "What the migrations make \(problem): \(differences.joined(separator: "; "))",
            remedy: """
                Every later install would \(consequence). Write the value itself in the file, or leave the row to the app. \
                Nothing was changed.
                """)
    }

    /// SQLite's functions of time and chance, as they are at a moment.
    private static func functions(_ now: String, complement: UInt64 = 0) throws -> [DatabaseFunction] {
        let sqlite = try DatabaseQueue()
        @Sendable func value(_ name: String, _ arguments: [DatabaseValue]) throws -> DatabaseValue {
            let marks = arguments.map { _ in "?" }.joined(separator: ", ")
            return try sqlite.unsafeReentrantRead {
                try DatabaseValue.fetchOne(
                    $0, sql: "SELECT \(name)(\(marks))", arguments: StatementArguments(arguments)) ?? .null
            }
        }
        // lang_datefunc.html: `now` is the present, and so is a time that is left out.
        let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
        let ofTime = names.map { name in
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
        let chance = Locked(RandomNumbers(seed: 0))
        return ofTime + constants
            + DatabaseFunction.random { chance.withLock { $0.next() } ^ complement }
    }
}

extension DatabaseValue {
    /// The value, or the moment if it stands for the present.
    fileprivate func atMoment(_ now: String) -> DatabaseValue {
        guard let text = String.fromDatabaseValue(self), text.lowercased() == "now" else { return self }
        return now.databaseValue
    }
}
