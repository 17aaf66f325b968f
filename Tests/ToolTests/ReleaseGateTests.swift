import Foundation
import TestSupport
import TestTraits
import Testing

/// The shell commands in tool.md with which CI refuses a change to a step that has shipped.
@Suite("The gate for steps that have shipped", .timed, .needs(.git))
struct ReleaseGateTests {
    private let clone: GitClone

    init() async throws {
        clone = try await GitClone()
        try clone.tool.write("// 1.1", to: "Sources/MyApp/Steps/1.1.swift")
        try await clone.commit()
    }

    /// Runs the commands as CI services do: the first that fails ends them.
    private func gate(
        in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws -> BuiltProcess.Result {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Documentation/tool.md")
        let section = try #require(
            String(contentsOf: file, encoding: .utf8).components(separatedBy: "### Closures\n").last)
        let commands = try #require(
            section.components(separatedBy: "```sh\n").dropFirst().first?.components(separatedBy: "```").first
        )
        return try await BuiltProcess(
            running: URL(fileURLWithPath: "/bin/sh"), ["-e", "-c", commands], in: folder ?? clone.folder,
            environment: GitClone.environment.merging(environment) { $1 }
        ).result()
    }

    @Test("is open before the first release")
    func noRelease() async throws {
        try clone.tool.write("// 1.1, edited", to: "Sources/MyApp/Steps/1.1.swift")
        try await clone.commit()
        let run = try await gate()
        #expect(run.status == 0, "\(run)")
        #expect(run.output + run.errors == "")
    }

    @Test("names the steps that were edited since the last release, and lets new ones pass")
    func edited() async throws {
        try await clone.git("tag", "1.1")
        try clone.tool.write("// 1.2", to: "Sources/MyApp/Steps/1.2.swift")
        try await clone.commit()
        #expect(try await gate().status == 0)
        try clone.tool.write("// 1.1, edited", to: "Sources/MyApp/Steps/1.1.swift")
        try await clone.commit()
        let run = try await gate()
        #expect(run.status == 1)
        #expect(run.output == "Sources/MyApp/Steps/1.1.swift\n")
    }

    @Test("is closed in a checkout that lacks the tags")
    func shallow() async throws {
        try await clone.git("tag", "1.1")
        try clone.tool.write("// 1.2", to: "Sources/MyApp/Steps/1.2.swift")
        try await clone.commit()
        try await clone.git(
            "clone", "--quiet", "--depth", "1", "--no-tags", clone.folder.absoluteString, "shallow")
        let run = try await gate(in: clone.folder.appendingPathComponent("shallow"))
        #expect(run.status == 1)
        #expect(run.output == Self.noTags)
    }

    @Test("is closed where git cannot read the checkout")
    func unreadable() async throws {
        let run = try await gate(environment: ["GIT_DIR": "/nowhere"])
        #expect(run.status == 1)
        #expect(run.output == Self.noTags)
    }

    private static let noTags =
        "This checkout has no tags, or git cannot read it. Fetch them, or add it to safe.directory.\n"
}
