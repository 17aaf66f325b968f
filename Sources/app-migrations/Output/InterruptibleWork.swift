import Dispatch
import Foundation
import TextOutput

/// Work that may take long, which Control-C cancels and a bar shows after a while.
struct InterruptibleWork {
    /// The bar; nil to show none.
    let bar: ProgressBar?

    /// Runs the body, which updates the progress that it receives.
    func run<Result>(_ body: (Progress) throws -> Result) rethrows -> Result {
        let progress = Progress(totalUnitCount: 1)
        let queue = DispatchQueue(label: "progress")
        // Ignore the signal first: the default reaction would end the process.
        signal(SIGINT, SIG_IGN)
        let interrupt = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        interrupt.setEventHandler { progress.cancel() }
        interrupt.resume()
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { bar?.draw(fraction: progress.fractionCompleted) }
        timer.schedule(deadline: .now() + 0.5, repeating: 0.1)
        timer.resume()
        defer {
            timer.cancel()
            interrupt.cancel()
            queue.sync { bar?.erase() }
            signal(SIGINT, SIG_DFL)
        }
        return try body(progress)
    }
}
