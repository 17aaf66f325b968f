import Dispatch
import Foundation
import TextOutput

/// Work that may take long: Control-C cancels it, and a bar shows its progress once it has taken a while.
struct InterruptibleWork {
    /// The bar; nil to show none.
    let bar: ProgressBar?

    /// Runs the body, which counts up the progress that it is given.
    func run<Result>(_ body: (Progress) throws -> Result) rethrows -> Result {
        let progress = Progress(totalUnitCount: 1)
        let queue = DispatchQueue(label: "progress")
        // The default reaction, to die, would come first.
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
