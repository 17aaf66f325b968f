import Foundation
import TestSupport
import TestTraits
import Testing

/// A run of a built sample in its own process.
struct SampleProcess {
    let output: String
    let errors: String
    let status: Int32

    /// Runs a sample with arguments, and waits until it ends.
    init(_ sample: String, _ arguments: [String] = []) async throws {
        try await self.init(BuiltProcess(sample, arguments))
    }

    /// Runs a sample in a terminal of its own.
    init(onTerminal sample: String, _ arguments: [String] = []) async throws {
        try await self.init(BuiltProcess(onTerminal: sample, arguments))
    }

    private init(_ process: BuiltProcess) async throws {
        let result = try await process.result()
        output = result.output.withoutTimes
        errors = result.errors
        status = try #require(result.status, "killed by a signal")
    }
}

extension String {
    /// The text with durations replaced by `TIME` and timestamps by `DATE`.
    var withoutTimes: String {
        replacing(#/ +\d+\.\d+ m?s\b/#, with: "  TIME").replacing(#/\d{4}-\d\d-\d\d \d\d:\d\d/#, with: "DATE")
    }
}

/// Runs the journal on a folder of data.
func journal(_ arguments: String..., data: URL? = nil) async throws -> SampleProcess {
    try await SampleProcess("Journal", arguments + (data.map { ["--data", $0.path] } ?? []))
}

/// Creates an empty folder, and removes it after the body.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = try TemporaryFolder()
    try await body(folder.url)
    withExtendedLifetime(folder) {}
}

/// The package's folder.
let packageRoot = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
