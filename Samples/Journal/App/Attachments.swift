import AppMigrations
import Foundation

/// The attachments: files in a folder, named after their date and content.
struct Attachments {
    let folder: URL

    /// Returns the paths of all attachments in the folder, sorted.
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
    /// Registers the steps that move files.
    ///
    /// If a launch dies halfway, the next one runs the step again. Each step moves only the files that are still
    /// in their old place.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1") { context in
            // "03-08-2023 harbour.txt" becomes "2023-08-03 harbour.txt", so that names sort by date.
            let count = try moveFiles(context.progress, notes) { name in
                guard let match = name.wholeMatch(of: /(\d\d)-(\d\d)-(\d{4}) (.+)/) else { return nil }
                return "\(match.3)-\(match.2)-\(match.1) \(match.4)"
            }
            notes.did("gave \(count) files names that sort by date")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0") { context in
            let count = try moveFiles(context.progress, notes) { name in
                guard let match = name.prefixMatch(of: #/(\d{4})-\d\d-\d\d /#) else { return nil }
                return "\(match.1)/\(name)"
            }
            notes.did("moved \(count) files into one folder for each year")
        }
    }

    /// Moves files at the top level of the folder.
    ///
    /// There may be many: the step reports progress, and stops between two files when it is cancelled.
    ///
    /// - Parameter newPath: Returns a file's new path in the folder, or nil if the file stays.
    /// - Returns: The number of files moved.
    private func moveFiles(
        _ progress: Progress, _ notes: StepNotes, to newPath: (String) -> String?
    ) throws -> Int {
        let moves = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .compactMap { name in newPath(name).map { (name, $0) } }
        // A progress with a total of 0 would never finish.
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
