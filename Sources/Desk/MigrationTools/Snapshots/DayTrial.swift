import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// A trial of whether migrations make the same database on every day and device, whatever `random()` and the app's functions
/// return.
///
/// A snapshot or a baseline would keep what they make today for every later install. The migrations run on two days that are
/// years apart, in two time zones, and once for each stand-in for a function, which returns something else then. What SQLite
/// computes when the app uses the database, such as a column's default, is not affected.
struct DayTrial {
    private let migrator: SchemaMigrator
    private let configuration: Configuration
    private let standIns: StandIns
    private let progress: Progress?

    /// When and where the migrations run.
    private struct Surroundings {
        let now: String
        /// The hours that are added to UTC for the local time.
        let zone: Int
        /// The version of SQLite.
        let version: String
        /// The bits that are inverted in a random number.
        let inverted: UInt64
    }

    private static let first = Surroundings(
        now: "2001-02-03 04:05:06.789", zone: -12, version: "3.0.0", inverted: 0)
    // Where one has a random number, the other has its complement: another sign, another remainder, the reverse order. The zones
    // are more than a day apart, so each time has another date.
    private static let second = Surroundings(
        now: "2034-11-12 13:14:15.678", zone: 14, version: "3.999.0", inverted: .max)

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
        let contents = try contents(adding: Self.functions(Self.first))
        let others = try self.contents(adding: Self.functions(Self.second))
        try refuse(
            contents.differences(from: others, calling: "one day", "another"),
            "depends on the day, on the computer or on chance",
            "get the values of this computer today")
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
                adding: Self.functions(Self.first) + [standIn.function(isOther: true)], checking: false)
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
            // SQLite trusts its own functions in definitions anyway.
            try db.execute(sql: "PRAGMA trusted_schema = ON")
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

    /// SQLite's functions of time, place and chance.
    private static func functions(_ surroundings: Surroundings) throws -> [DatabaseFunction] {
        let sqlite = try DatabaseQueue()
        let now = surroundings.now.databaseValue
        @Sendable func value(_ name: String, _ arguments: [DatabaseValue]) throws -> DatabaseValue {
            let marks = arguments.map { _ in "?" }.joined(separator: ", ")
            return try sqlite.unsafeReentrantRead {
                try DatabaseValue.fetchOne(
                    $0, sql: "SELECT \(name)(\(marks))", arguments: StatementArguments(arguments)) ?? .null
            }
        }
        // lang_datefunc.html: a format, one time or two, and what modifies it. A time that is left out is the present.
        let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
        let ofTime = names.map { name in
            let times = name == "strftime" ? 1...1 : name == "timediff" ? 0...1 : 0...0
            return DatabaseFunction(name, pure: true) { arguments in
                var arguments = arguments.enumerated().map { place, argument in
                    place > times.upperBound
                        ? argument.inZone(surroundings.zone)
                        : times.contains(place) && argument.isNow ? now : argument
                }
                if arguments.count <= times.lowerBound { arguments.append(now) }
                return try value(name, arguments)
            }
        }
        let ofMoment = [
            ("current_date", "date"), ("current_time", "time"), ("current_timestamp", "datetime"),
        ]
        .map { name, function in
            DatabaseFunction(name, argumentCount: 0, pure: true) { _ in try value(function, [now]) }
        }
        let ofVersion = ["sqlite_version", "sqlite_source_id"].map { name in
            DatabaseFunction(name, argumentCount: 0, pure: true) { _ in surroundings.version }
        }
        let chance = Locked(RandomNumbers(seed: 0))
        return ofTime + ofMoment + ofVersion
            + DatabaseFunction.random { chance.withLock { $0.next() } ^ surroundings.inverted }
    }
}

extension DatabaseValue {
    /// True if the value is the present as a time: since SQLite 3.42, `subsec` is that, too.
    fileprivate var isNow: Bool {
        String.fromDatabaseValue(self).map { ["now", "subsec", "subsecond"].contains($0.lowercased()) }
            ?? false
    }

    /// The value, or if it modifies a time by the computer's zone, as that would do in another one.
    fileprivate func inZone(_ hours: Int) -> DatabaseValue {
        switch String.fromDatabaseValue(self)?.lowercased() {
        case "localtime": "\(hours) hours".databaseValue
        case "utc": "\(-hours) hours".databaseValue
        default: self
        }
    }
}
