extension Launch {
    /// Decides the kind of a launch that finds no record, from evidence alone.
    ///
    /// Pure: a guess could lose data for ever, so what cannot be decided is nil.
    ///
    /// - Parameters:
    ///   - seen: the app versions that this place has seen, in the manager's line of versions.
    ///   - evidence: what the place shows.
    ///   - adopted: the app's answer; see ``MigrationOptions/adopting``.
    init?(seen: [AppVersion], evidence: Evidence, adopted: AppVersion?, current: AppVersion) {
        if case .empty = evidence {
            self = .freshInstall
        } else if let adopted {
            // Data that a newer app left behind is not ours to migrate.
            self = adopted.release > current.release ? .downgrade(from: adopted) : .adoption(from: adopted)
        } else {
            switch evidence {
            case .versionsSeen:
                self = seen.filter { $0 < current }.max().map { .adoption(from: $0) } ?? .freshInstall
            case .ledgerOnly:
                // A step given a database commits together with its record. No record: none has run here.
                self = .adoption(from: .zero)
            case .empty, .unmanaged:
                return nil
            }
        }
    }
}

extension AppVersion {
    /// Below every version that an app has ever had.
    static let zero: AppVersion = "0"
}
