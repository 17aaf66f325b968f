import AppMigrations
import Dispatch
import Foundation
import TextOutput

/// Work that may take long, which a signal cancels and a bar shows after a while.
///
/// SIGINT (Control-C), SIGTERM and SIGHUP cancel the work, so that it removes what it has made.
struct InterruptibleWork {
    /// The bar; nil to show none.
    let bar: ProgressBar?
    /// A folder to remove, and then to end the process, if the work goes on for three seconds after a signal.
    var temporaryFolder: URL?

    /// Runs the body, which updates the progress that it receives.
    func run<Result>(_ body: (Progress) throws -> Result) rethrows -> Result {
        let progress = Progress(totalUnitCount: 1)
        let queue = DispatchQueue(label: "progress")
        let isOver = Locked(false)
        let sources = [SIGINT, SIGTERM, SIGHUP].compactMap {
            source(of: $0, cancelling: progress, on: queue, unless: isOver)
        }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { bar?.draw(fraction: progress.fractionCompleted) }
        timer.schedule(deadline: .now() + 0.5, repeating: 0.1)
        timer.resume()
        defer {
            isOver.withLock { $0 = true }
            timer.cancel()
            for (number, source) in sources {
                source.cancel()
                signal(number, SIG_DFL)
            }
            queue.sync { bar?.erase() }
        }
        return try body(progress)
    }

    /// Has a signal cancel the work, unless the process was started to ignore it, as `nohup` does.
    private func source(
        of number: Int32, cancelling progress: Progress, on queue: DispatchQueue, unless isOver: Locked<Bool>
    ) -> (Int32, any DispatchSourceSignal)? {
        // Ignore the signal first: the default reaction would end the process.
        let previous = signal(number, SIG_IGN)
        // SIG_IGN is an odd address in the type of a function, and Swift cannot compare functions. The cast to an
        // integer of the same size makes both comparable addresses; nothing calls them.
        if unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { return nil }
        let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
        source.setEventHandler { [temporaryFolder] in
            progress.cancel()
            guard let temporaryFolder else { return }
            queue.asyncAfter(deadline: .now() + 3) {
                guard !isOver.withLock({ $0 }) else { return }
                try? FileManager.default.removeItem(at: temporaryFolder)
                _exit(128 + number)
            }
        }
        // Until the source is registered, the signal is ignored, and lost.
        let registration = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { registration.signal() }
        source.resume()
        registration.wait()
        return (number, source)
    }
}
