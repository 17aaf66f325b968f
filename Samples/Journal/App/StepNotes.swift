import AppMigrations
import Foundation

/// Describes the work of the running step.
///
/// `@unchecked`: steps in a database run on its queue, so a lock guards the text. Only steps that run on the
/// launching thread report progress.
final class StepNotes: @unchecked Sendable {
    private let lock = NSLock()
    private var text = ""
    private let onAdvance: () -> Void

    init(onAdvance: @escaping () -> Void = {}) {
        self.onAdvance = onAdvance
    }

    /// Notes what the step did, in a few words.
    func did(_ text: String) {
        lock.withLock { self.text = text }
    }

    /// Counts one unit of a long step's work as complete.
    func advance(_ progress: Progress) {
        progress.completedUnitCount += 1
        onAdvance()
    }

    /// Returns the note, and clears it for the next step.
    func take() -> String {
        lock.withLock {
            defer { text = "" }
            return text
        }
    }
}
