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
    /// The manager of the entries, once they have been migrated.
    private var entriesManager: MigrationManager?

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
            if name == "Entries" { entriesManager = manager }
        }
        if isFirstLaunch { try writeAsPeopleDid() }
    }

    /// True if something waits that no launch has to wait for.
    var hasDeferredWork: Bool {
        get throws { try entriesManager?.pending().contains(where: \.isDeferred) == true }
    }

    /// The progress of that work.
    var deferredProgress: Progress? { entriesManager?.deferredProgress }

    /// Does what no launch had to wait for, while somebody goes on writing.
    ///
    /// - Returns: how long each write took.
    func runDeferred(isolation: isolated (any Actor)? = #isolation) async throws -> [Duration] {
        let writer = Task { [entries] in
            var durations: [Duration] = []
            let id = try entries.write("Writing while the index is filled.", on: "2024-10-06")
            repeat {
                durations.append(try ContinuousClock().measure { try entries.addWord(to: id) })
                try? await Task.sleep(for: .milliseconds(5))
            } while !Task.isCancelled
            return durations
        }
        let report = try await entriesManager?.runDeferred()
        writer.cancel()
        if let failure = report?.failures.first { throw failure }
        return try await writer.value
    }

    /// Returns the number of entries with a word; nil in releases that had no search.
    func count(of word: String) throws -> Int? {
        guard release >= .moods else { return nil }
        return try entries.count(of: word, isIndexComplete: release >= .words && !hasDeferredWork)
    }

    /// Returns what each manager has done so far.
    func history() throws -> [(manager: String, steps: [SettledStep])] {
        try parts.map { name, register in
            let manager = try manager(name)
            // The manager finds its databases through the registered steps.
            register(manager, release, notes)
            return (name, try manager.history())
        }
    }

    /// Returns the releases that were launched, in order.
    ///
    /// All managers share one store, which has seen them for all of them.
    func launchedVersions() throws -> [(version: AppVersion, date: Date)] {
        try parts.first.map { try manager($0.0).seenVersions() } ?? []
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
            name: name, currentVersion: release.version, adopting: .newApp,
            store: .jsonFile(at: folder.record),
            options: MigrationOptions(onEvent: { [onEvent] in onEvent(.migration($0)) }))
    }

    /// Registers the news of an upgrade, with the last manager: its data is migrated last.
    private func tellNews(_ manager: MigrationManager) {
        manager.whenVersionChanges { [onEvent] from, to in
            let news = Release.all.filter { $0.version > from && $0.version <= to }.compactMap(\.news)
            guard !news.isEmpty else { return }
            onEvent(.upgraded(from: from, news: news))
        }
    }
}
