import AppMigrations
import Foundation

/// Prints a launch: a heading with its kind, a line for each step, and what the journal holds in the end.
final class LaunchPrinter {
    private let style = Style()
    private let bar: ProgressBar?
    private let isSlow: Bool
    private var hasHeading = false
    private var count = 0
    /// What is running.
    private var title = ""
    /// How long it was made to pause, which is none of its work.
    private var paused = Duration.zero

    /// Creates a printer of one launch.
    ///
    /// - Parameter isSlow: whether it pauses at every step. Real data gives people time enough to see a bar.
    init(isSlow: Bool = false) {
        bar = ProgressBar(style: style)
        self.isSlow = isSlow
    }

    /// Launches the app, and prints as it goes on: when a manager fails, what others did before is to be
    /// seen.
    func launch(_ app: JournalApp) throws {
        try app.launch { [unowned app] event in
            switch event {
            case .migration(let event): self.show(event, app)
            case .advanced: self.showProgress(app)
            case .upgraded(let from, let news):
                print("  \(self.style.good("★")) new since \(from): \(news.joined(separator: "; "))")
            }
        }
        if count == 0 { print("  nothing to do") }
        print("  " + style.faint("holds \(try Contents(of: app.folder).summary)"))
    }

    private func show(_ event: MigrationEvent, _ app: JournalApp) {
        switch event.kind {
        case .launchRecognized(let launch):
            if !hasHeading { print("\(style.heading("Journal \(app.release)")), \(launch.inWords)") }
            hasHeading = true
        case .willRun(let step):
            title = "\(event.manager) \(step.version)"
            showProgress(app)
            paused = .zero
        case .didRun(let step, let duration):
            bar?.erase()
            let work = step.schemaVersions.map { app.entries.names(of: $0).joined(separator: ", ") }
            print(line(step.version, event.manager, work ?? app.notes.take(), duration - paused))
            count += 1
        case .didFail:
            bar?.erase()
        default:
            break
        }
    }

    private func showProgress(_ app: JournalApp) {
        bar?.draw(title, fraction: app.progress.fractionCompleted)
        guard isSlow else { return }
        paused += ContinuousClock().measure { Thread.sleep(forTimeInterval: 0.25) }
    }

    private func line(_ version: AppVersion, _ manager: String, _ work: String, _ duration: Duration)
        -> String
    {
        [
            "  " + style.good("✓"), "\(version)".padded(to: 5), manager.padded(to: 12), work.padded(to: 52),
            style.faint((duration / .milliseconds(1)).inMilliseconds),
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

extension Double {
    /// The number of milliseconds, in a column of its own.
    var inMilliseconds: String { String(format: "%6.1f ms", self) }
}
