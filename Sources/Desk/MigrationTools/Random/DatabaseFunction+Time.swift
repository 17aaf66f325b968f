import GRDB

extension DatabaseFunction {
    /// Returns SQLite's functions of time (lang_datefunc.html), with a chosen present.
    ///
    /// - Parameters:
    ///   - now: the present: a date, or a text that SQLite reads as one.
    ///   - zone: the hours to add to UTC for the local time; nil for this computer's zone.
    static func time(now: any DatabaseValueConvertible, zone: Int? = nil) throws -> [DatabaseFunction] {
        let sqlite = try DatabaseQueue()
        let now = now.databaseValue
        @Sendable func value(_ name: String, _ arguments: [DatabaseValue]) throws -> DatabaseValue {
            let marks = arguments.map { _ in "?" }.joined(separator: ", ")
            return try sqlite.unsafeReentrantRead {
                try DatabaseValue.fetchOne(
                    $0, sql: "SELECT \(name)(\(marks))", arguments: StatementArguments(arguments)) ?? .null
            }
        }
        // A format, one time or two, and what modifies it. A time that is left out is the present.
        let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
        let ofTime = names.map { name in
            let times = name == "strftime" ? 1...1 : name == "timediff" ? 0...1 : 0...0
            return DatabaseFunction(name, pure: true) { arguments in
                var arguments = arguments.enumerated().map { place, argument in
                    place > times.upperBound
                        ? zone.map(argument.inZone) ?? argument
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
        return ofTime + ofMoment
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
