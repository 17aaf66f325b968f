import AppMigrations
import Foundation

/// The attachments: files in a folder, named after the day and what they show.
struct Attachments {
    let folder: URL

    /// The paths of all attachments in the folder, sorted.
    func paths() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".") && !isFolder($0) }.sorted()
    }

    func add(_ path: String, _ text: String) throws {
        let url = folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        let url = folder.appendingPathComponent(path)
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

extension Attachments {
    /// Registers what has to happen to the files.
    ///
    /// A launch that dies in the middle leaves some of them moved; the next one runs the step again, and a
    /// step looks only for files that are still where they were.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1") { context in
            // "03-08-2023 harbour.txt" is "2023-08-03 harbour.txt" from now on, so that names sort by
            // day.
            let count = try moveFiles(context.progress, notes) { name in
                guard let match = name.wholeMatch(of: /(\d\d)-(\d\d)-(\d{4}) (.+)/) else { return nil }
                return "\(match.3)-\(match.2)-\(match.1) \(match.4)"
            }
            notes.did("gave \(count) files names that sort by day")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0") { context in
            let count = try moveFiles(context.progress, notes) { name in
                guard let match = name.prefixMatch(of: #/(\d{4})-\d\d-\d\d /#) else { return nil }
                return "\(match.1)/\(name)"
            }
            notes.did("moved \(count) files into a folder for each year")
        }
    }

    /// Moves the files that lie in the folder itself.
    ///
    /// People have many: the step counts them, and stops between two of them when it is cancelled.
    ///
    /// - Parameter newPath: a file's new path in the folder; nil for a file that stays.
    /// - Returns: how many were moved.
    private func moveFiles(
        _ progress: Progress, _ notes: StepNotes, to newPath: (String) -> String?
    ) throws -> Int {
        let moves = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .compactMap { name in newPath(name).map { (name, $0) } }
        // A total of none would never be reached.
        progress.totalUnitCount = Int64(max(1, moves.count))
        for (name, path) in moves {
            guard !progress.isCancelled else { throw CancellationError() }
            let target = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: folder.appendingPathComponent(name), to: target)
            notes.advance(progress)
        }
        return moves.count
    }
}
