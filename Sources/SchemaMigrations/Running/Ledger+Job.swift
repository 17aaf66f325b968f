import AppMigrations
import GRDB

extension Ledger {
    /// Returns true if a migration still has to run, since another process may have run it already.
    func needs(_ job: MigrationJob) -> Bool {
        switch job.direction {
        case .up: !applied.contains(job.version) && job.version > floor ?? .min
        case .down: applied.contains(job.version)
        }
    }

    /// Records that a migration was applied or rolled back.
    static func record(
        _ job: MigrationJob, taking seconds: Double, app: AppVersion?, _ db: Database
    ) throws {
        switch job.direction {
        case .up:
            var entry = Entry(job.migration, job.isBaseline ? .snapshot : .applied, job.isCompatible)
            entry.checksum = job.checksum
            entry.seconds = seconds
            entry.app = app?.description
            try insert(entry, db)
        case .down: try remove(job.version, db)
        }
    }
}
