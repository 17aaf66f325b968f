public import Foundation

/// A run of an executable of this package, in a process of its own.
///
/// What it prints must fit into a pipe's buffer: it is read when the process has ended.
public final class BuiltProcess {
    /// How a process has ended.
    public struct Result: Sendable {
        /// What it has printed.
        public let output: String
        /// What it has printed as errors.
        public let errors: String
        /// Its exit status; nil when a signal has killed it.
        public let status: Int32?
        /// The signal that has killed it.
        public let signal: Int32?
    }

    private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    private let end: AsyncStream<Never>

    /// Starts an executable.
    ///
    /// - Parameters:
    ///   - name: that of an executable target on which the test target depends, so that it has been built.
    ///   - arguments: what it is given.
    public convenience init(_ name: String, _ arguments: [String] = []) throws {
        try self.init(running: Products.executable(name), arguments)
    }

    /// Starts an executable on a terminal of its own, as `script` of util-linux provides it.
    ///
    /// - Parameters:
    ///   - name: that of an executable target on which the test target depends.
    ///   - arguments: what it is given.
    ///   - folder: the folder in which it is run; nil for this process's.
    ///   - environment: all variables that it has.
    public convenience init(
        onTerminal name: String, _ arguments: [String] = [], in folder: URL? = nil,
        environment: [String: String] = ["TERM": "xterm"]
    ) throws {
        let words = try [Products.executable(name).path] + arguments
        try self.init(
            running: URL(fileURLWithPath: Self.script),
            ["-q", "-e", "-c", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"],
            in: folder, environment: environment)
    }

    /// Whether there is a `script` that executables can be run with.
    public static var hasTerminal: Bool {
        #if os(Linux)
            FileManager.default.isExecutableFile(atPath: script)
        #else
            false  // Others have one with other options.
        #endif
    }

    /// Starts Swift's compiler, which finds the modules that have been built for the tests.
    public static func compiler(_ arguments: [String]) throws -> BuiltProcess {
        try BuiltProcess(
            running: URL(fileURLWithPath: "/usr/bin/env"),
            ["swiftc"] + arguments + Products.moduleSearchPaths())
    }

    private static let script = "/usr/bin/script"

    /// Starts any executable.
    ///
    /// - Parameters:
    ///   - executable: where it is.
    ///   - arguments: what it is given.
    ///   - folder: the folder in which it is run; nil for this process's.
    ///   - environment: all variables that it has; nil for this process's.
    public init(
        running executable: URL, _ arguments: [String], in folder: URL? = nil,
        environment: [String: String]? = nil
    ) throws {
        let (end, continuation) = AsyncStream.makeStream(of: Never.self)
        self.end = end
        process.executableURL = executable
        process.arguments = arguments
        if let environment { process.environment = environment }
        process.currentDirectoryURL = folder
        process.standardOutput = output
        process.standardError = errors
        process.terminationHandler = { _ in continuation.finish() }
        try process.run()
    }

    /// The process's id.
    public var id: Int32 { process.processIdentifier }

    /// Waits until the process has ended.
    public func result() async throws -> Result {
        for await _ in end {}
        let isExit = process.terminationReason == .exit
        return Result(
            output: try Self.text(of: output), errors: try Self.text(of: errors),
            status: isExit ? process.terminationStatus : nil,
            signal: isExit ? nil : process.terminationStatus)
    }

    private static func text(of pipe: Pipe) throws -> String {
        String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }
}

/// The folder into which this package's products are built.
public enum Products {
    /// The executable of a target.
    public static func executable(_ name: String) throws -> URL {
        let candidates = folders.map { $0.appendingPathComponent(name) }
        guard
            let executable = candidates.first(where: { url in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
                    && !isFolder.boolValue && FileManager.default.isExecutableFile(atPath: url.path)
            })
        else { throw NotBuilt(description: "No executable at any of \(candidates.map(\.path))") }
        return executable
    }

    /// The arguments by which the compiler finds the modules of this package, and those that they need.
    static func moduleSearchPaths() throws -> [String] {
        guard let products = folders.first(where: { isThere($0.appendingPathComponent("Modules")) }) else {
            throw NotBuilt(description: "No modules at any of \(folders.map(\.path))")
        }
        // <scratch folder>/<triple>/<configuration> holds the products. Which modules of C there are depends on
        // how GRDB was made: SwiftPM notes them in <scratch folder>/<configuration>.yaml.
        let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
        let manifest = try String(
            contentsOf: scratch.appendingPathComponent("\(products.lastPathComponent).yaml"), encoding: .utf8)
        let maps = Set(manifest.matches(of: /"(-fmodule-map-file=[^"]+)"/).map { String($0.1) })
        return ["-I", products.appendingPathComponent("Modules").path]
            + maps.sorted().flatMap { ["-Xcc", $0] }
    }

    private static func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Where products may be: beside the test bundle, among the other products of the build.
    public static var folders: [URL] {
        let bundles = [Bundle(for: Anchor.self).bundleURL, Bundle.main.bundleURL]
        return bundles + bundles.map { $0.deletingLastPathComponent() }
    }

    private final class Anchor {}

    private struct NotBuilt: Error, CustomStringConvertible {
        let description: String
    }
}
