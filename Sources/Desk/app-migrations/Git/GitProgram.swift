import Foundation

/// The program `git`, which runs in a folder.
struct GitProgram {
    /// The end of a run.
    struct Result {
        let status: Int32
        let output: Data
        let errors: String

        /// The output as a text, without the line break at its end.
        var text: String {
            let text = String(decoding: output, as: UTF8.self)
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }

        /// The first line that git wrote about its failure.
        var reason: String {
            errors.split(separator: "\n").first.map(String.init) ?? "it ended with \(status)"
        }
    }

    private let executable: URL
    private let folder: URL

    /// Finds the program in the folders of `PATH`.
    init(in folder: URL) throws {
        let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let files = paths.map { URL(fileURLWithPath: String($0)).appendingPathComponent("git") }
        guard let executable = files.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else {
            throw Failure(
                "The program git was not found",
                remedy: "Install Git, or leave out --since: then the files are not compared with a branch.")
        }
        self.executable = executable
        self.folder = folder
    }

    func run(_ arguments: String...) throws -> Result { try run(arguments, input: nil) }

    /// Runs the program to its end.
    func run(_ arguments: [String], input: Data?) throws -> Result {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = Self.environment
        // Files cannot fill up as pipes do, while the other side waits.
        let scratch = try Scratch()
        defer { scratch.remove() }
        process.standardInput = try scratch.input(input ?? Data())
        process.standardError = try scratch.errors()
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let written = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(status: process.terminationStatus, output: written, errors: scratch.writtenErrors)
    }

    /// The environment without what a hook of git says about another folder, and with messages in English.
    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] { environment[name] = nil }
        environment["LC_ALL"] = "C"
        environment["GIT_TERMINAL_PROMPT"] = "0"
        return environment
    }
}

/// A folder for the input and the errors of one run.
private struct Scratch {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("git-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func input(_ data: Data) throws -> FileHandle {
        let file = folder.appendingPathComponent("input")
        try data.write(to: file)
        return try FileHandle(forReadingFrom: file)
    }

    func errors() throws -> FileHandle {
        let file = folder.appendingPathComponent("errors")
        try Data().write(to: file)
        return try FileHandle(forWritingTo: file)
    }

    var writtenErrors: String {
        let data = (try? Data(contentsOf: folder.appendingPathComponent("errors"))) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
}
