import Foundation

/// What a run remembers of each place, and how much of it the place has written.
struct RunBooks {
    private struct Book {
        let finding: MigrationSurvey.Finding
        var record: MigrationRecord
        var written: MigrationRecord?
        var hasSeenCurrent: Bool
        var history: [SettledStep]
    }

    private let subject: MigrationSurvey.Subject
    /// The places in the order in which they are written.
    private let places: [PlaceID]
    private var books: [PlaceID: Book] = [:]
    /// What the record said of a running step before this one was started.
    private var runningBefore: MigrationRecord.Running?

    /// Opens the books with what a survey has found.
    init(_ survey: MigrationSurvey) {
        subject = survey.subject
        places = survey.findings.map(\.place.id)
        for finding in survey.findings {
            let notNeeded = finding.begun.settled.subtracting(finding.stored.record?.settled ?? [])
            books[finding.place.id] = Book(
                finding: finding, record: finding.begun, written: finding.stored.record,
                hasSeenCurrent: finding.stored.hasSeen(subject.current, in: subject.line),
                history: notNeeded.sorted().map { version in
                    SettledStep(
                        version: version, outcome: .notNeeded, date: Date(), appVersion: subject.current)
                })
        }
    }

    /// Which launch this is for a place.
    func launch(of place: any MigrationPlace) -> Launch? { books[place.id]?.finding.launch }

    /// Which attempt at a step that was started this is, from 1.
    func attempt(of step: MigrationStep) -> Int { books[step.place.id]?.record.running?.attempt ?? 1 }

    /// Notes that a step is being started.
    mutating func start(_ step: MigrationStep) {
        runningBefore = books[step.place.id]?.record.running
        if !step.isMove {
            books[step.place.id]?.record.start(step.version, build: subject.build, at: Date())
        }
    }

    /// Notes that a step, which is no move, is done.
    mutating func settle(_ step: MigrationStep, _ settlement: Settlement) {
        let id = step.place.id
        if case .transaction = step.work {
            // The transaction has written it already.
            books[id]?.written?.settle(step.version)
        } else {
            books[id]?.history.append(settlement.step)
        }
        books[id]?.record.settle(step.version)
        if let died = runningBefore, died.version != step.version {
            // A later step has died before; this one, which was added since, must not make that forgotten.
            books[id]?.record.running = died
        }
    }

    /// Notes that a step that is running has got further than in its earlier attempts: those count no more.
    mutating func forgive(_ step: MigrationStep) {
        // Another step that died before has not got further by this one's checkpoint.
        guard runningBefore?.version == step.version else { return }
        let attempt = attempt(of: step)
        runningBefore?.forgiven = attempt - 1
    }

    /// Notes that a step has thrown.
    mutating func fail(_ step: MigrationStep) {
        // It has not died in the middle of its work: what died before is all there is to count.
        books[step.place.id]?.record.running = runningBefore
    }

    /// Notes that all is done.
    mutating func end(_ extent: MigrationExtent) {
        for (id, book) in books {
            books[id]?.record = extent.ending(book.record, by: book.finding.launch, current: subject.current)
        }
    }

    /// Writes what is not written yet, in every place.
    ///
    /// Input and output, on any thread.
    ///
    /// - Parameter last: the place where a step is being started: when another one cannot be written, it is not
    ///   started, and must not look as if it had died.
    func writing(startingIn last: PlaceID?) -> @Sendable () throws -> Void {
        let unwritten = (places.filter { $0 != last } + places.filter { $0 == last })
            .compactMap { books[$0] }
            .filter { $0.record != $0.written || !$0.hasSeenCurrent }
            .map { book in
                (
                    store: book.finding.place.store, record: book.record, history: book.history,
                    // A version that was adopted counts as seen: other managers of the store came from it too.
                    seen: [book.finding.launch.previousVersion, subject.current].compactMap { $0 }
                )
            }
        return { [subject] in
            for (store, record, history, seen) in unwritten {
                try store.update(subject.manager) { state in
                    // What a step has settled in its own transaction stays settled, also when this run does not
                    // know of it: two stores may share a database.
                    state.record = record.keeping(settled: state.record?.settled ?? [])
                    state.see(seen, in: subject.line, at: Date())
                    state.newHistory = history
                }
            }
        }
    }

    /// Notes that all of it has been written.
    mutating func noteWritten() {
        for (id, book) in books {
            books[id]?.written = book.record
            books[id]?.hasSeenCurrent = true
            books[id]?.history = []
        }
    }
}
