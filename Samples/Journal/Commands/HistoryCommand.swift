import AppMigrations
import ArgumentParser
import Foundation
import SchemaMigrations
import TextOutput

/// Prints the history of a folder of data.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print the versions that were launched, and what ran when.")

    @OptionGroup var options: DataOptions

    func run() throws {
        let folder = options.folder
        guard folder.exists else { throw NoJournal(folder: folder) }
        let app = try JournalApp(folder: folder, release: .latest)
        let style = Style()

        print(style.heading("Versions"))
        for (version, date) in try app.launchedVersions() {
            print("  \(style.faint(date.toTheMinute))  \(version)")
        }

        print("\n" + style.heading("Schema"))
        for migration in try app.entries.schemaHistory() {
            let date = style.faint(migration.date?.toTheMinute ?? "")
            print(
                "  \(date)  \(migration.version)  \(app.entries.names(of: ["\(migration.version)"]).joined())"
            )
        }

        for (name, steps) in try app.history() where !steps.isEmpty {
            print("\n" + style.heading(name))
            for step in steps {
                let version = "\(step.version)".padded(to: 5)
                print("  \(style.faint(step.date.toTheMinute))  \(version)  \(step.inWords)")
            }
        }
    }
}

extension SettledStep {
    /// The outcome of the step.
    fileprivate var inWords: String {
        switch outcome {
        case .ran:
            "run by \(appVersion)" + (duration.map { " " + ($0 / .milliseconds(1)).inMilliseconds } ?? "")
        case .notNeeded: "not needed: the journal began with \(appVersion)"
        case .skipped: "skipped by \(appVersion)"
        }
    }
}

extension Date {
    /// The date, such as `2024-06-21 09:30`.
    fileprivate var toTheMinute: String {
        formatted(
            .verbatim(
                "\(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)",
                timeZone: .current, calendar: Calendar(identifier: .gregorian)))
    }
}
