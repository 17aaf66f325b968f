import AppMigrations
import Foundation

/// The journal app: three kinds of data, each with a manager that migrates it at launch.
final class JournalApp {
    let folder: DataFolder
    let release: Release
    let settings: Settings
    let entries: Entries
    let attachments: Attachments

    /// The progress of the launch; each manager contributes a third.
    let progress = Progress(totalUnitCount: 3)
    private(set) lazy var notes = StepNotes { [unowned self] in onEvent(.advanced) }
    private var onEvent: (LaunchEvent) -> Void = { _ in }

    init(folder: DataFolder, release: Release) throws {
        try folder.create()
        self.folder = folder
        self.release = release
        settings = Settings(file: folder.settings)
        entries = try Entries(file: folder.entries, release: release)
        attachments = Attachments(folder: folder.attachments)
    }

    /// Migrates the data to this release, then uses it.
    func launch(onEvent: @escaping (LaunchEvent) -> Void = { _ in }) throws {
        self.onEvent = onEvent
        var isFirstLaunch = false
        for (name, register) in parts {
            let manager = try manager(name)
            register(manager, release, notes)
            if name == parts.last?.name { tellNews(manager) }
            progress.addChild(manager.progress, withPendingUnitCount: 1)
            isFirstLaunch = try manager.migrate().isFirstLaunchOfVersion || isFirstLaunch
        }
        if isFirstLaunch { try writeAsPeopleDid() }
    }

    /// Returns what each manager has done so far.
    func history() throws -> [(manager: String, history: MigrationHistory)] {
        try parts.map { name, register in
            let manager = try manager(name)
            // The manager finds its databases through the registered steps.
            register(manager, release, notes)
            return (name, try manager.history())
        }
    }
}

extension JournalApp {
    private typealias Registration = (MigrationManager, Release, StepNotes) -> Void

    /// The managers, in the order in which they migrate.
    ///
    /// They are independent: if one fails, the work of the earlier ones stays complete.
    private var parts: [(name: String, register: Registration)] {
        [
            ("Settings", settings.registerMigrations), ("Entries", entries.registerMigrations),
            ("Attachments", attachments.registerMigrations),
        ]
    }

    /// Creates a manager; all managers share one store.
    private func manager(_ name: String) throws -> MigrationManager {
        try MigrationManager(
            name: name, currentVersion: release.version, store: JSONStore(at: folder.record),
            options: MigrationOptions(onEvent: { [onEvent] in onEvent(.migration($0)) }))
    }

    /// Registers the news of an upgrade, with the last manager: its data is migrated last.
    private func tellNews(_ manager: MigrationManager) {
        manager.whenVersionChanges { [onEvent] from, to in
            let news = Release.all.filter { $0.version > from && $0.version <= to }.compactMap(\.news)
            onEvent(.upgraded(from: from, news: news))
        }
    }
}
