import Dispatch
import Foundation
import MigrationTesting
import SchemaMigrations

/// Shows how far work is that takes long, and lets it be cancelled by Control-C.
///
/// On standard error, where that is a terminal, and only once the work has taken a while.
struct ProgressBar {
    enum Visibility { case shown, hidden }

    let visibility: Visibility

    /// Runs the body, which counts up the progress that it is given.
    func during<Result>(_ body: (Progress) throws -> Result) rethrows -> Result {
        let progress = Progress(totalUnitCount: 1)
        let queue = DispatchQueue(label: "progress")
        // The default reaction, to die, would come first.
        signal(SIGINT, SIG_IGN)
        let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        interrupt.setEventHandler { progress.cancel() }
        interrupt.resume()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        if visibility == .shown, FileHandle.standardError.isTerminal {
            timer.setEventHandler { Self.draw(progress) }
        }
        timer.schedule(deadline: .now() + 0.5, repeating: 0.1)
        timer.resume()
        defer {
            timer.cancel()
            interrupt.cancel()
            queue.sync {
                if visibility == .shown, FileHandle.standardError.isTerminal { Self.write("\r\u{1B}[K") }
            }
            signal(SIGINT, SIG_DFL)
        }
        return try body(progress)
    }

    private static func draw(_ progress: Progress) {
        let width = 30
        let done = min(width, max(0, Int(progress.fractionCompleted * Double(width))))
        let bar = String(repeating: "█", count: done) + String(repeating: "░", count: width - done)
        let percent = Int(progress.fractionCompleted * 100)
        write("\r\u{1B}[K\(bar) \(percent)%")
    }

    private static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
