import AppMigrations

/// An event during the app's launch.
enum LaunchEvent {
    /// A manager's event.
    case migration(MigrationEvent)
    /// A long step made progress.
    case advanced
    /// The data was upgraded from an older version; with the news since then.
    case upgraded(from: AppVersion, news: [String])
}
