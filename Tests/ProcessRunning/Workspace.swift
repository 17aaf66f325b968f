package import Foundation

/// A folder of its own for a test, which is removed with the object.
package final class Workspace: Sendable {
    /// Where it is.
    package let url: URL

    /// Makes an empty folder.
    package init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("workspace-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a text into a file, whose folder is made.
    package func write(_ text: String, to path: String) throws {
        try write(Data(text.utf8), to: path)
    }

    /// Writes a file, whose folder is made.
    package func write(_ data: Data, to path: String) throws {
        let file = url.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// The text of a file.
    package func text(_ path: String) throws -> String {
        try String(contentsOf: url.appendingPathComponent(path), encoding: .utf8)
    }

    /// The names of everything in a folder, sorted.
    package func names(in path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.appendingPathComponent(path).path).sorted()
    }
}
