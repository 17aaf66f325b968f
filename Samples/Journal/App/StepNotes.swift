import AppMigrations
import Foundation

/// What the step that is running tells of its work.
///
/// `@unchecked`: the text is read and written under the lock only, since steps in a database run on its queue.
/// Nobody is told of counting but by steps that run where the app is launched.
final class StepNotes: @unchecked Sendable {
    private let lock = NSLock()
    private var text = ""
    private let onAdvance: () -> Void

    init(onAdvance: @escaping () -> Void = {}) {
        self.onAdvance = onAdvance
    }

    /// Notes what the step has done, in a few words.
    func did(_ text: String) {
        lock.withLock { self.text = text }
    }

    /// Counts a unit of a long step's work as done.
    func advance(_ progress: Progress) {
        progress.completedUnitCount += 1
        onAdvance()
    }

    /// What the step has done; the next one begins with nothing.
    func take() -> String {
        lock.withLock {
            defer { text = "" }
            return text
        }
    }
}
