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
    func registerMigrations(with manager: MigrationManager, of release: Release, log: StepLog) {
        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1") { context in
            try log.record(context) {
                // "03-08-2023 harbour.txt" is "2023-08-03 harbour.txt" from now on, so that names sort by
                // day.
                let count = try moveFiles { name in
                    guard let match = name.wholeMatch(of: /(\d\d)-(\d\d)-(\d{4}) (.+)/) else { return nil }
                    return "\(match.3)-\(match.2)-\(match.1) \(match.4)"
                }
                return "gave \(count) files names that sort by day"
            }
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0") { context in
            try log.record(context) {
                let count = try moveFiles { name in
                    guard let match = name.prefixMatch(of: #/(\d{4})-\d\d-\d\d /#) else { return nil }
                    return "\(match.1)/\(name)"
                }
                return "moved \(count) files into a folder for each year"
            }
        }
    }

    /// Moves the files that lie in the folder itself.
    ///
    /// - Parameter newPath: a file's new path in the folder; nil for a file that stays.
    /// - Returns: how many were moved.
    private func moveFiles(to newPath: (String) -> String?) throws -> Int {
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            guard let path = newPath(name) else { continue }
            let target = folder.appendingPathComponent(path)
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: folder.appendingPathComponent(name), to: target)
            count += 1
        }
        return count
    }
}
