import AppMigrations
import Foundation

/// Prints a launch: a heading with its kind, a line for each step, and what the journal holds in the end.
struct LaunchPrinter {
    private let style = Style()

    /// Launches the app, and prints as it goes on: when a manager fails, what others did before is to be
    /// seen.
    func launch(_ app: JournalApp) throws {
        var hasHeading = false
        var count = 0
        try app.launch { chapter in
            if !hasHeading {
                print("\(style.heading("Journal \(app.release)")), \(chapter.report.launch.inWords)")
                hasHeading = true
            }
            for step in chapter.steps { print(line(for: step)) }
            count += chapter.steps.count
        }
        if count == 0 { print("  nothing to do") }
        print("  " + style.faint("holds \(try Contents(of: app.folder).summary)"))
    }

    private func line(for step: CompletedStep) -> String {
        [
            "  " + style.good("✓"), "\(step.version)".padded(to: 5), step.manager.padded(to: 12),
            step.work.padded(to: 52), style.faint(step.duration.inMilliseconds),
        ].joined(separator: " ")
    }
}

extension Launch {
    /// The kind of launch, as a heading says it.
    fileprivate var inWords: String {
        switch self {
        case .freshInstall: "a fresh install"
        case .adoption(let version): "taking over from \(version)"
        case .upgrade(let version): "an upgrade from \(version)"
        case .relaunch: "launched again"
        case .downgrade(let version): "a downgrade from \(version)"
        }
    }
}

extension Duration {
    fileprivate var inMilliseconds: String {
        String(format: "%6.1f ms", self / .milliseconds(1))
    }
}
