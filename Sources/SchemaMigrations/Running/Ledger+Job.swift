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
            try insert(Entry(job, taking: seconds, app: app), db)
        case .down:
            try remove(job.version, db)
        }
    }
}

extension Ledger.Entry {
    /// Describes a migration that this migrator has run.
    init(_ job: MigrationJob, taking seconds: Double, app: AppVersion?) {
        self.init(job.migration, job.isBaseline ? .snapshot : .applied, job.isCompatible)
        checksum = job.checksum
        self.seconds = seconds
        self.app = app?.description
    }
}
