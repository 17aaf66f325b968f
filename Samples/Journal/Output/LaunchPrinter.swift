import AppMigrations
import Foundation
import TextOutput

/// Prints a launch: a heading with its kind, a line for each step, and the contents of the journal.
final class LaunchPrinter {
    private let style = Style()
    private let bar: ProgressBar?
    private let isSlow: Bool
    /// The number of batches after which the process is killed; nil for never.
    private let killAfter: Int?
    private var batches = 0
    private var hasHeading = false
    private var count = 0
    /// The text beside the bar.
    private var title = ""
    /// How long the step paused for the viewer, which does not count as its work.
    private var paused = Duration.zero

    /// Creates a printer for one launch.
    ///
    /// - Parameters:
    ///   - isSlow: Whether to pause at every step. With real data, steps are long enough to see the bar.
    ///   - killAfter: The number of batches after which the process is killed; nil for never.
    init(isSlow: Bool = false, killAfter: Int? = nil) {
        bar = ProgressBar()
        self.isSlow = isSlow
        self.killAfter = killAfter
    }

    /// Launches the app, then does what the launch did not wait for.
    func play(_ app: JournalApp, isolation: isolated (any Actor)? = #isolation) async throws {
        try launch(app)
        guard try app.hasDeferredWork else { return }
        print("\n" + style.heading("Journal \(app.release)") + ", in use")
        let durations = try await app.runDeferred()
        let slowest = (durations.max() ?? .zero) / .milliseconds(1)
        print("  ✎ written meanwhile: one entry, whose slowest save took \(slowest.inMilliseconds)")
        try printContents(app)
    }

    /// Launches the app, and prints each step as it completes, so that a failure comes after the earlier steps.
    func launch(_ app: JournalApp) throws {
        try app.launch { [unowned app] event in
            switch event {
            case .migration(let event): self.show(event, app)
            case .advanced: self.showProgress(app)
            case .upgraded(let from, let news):
                print("  \(self.style.good("★")) new since \(from): \(news.joined(separator: "; "))")
            }
        }
        if let report = app.entries.salvaged {
            print("  \(style.good("✚")) the database was damaged: \(report)")
        }
        if count == 0 { print("  nothing to do") }
        try printContents(app)
    }

    private func printContents(_ app: JournalApp) throws {
        let found = try app.count(of: "walk").map { "; \"walk\" is found in \($0)" } ?? ""
        print("  " + style.faint("holds \(try Contents(of: app.folder).summary)\(found)"))
    }

    private func show(_ event: MigrationEvent, _ app: JournalApp) {
        switch event.kind {
        case .launchRecognized(let launch):
            if !hasHeading { print("\(style.heading("Journal \(app.release)")), \(launch.inWords)") }
            hasHeading = true
        case .willRun:
            title = text(of: event)
            showProgress(app)
            paused = .zero
        case .didRun(let step, let duration):
            bar?.erase()
            let work = step.schemaVersions.map { app.entries.names(of: $0).joined(separator: ", ") }
            print(line(step.version, event.manager, work ?? app.notes.take(), duration - paused))
            count += 1
        case .didRunBatch(_, let done, let total):
            title = text(of: event)
            bar?.draw(title, fraction: app.deferredProgress?.fractionCompleted ?? 0)
            batches += 1
            guard batches == killAfter else { return }
            bar?.erase()
            print("  \(style.bad("✗")) killed, with \(done) of \(total ?? 0) entries indexed")
            fflush(nil)
            kill(getpid(), SIGKILL)
        case .didFail:
            bar?.erase()
        default:
            break
        }
    }

    /// The text that a person reads beside the bar.
    private func text(of event: MigrationEvent) -> String {
        [event.localizedDescription, event.localizedAdditionalDescription].compactMap(\.self)
            .joined(separator: ", ")
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
    /// The kind of launch, for a heading.
    fileprivate var inWords: String {
        switch self {
        case .freshInstall: "a fresh install"
        case .adoption(let version): "an adoption from \(version)"
        case .upgrade(let version): "an upgrade from \(version)"
        case .relaunch: "launched again"
        case .downgrade(let version): "a downgrade from \(version)"
        }
    }
}

extension Double {
    /// The number of milliseconds, aligned in a column.
    var inMilliseconds: String { String(format: "%6.1f ms", self) }
}
