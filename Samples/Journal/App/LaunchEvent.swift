import AppMigrations

/// What the app tells while it is launched.
enum LaunchEvent {
    /// Something happens in a manager.
    case migration(MigrationEvent)
    /// A step in which there is much to do has got further.
    case advanced
    /// The data has come from an older version, to which all this is new.
    case upgraded(from: AppVersion, news: [String])
}
