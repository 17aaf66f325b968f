/// A manager whose steps have come to another one, which was split off from it, or is its new name.
package struct FormerManager: Sendable {
    let name: String
    /// Its steps below this version have come to the other manager; those from there on are its own.
    let end: AppVersion
}

/// The record that a place has of a former manager, if any.
struct FormerRecord: Sendable {
    let manager: String
    /// Its record; nil if it has never begun there.
    let record: MigrationRecord?
    let end: AppVersion
}
