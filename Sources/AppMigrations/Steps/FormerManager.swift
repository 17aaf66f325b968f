/// A manager whose steps have come to another one, which was split off from it, or is its new name.
package struct FormerManager: Sendable {
    let name: String
    /// Its steps below this version have come to the other manager; those from there on are its own.
    let end: AppVersion
}

/// The record of a former manager in a place.
struct FormerRecord: Sendable {
    let manager: String
    let record: MigrationRecord
    let end: AppVersion
}
