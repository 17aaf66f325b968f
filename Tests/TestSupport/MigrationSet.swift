public import Foundation

/// A folder with migrations as an app has them, for tests of whole sets.
public struct MigrationSet: Sendable {
    /// Rows that users have written, and the version of the schema at which they wrote them.
    public struct Rows: Sendable {
        /// The version.
        public let version: Int64
        /// Where their SQL is.
        public let file: URL
    }

    /// Where the files are.
    public let folder: URL
    /// How many migrations it holds.
    public let count: Int
    /// What users have written; nil when nothing is to be written.
    public let rows: Rows?

    init(_ folder: URL, count: Int, rows: Rows? = nil) {
        self.folder = folder
        self.count = count
        self.rows = rows
    }

    /// The migrations by version, oldest first, without the files that take them back.
    ///
    /// They are found without the package's help, since they are what it is compared with.
    public var files: [(version: Int64, url: URL)] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
                .filter { $0.pathExtension == "sql" && !$0.lastPathComponent.hasSuffix(".down.sql") }
                .map { url in (Int64(url.lastPathComponent.prefix { $0.isNumber }) ?? -1, url) }
                .sorted { ($0.0, $0.1.path) < ($1.0, $1.1.path) }
        }
    }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
