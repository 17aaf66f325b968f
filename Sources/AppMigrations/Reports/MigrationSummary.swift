/// The facts about a launch that may leave the device.
package struct MigrationSummary: Encodable, Sendable, Equatable {
    /// The kind of launch: `freshInstall`, `adoption`, `upgrade`, `relaunch` or `downgrade`.
    package let launch: String
    /// The version that the data was at before; nil for a fresh install and a relaunch.
    package let from: String?
    /// The version of the app.
    package let to: String
    /// True if an older version of the app was launched since this one, or a newer one, was.
    let returnedFromDowngrade: Bool
    /// The number of steps that ran.
    package let steps: Int
    /// The number of schema migrations that were applied.
    package let schemaMigrations: Int
    /// The number of problems that were there before, and did not stop anything.
    package let warnings: Int
    /// The number of deferred steps that wait.
    package let deferred: Int
    /// How long steps took, in milliseconds.
    let milliseconds: Int64
    /// The size of the largest database that was migrated, in bytes, rounded up to a power of two; nil if none was.
    package let databaseSize: Int64?
}

extension MigrationReport {
    /// The facts about the launch that may leave the device, to be encoded for the app's analytics.
    ///
    /// ```swift
    /// analytics.send(try manager.migrate().summary)
    /// ```
    ///
    /// Versions, counts, a duration and a size: no path, name, statement or value. The keys are `launch`, `from`, `to`,
    /// `returnedFromDowngrade`, `steps`, `schemaMigrations`, `warnings`, `deferred`, `milliseconds` and `databaseSize`.
    public var summary: some Encodable & Sendable & Equatable { facts }

    package var facts: MigrationSummary {
        let (kind, from): (String, AppVersion?) =
            switch launch {
            case .freshInstall: ("freshInstall", nil)
            case .adoption(let version): ("adoption", version)
            case .upgrade(let version): ("upgrade", version)
            case .relaunch: ("relaunch", nil)
            case .downgrade(let version): ("downgrade", version)
            }
        return MigrationSummary(
            launch: kind, from: from?.description, to: version.description,
            returnedFromDowngrade: returnedFromDowngrade, steps: completed.count,
            schemaMigrations: schemaSteps.reduce(0) { $0 + $1.schemaVersions.count },
            warnings: schemaSteps.reduce(0) { $0 + $1.warnings.count }, deferred: deferred.count,
            milliseconds: Int64(workDone.duration / .milliseconds(1)),
            databaseSize: schemaSteps.compactMap(\.databaseSize).max()?.nextPowerOfTwo)
    }
}

extension Int64 {
    /// The lowest power of two that is not below the number.
    fileprivate var nextPowerOfTwo: Int64 {
        guard self > 1 else { return 1 }
        return self > 1 << 62 ? .max : 1 << (Int64.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
