import Foundation
import TestSupport
import TestTraits
import Testing

/// A tool's folder that is a Git repository, or a part of one.
struct GitClone {
    let tool: Tool
    /// The folder in which the commands run.
    let folder: URL

    /// Creates a repository with migrations 1, 2 and 3 on the branch `main`.
    init() async throws {
        self.init(try Tool())
        try await git("init", "--quiet", "--initial-branch=main")
        try write("CREATE TABLE a(x);", to: "1_a.sql")
        try write("CREATE TABLE b(x);", to: "2_b.sql")
        try write("CREATE TABLE c(x);", to: "3_c.sql")
        try write("DROP TABLE c;", to: "3_c.down.sql")
        try await commit()
    }

    /// - Parameter path: the folder in the tool's in which the commands run; nil for that one.
    init(_ tool: Tool, at path: String? = nil) {
        self.tool = tool
        folder = path.map { tool.folder.file($0) } ?? tool.folder.url
    }

    fileprivate static let program = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { URL(fileURLWithPath: "\($0)/git") }
        .first { FileManager.default.isExecutableFile(atPath: $0.path) }

    /// The environment, without what the developer's own settings say.
    static let environment = BuiltProcess.ownVariables.merging([
        "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    ]) { $1 }

    @discardableResult
    func git(_ arguments: String...) async throws -> String {
        let run = try await BuiltProcess(
            running: #require(Self.program), arguments, in: folder, environment: Self.environment
        ).result()
        #expect(run.status == 0, "git \(arguments): \(run.errors)")
        return run.output
    }

    func write(_ sql: String, to name: String) throws {
        let migrations = folder.appendingPathComponent("Migrations")
        try FileManager.default.createDirectory(at: migrations, withIntermediateDirectories: true)
        try Data(sql.utf8).write(to: migrations.appendingPathComponent(name))
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: folder.appendingPathComponent("Migrations/\(name)"))
    }

    func commit() async throws {
        try await git("add", "--all")
        try await git("commit", "--quiet", "--message", "Change migrations")
    }

    /// Runs the tool with arguments that are separated by spaces.
    func run(_ arguments: String, environment: [String: String] = environment) async throws
        -> BuiltProcess.Result
    {
        try await BuiltProcess(
            running: Products.executable("app-migrations"),
            arguments.split(separator: " ").map(String.init), in: folder, environment: environment
        ).result()
    }

    /// The findings, without their files' folder.
    func check(_ arguments: String = "--since main") async throws -> [String] {
        let run = try await run("check \(arguments)")
        #expect(run.errors == "")
        #expect(run.output.contains("compared with "), "\(run)")
        return run.output.split(separator: "\n").dropLast().map {
            $0.replacingOccurrences(of: "Migrations/", with: "")
        }
    }
}

extension Requirement {
    /// The program `git`.
    static let git = Self("git", "install it.") { GitClone.program != nil }
}
