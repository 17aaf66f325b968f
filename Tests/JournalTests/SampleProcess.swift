import Foundation
import Testing

/// A run of a built sample, in a process of its own.
struct SampleProcess {
    let output: String
    let errors: String
    let status: Int32

    /// Runs a sample with arguments, and waits until it has ended.
    init(_ sample: String, _ arguments: [String] = []) async throws {
        try await self.init(Self.executable(sample), arguments)
    }

    /// Runs a sample on a terminal of its own, as `script` of util-linux provides it.
    init(onTerminal sample: String, _ arguments: [String] = []) async throws {
        let command = try ([Self.executable(sample).path] + arguments).map { "'\($0)'" }.joined(
            separator: " ")
        try await self.init(
            URL(fileURLWithPath: Self.script), ["-q", "-e", "-c", command, "/dev/null"],
            environment: ["TERM": "xterm"])
    }

    /// Whether there is a `script` that samples can be run with.
    static var hasTerminal: Bool {
        #if os(Linux)
            FileManager.default.isExecutableFile(atPath: script)
        #else
            false  // Others have one with other options.
        #endif
    }

    private static let script = "/usr/bin/script"

    private init(
        _ executable: URL, _ arguments: [String], environment: [String: String]? = nil
    ) async throws {
        let process = Process()
        let standardOutput = Pipe()
        let standardError = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = environment
        process.standardOutput = standardOutput
        process.standardError = standardError
        status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        // Both are far smaller than a pipe's buffer, so that the process ends before anyone has read them.
        output = try Self.text(of: standardOutput).withoutTimes
        errors = try Self.text(of: standardError)
    }

    private static func text(of pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    /// Samples stand beside the test bundle, among the other products of the build.
    private static func executable(_ sample: String) throws -> URL {
        let bundles = [Bundle(for: Anchor.self).bundleURL, Bundle.main.bundleURL]
        let places = bundles + bundles.map { $0.deletingLastPathComponent() }
        let candidates = places.map { $0.appendingPathComponent(sample) }
        return try #require(
            candidates.first { url in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                    && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: url.path)
            }, "No executable at any of \(candidates.map(\.path))")
    }

    private final class Anchor {}
}

extension String {
    /// The text with `TIME` for each duration and `DATE` for each date with a time, which are others each time.
    fileprivate var withoutTimes: String {
        replacing(#/ +\d+\.\d ms/#, with: "  TIME").replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d/#, with: "DATE")
    }
}

/// Runs the journal on a folder of data.
func journal(_ arguments: String..., data: URL? = nil) async throws -> SampleProcess {
    try await SampleProcess("Journal", arguments + (data.map { ["--data", $0.path] } ?? []))
}

/// Creates an empty folder, and removes it after the body has run.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("JournalTests-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}

/// The package's folder.
let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
