import AppMigrations
import GRDB

/// The unfinished steps of a database that begin again when migrations are undone there.
///
/// An undone migration may have dropped what such a step had written. When it is applied again, the step must not go on
/// where it was, or the rows before that would stay without. A finished step stays finished: nothing tells one that an
/// undone migration has emptied from one that has changed what is still there, and must not do so twice.
struct RestartedSteps {
    let database: any DatabaseWriter
    /// Returns true for a step that is to begin again.
    var includes: (UnfinishedStep) -> Bool = { _ in true }

    /// Forgets how far the steps of all managers are, in the open transaction.
    func restart(_ db: Database) throws {
        let store = SQLiteStore(database)
        let steps = try SQLiteStore.unfinishedSteps(db).filter(includes)
        for (manager, steps) in Dictionary(grouping: steps, by: \.manager) {
            try store.update(manager, db) { state in
                try state.apply(.restarted(steps.map(\.id)), toRecordOf: manager)
            }
        }
    }
}
