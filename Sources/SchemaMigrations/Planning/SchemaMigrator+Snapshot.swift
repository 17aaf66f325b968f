import GRDB

extension SchemaMigrator {
    /// Reads the snapshot with which a new database may begin.
    ///
    /// - Returns: nil if there is no snapshot, or if it holds a version above the target.
    func snapshot(upTo target: SchemaVersion?) throws -> Snapshot? {
        guard let snapshotURL else { return nil }
        let snapshot = try Snapshot(contentsOf: snapshotURL)
        if let unknown = snapshot.versions.subtracting(versions).min() {
            throw Snapshot.invalid(
                snapshotURL, "contains version \(unknown), which no migration has",
                remedy: Snapshot.remedy)
        }
        return snapshot.versions.allSatisfy { $0 <= target ?? .max } ? snapshot : nil
    }
}
