import AppMigrations
import Foundation
import MigrationTools
import SchemaMigrations

/// The files of the app's migrations, after a release has squashed the oldest of them.
enum Squashing {
    /// The last migration that was squashed.
    static let version = 5

    /// Where a launch finds the files.
    static func directory(in folder: String) -> URL {
        URL(fileURLWithPath: "\(folder)/migrations", isDirectory: true)
    }

    /// Writes the files of all migrations, and squashes the oldest as developers do.
    static func writeFiles(to folder: String) throws {
        let directory = directory(in: folder)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (index, sql) in Schema.statements.enumerated() {
            let name = "\(index + 1)_m\(index + 1).sql"
            try Data(sql.utf8).write(to: directory.appendingPathComponent(name))
        }
        // In a fork, which takes its threads with it.
        _ = try Child.run { try? Squash.verified(directory: directory, before: .init(version)).write() }
        let count = try FileManager.default.contentsOfDirectory(atPath: directory.path).count
        guard count == Schema.statements.count - version + 1 else { throw Unsquashed() }
    }

    private struct Unsquashed: Error {}
}

extension Scenario {
    /// True if the set of migrations that is launched was squashed.
    var isSquashed: Bool { start == .begun || !squashedDatabase.isEmpty }

    /// The migrations that the database has had when it meets a set that was squashed: up to the baseline or beyond, or
    /// without one that was squashed, the last one or one that was merged late.
    var squashedDatabase: [Int] {
        switch (start, journal) {
        case (.squashed, .rollback), (.squashedMoved, .rollback): Array(1...Squashing.version)
        case (.squashed, .wal), (.squashedMoved, .wal): Array(1...Squashing.version + 2)
        case (.outdated, .rollback): [1, 2, 3, 4]
        case (.outdated, .wal): [1, 2, 3, 5]
        default: []
        }
    }

    /// The migrations that the ledger may list, in the order in which it gets them.
    var versions: [Int] {
        switch start {
        case .begun: Array(Squashing.version...Schema.statements.count)
        case .outdated: squashedDatabase
        default: Array(1...Schema.statements.count)
        }
    }
}

extension Launch {
    /// True if a database is refused as too old, and is to be: it lacks migrations that were squashed.
    func isDueRefusal(_ error: any Error) -> Bool {
        let cause = ((error as? MigrationError)?.underlyingError ?? error) as? MigrationError
        return scenario.start == .outdated && cause?.code == .tooOld && cause?.version == nil
    }
}
