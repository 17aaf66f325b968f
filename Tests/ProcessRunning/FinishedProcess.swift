package import Foundation

/// A run of a program, in a process of its own.
package struct FinishedProcess: Sendable {
    /// What it printed.
    package let output: String
    /// What it printed to standard error.
    package let errors: String
    /// Its exit status.
    package let status: Int32

    /// Runs a program with arguments, and waits until it has ended.
    ///
    /// - Parameters:
    ///   - folder: the working directory; nil for this process's.
    ///   - environment: variables that it has besides this process's.
    package init(
        _ executable: URL, _ arguments: [String] = [], in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        // Files, unlike pipes, have room for any output.
        let files = FileManager.default.temporaryDirectory
            .appendingPathComponent("process-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: files) }
        let names = ["output", "errors"].map(files.appendingPathComponent)
        for name in names { try Data().write(to: name) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: names[0])
        process.standardError = try FileHandle(forWritingTo: names[1])
        status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        output = String(decoding: try Data(contentsOf: names[0]), as: UTF8.self)
        errors = String(decoding: try Data(contentsOf: names[1]), as: UTF8.self)
    }
}
