#if os(macOS) || os(Linux)
    import AppMigrations
    public import Foundation

    /// A run of an executable of this package, in a process of its own.
    public final class BuiltProcess {
        /// How a process has ended.
        public struct Result: Sendable {
            /// Its output.
            public let output: String
            /// Its errors, without SQLCipher's own log.
            public let errors: String
            /// Its exit status; nil when a signal has killed it.
            public let status: Int32?
            /// The signal that has killed it.
            public let signal: Int32?
        }

        private let process = Process()
        // What it prints goes to files: a pipe that nobody reads yet would stop it when it is full.
        private let output: FileHandle
        private let errors: FileHandle
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
        ///   - input: what is typed; nil for nothing.
        public convenience init(
            onTerminal name: String, _ arguments: [String] = [], in folder: URL? = nil,
            environment: [String: String] = ["TERM": "xterm"], typing input: String? = nil
        ) throws {
            let words = try [Products.executable(name).path] + arguments
            try self.init(
                running: URL(fileURLWithPath: Self.script),
                ["-q", "-e", "-c", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"],
                in: folder, environment: environment, input: input)
        }

        /// True if there is a `script` that executables can be run with.
        public static var hasTerminal: Bool {
            #if os(Linux)
                FileManager.default.isExecutableFile(atPath: script)
            #else
                false  // Others have one with other options.
            #endif
        }

        /// Starts Swift's compiler, which finds the modules that have been built for the tests, with the same sanitizer.
        public static func compiler(_ arguments: [String]) throws -> BuiltProcess {
            let sanitizer = ownVariables["SANITIZER"].map { ["-sanitize=\($0)"] } ?? []
            return try BuiltProcess(
                running: URL(fileURLWithPath: "/usr/bin/env"),
                ["swiftc"] + arguments + sanitizer + Products.moduleSearchPaths())
        }

        private static let script = "/usr/bin/script"

        /// This process's variables, without `CI`, which makes `app-migrations check` stricter.
        public static let ownVariables = ProcessInfo.processInfo.environment.filter { $0.key != "CI" }

        /// Starts any executable.
        ///
        /// - Parameters:
        ///   - executable: where it is.
        ///   - arguments: what it is given.
        ///   - folder: the folder in which it is run; nil for this process's.
        ///   - environment: all variables that it has.
        ///   - input: what it reads from standard input; nil for what this process would read.
        public init(
            running executable: URL, _ arguments: [String], in folder: URL? = nil,
            environment: [String: String] = ownVariables, input: String? = nil
        ) throws {
            let (end, continuation) = AsyncStream.makeStream(of: Never.self)
            self.end = end
            output = try Self.scratchFile()
            errors = try Self.scratchFile()
            process.executableURL = executable
            process.arguments = arguments
            process.environment = environment
            process.currentDirectoryURL = folder
            if let input {
                let file = try Self.scratchFile()
                try file.write(contentsOf: Data(input.utf8))
                try file.seek(toOffset: 0)
                process.standardInput = file
            }
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
                output: try Self.text(of: output), errors: try Self.text(of: errors).withoutLogOfSQLCipher,
                status: isExit ? process.terminationStatus : nil,
                signal: isExit ? nil : process.terminationStatus)
        }

        private static func text(of file: FileHandle) throws -> String {
            try file.seek(toOffset: 0)
            return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        }

        /// Opens a file without a name, which is gone when it is closed.
        private static func scratchFile() throws -> FileHandle {
            let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: url) }
            return try FileHandle.opening(url, O_RDWR | O_CREAT | O_EXCL)
        }
    }

    extension String {
        fileprivate var withoutLogOfSQLCipher: String {
            replacing(#/(?m)^.*: ERROR CORE .*\n/#, with: "")
        }
    }
#endif
