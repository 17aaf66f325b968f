import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

/// The journal, as it starts: its three kinds of data, each with a manager that brings it up to date.
struct JournalApp {
    let folder: DataFolder
    let release: Release
    let settings: Settings
    let entries: Entries
    let attachments: Attachments

    init(folder: DataFolder, release: Release) throws {
        try folder.create()
        self.folder = folder
        self.release = release
        settings = Settings(file: folder.settings)
        entries = try Entries(file: folder.entries, release: release)
        attachments = Attachments(folder: folder.attachments)
    }

    /// Brings the data to this release, and then lets it be used.
    ///
    /// - Parameter onChapter: is told what each manager did, as soon as it has done it.
    func launch(onChapter: (LaunchChapter) -> Void = { _ in }) throws {
        // One store serves all managers. They are independent: what one has done is kept if the next one
        // fails.
        let store = try JSONStore(at: folder.record)
        let log = StepLog()
        func manager(_ name: String) throws -> MigrationManager {
            try MigrationManager(name: name, currentVersion: release.version, store: store)
        }
        var isFirstLaunch = false
        func migrate(_ manager: MigrationManager) throws {
            let report = try manager.migrate()
            isFirstLaunch = isFirstLaunch || report.isFirstLaunchOfVersion
            let steps = try entries.steps(ofMovesIn: report) + log.steps(of: manager.name)
            onChapter(LaunchChapter(report: report, steps: steps.inOrder))
        }

        let settingsManager = try manager("Settings")
        settings.registerMigrations(with: settingsManager, of: release, log: log)
        try migrate(settingsManager)

        let entriesManager = try manager("Entries")
        entries.registerMigrations(with: entriesManager, of: release, log: log)
        try migrate(entriesManager)

        let attachmentsManager = try manager("Attachments")
        attachments.registerMigrations(with: attachmentsManager, of: release, log: log)
        try migrate(attachmentsManager)

        if isFirstLaunch { try writeAsPeopleDid() }
    }
}

/// What one manager did in a launch.
struct LaunchChapter {
    let report: MigrationReport
    /// In the order in which they ran.
    let steps: [CompletedStep]
}

extension MigrationReport {
    fileprivate var isFirstLaunchOfVersion: Bool {
        switch launch {
        case .freshInstall, .adoption: true
        case .upgrade: !returnedFromDowngrade
        case .relaunch, .downgrade: false
        }
    }
}

extension Entries {
    /// The moves in a report, as steps.
    ///
    /// A move has no closure to measure; the database remembers how long each of its schema migrations took.
    fileprivate func steps(ofMovesIn report: MigrationReport) throws -> [CompletedStep] {
        try report.moves.map { move in
            let applied = schema.migrations.filter { move.applied.contains("\($0.version)") }
            let names = applied.map { $0.name.replacingOccurrences(of: "_", with: " ") }
            return CompletedStep(
                version: move.version, manager: report.manager, work: names.joined(separator: ", "),
                duration: try duration(of: applied.map(\.version)))
        }
    }

    private func duration(of versions: [SchemaVersion]) throws -> Duration {
        let list = versions.map(String.init).joined(separator: ", ")
        let seconds = try database.read { db in
            try Double.fetchOne(
                db, sql: "SELECT total(seconds) FROM schema_migrations_details WHERE version IN (\(list))")
        }
        return .seconds(seconds ?? 0)
    }
}

extension [CompletedStep] {
    /// By version; the moves, which stand before the closures, stay before them.
    fileprivate var inOrder: [CompletedStep] {
        enumerated().sorted { ($0.element.version, $0.offset) < ($1.element.version, $1.offset) }.map(
            \.element)
    }
}
