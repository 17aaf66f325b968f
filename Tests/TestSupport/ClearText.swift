import Foundation

extension TemporaryFolder {
    /// The names of the files in this folder, and in those in it, whose bytes are not encrypted: SQLite's header, or a
    /// text that is somewhere in the database.
    public func filesInClearText(holding text: String) throws -> [String] {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.isRegularFileKey])
        return try (files?.allObjects as? [URL] ?? []).filter { file in
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
                return false
            }
            let bytes = try Data(contentsOf: file)
            return [text, "SQLite format 3", "CREATE TABLE"].contains {
                bytes.range(of: Data($0.utf8)) != nil
            }
        }.map(\.lastPathComponent).sorted()
    }
}
