import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("Snippets in the documentation", .timed)
struct SnippetTests {
    @Test("compile in the README, in the articles and in comments")
    func snippets() async throws {
        let documents = try Self.documents()
        #expect(documents.count { $0.path.contains(".docc/") } > 10, "the articles were not found")
        let folder = try TemporaryFolder()
        var sources = ["Assumed", "Screens"].map {
            Self.folder.appendingPathComponent("Assumed/\($0).swift").path
        }
        for (index, document) in documents.enumerated() {
            guard let source = document.source else { continue }
            sources.append(try folder.write(source, to: "Document\(index).swift"))
        }
        let result = try await Self.compile(sources)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("compile for SwiftUI in a module that is isolated to the main actor by default")
    func mainActor() async throws {
        var article = try #require(Self.documents().first { $0.path.hasSuffix("/WhereToLaunch.md") })
        article.snippets = [try #require(article.snippets.first)]
        let folder = try TemporaryFolder()
        let source = try folder.write(try #require(article.source), to: "RootView.swift")
        let assumed = ["Assumed", "Screens"].map {
            Self.folder.appendingPathComponent("Assumed/\($0).swift").path
        }
        let result = try await Self.compile(
            assumed + [source],
            [
                "-default-isolation", "MainActor", "-enable-upcoming-feature",
                "NonisolatedNonsendingByDefault",
            ])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("compile in package manifests")
    func manifests() async throws {
        let folder = try TemporaryFolder()
        let sources = try Self.documents().compactMap(\.manifest).enumerated().map { index, manifest in
            try folder.write("import PackageDescription\n\(manifest)", to: "Manifest\(index).swift")
        }
        #expect(!sources.isEmpty, "the manifests were not found")
        let result = try await BuiltProcess.compiler(
            ["-typecheck", "-parse-as-library", "-package-description-version", "6.2.0"]
                + (try await Self.manifestLibrary()) + sources
        ).result()
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("are reported at their place in the document if they do not compile")
    func mistake() async throws {
        let text = """
            Some text.

            ```swift
            let manager = try MigrationManager(name: "Library", currentVersion: "2.0", adopting: .newApp)
            manager.migrateNow()
            ```
            """
        let folder = try TemporaryFolder()
        let source = try #require(Document(path: "Some.md", text: text).source)
        let result = try await BuiltProcess.compiler(
            ["-typecheck", "-parse-as-library", try folder.write(source, to: "Mistake.swift")]
        ).result()
        #expect(result.status == 1)
        #expect(result.errors.contains("Some.md:5:"))
        #expect(!result.errors.contains("Some.md:4:"))
    }
}

extension SnippetTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let package = folder.deletingLastPathComponent().deletingLastPathComponent()

    /// Compiles files as a module of its own.
    private static func compile(
        _ sources: [String], _ options: [String] = []
    ) async throws -> BuiltProcess.Result {
        // Checking types alone would not find data races.
        try await BuiltProcess.compiler(
            [
                "-emit-sil", "-o", "/dev/null", "-whole-module-optimization", "-swift-version", "6",
                "-parse-as-library",
                "-suppress-warnings", "-module-name", "Snippets",
            ] + options + sources
        ).result()
    }

    /// Everything in which users of the package read Swift code.
    private static func documents() throws -> [Document] {
        let paths = try ["Documentation", "Sources"].flatMap { folder in
            // Scripts/with-sqlite.sh makes links of the folders.
            let path = package.appendingPathComponent(folder).resolvingSymlinksInPath().path
            return try FileManager.default.subpathsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
                .map { "\(folder)/\($0)" }
        }
        return try (["README.md"] + paths.sorted()).map { path in
            let url = package.appendingPathComponent(path)
            let name = url.deletingPathExtension().lastPathComponent
            let assumed = folder.appendingPathComponent("Assumed/\(name).swift")
            return Document(
                path: path, text: try String(contentsOf: url, encoding: .utf8),
                assumed: path.hasSuffix(".md") ? try? String(contentsOf: assumed, encoding: .utf8) : nil)
        }
    }

    /// The arguments by which the compiler finds the module that package manifests import.
    private static func manifestLibrary() async throws -> [String] {
        struct Target: Decodable {
            struct Paths: Decodable { let runtimeResourcePath: String }
            let paths: Paths
        }
        let result = try await BuiltProcess.compiler(["-print-target-info"]).result()
        let paths = try JSONDecoder().decode(Target.self, from: Data(result.output.utf8)).paths
        return ["-I", "\(paths.runtimeResourcePath)/pm/ManifestAPI"]
    }
}

extension TemporaryFolder {
    /// Writes a file, and returns its path.
    fileprivate func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: file(name))
        return file(name).path
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
