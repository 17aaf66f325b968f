import Foundation

/// A text that shows Swift code: a Markdown file, or a source file with documentation comments.
///
/// The declarations that the snippets of a Markdown file assume, beyond `Assumed.swift`, are in a file of its name in the
/// same folder, such as `Assumed/ImplementingAStore.swift`, or in a comment: `<!-- assumed: struct Backend {} -->`.
struct Document {
    /// A piece of Swift code.
    struct Snippet {
        /// The number of its first line in the document.
        let line: Int
        let lines: [Substring]
    }

    /// The path in the package.
    let path: String
    /// The pieces of code, in their order.
    var snippets: [Snippet] = []
    /// The declarations that the snippets assume.
    private(set) var assumed: Snippet?
    /// The text of the file with such declarations; nil if there is none.
    private let assumedFile: String?

    init(path: String, text: String, assumed file: String? = nil) {
        self.path = path
        assumedFile = file
        var code: Snippet?
        var end = ""
        for (index, line) in Self.lines(of: text, path).enumerated() {
            let trimmed = line.trimmingCharacters(in: .whitespaces)
            if let begun = code {
                if trimmed == end {
                    if end == "```" { snippets.append(begun) } else { assumed = begun }
                    code = nil
                } else {
                    code = Snippet(line: begun.line, lines: begun.lines + [line])
                }
            } else if ["```swift", "<!-- assumed:"].contains(trimmed) {
                code = Snippet(line: index + 2, lines: [])
                end = trimmed == "```swift" ? "```" : "-->"
            }
        }
    }

    /// The lines of Markdown; in a source file, every other line is empty.
    private static func lines(of text: String, _ path: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard path.hasSuffix(".swift") else { return lines }
        return lines.map { line in
            let comment = line.drop { $0 == " " }
            guard comment.hasPrefix("///") else { return "" }
            return comment.dropFirst(comment.hasPrefix("/// ") ? 4 : 3)
        }
    }
}

extension Document {
    /// The source code that compiles when the snippets do; nil when there are none.
    ///
    /// Each snippet is the body of a function, unless it extends a type or is a test. What is wrong is reported where
    /// it stands in the document.
    var source: String? {
        let bodies = snippets.filter { !$0.isManifest }
        guard !bodies.isEmpty else { return nil }
        let modules = Set(bodies.flatMap(\.modules)).union(modules).sorted()
        let imports = modules.map { "import \($0)" }
        let assumed = assumed.map { [location($0.line)] + $0.lines.map(String.init) } ?? []
        let file = assumedFile.map { ["#sourceLocation(file: \"Assumed for \(path)\", line: 1)", $0] } ?? []
        return (imports + file + assumed + bodies.flatMap { wrapped($0) }).joined(separator: "\n") + "\n"
    }

    /// The source code for those that are parts of a `Package.swift`; nil when there are none.
    var manifest: String? {
        let parts = snippets.filter(\.isManifest)
        guard !parts.isEmpty else { return nil }
        return parts.map { part in
            if part.isWholeManifest {
                return ([location(part.line)] + part.lines.map(String.init) + [""]).joined(separator: "\n")
            }
            let call =
                part.isTarget
                ? "let target\(part.line): Target = (" : "let package = Package(name: \"MyApp\","
            // A location cannot stand inside an expression.
            return ([location(part.line - 1), call] + part.lines.map(String.init) + [")", ""])
                .joined(separator: "\n")
        }.joined()
    }

    /// The modules that a snippet may use without an import.
    private var modules: Set<String> {
        let all: Set = ["AppMigrations", "Foundation", "GRDB", "SchemaMigrations"]
        if path.hasPrefix("Sources/MigrationTesting/") { return all.union(["MigrationTesting", "Testing"]) }
        let own = ["DatabaseBatches", "DatabaseFiles", "GRDBMigrations"].first {
            path.hasPrefix("Sources/\($0)/")
        }
        return own.map { all.union([$0]) } ?? all
    }

    private func wrapped(_ snippet: Snippet) -> [String] {
        let lines = snippet.lines.map { $0.hasPrefix("import ") ? "" : String($0) }
        let code = [location(snippet.line)] + lines
        if snippet.isExtension { return code }
        if snippet.isTest { return ["private struct Snippet\(snippet.line) {"] + code + ["}"] }
        let effects = snippet.lines.contains { $0.contains("await ") } ? "async throws" : "throws"
        return ["private func snippet\(snippet.line)() \(effects) {"] + code + ["}"]
    }

    private func location(_ line: Int) -> String { "#sourceLocation(file: \"\(path)\", line: \(line))" }
}

extension Document.Snippet {
    /// The modules that it imports.
    fileprivate var modules: [String] {
        lines.filter { $0.hasPrefix("import ") }.map { String($0.dropFirst("import ".count)) }
            .filter { !["os", "SwiftUI"].contains($0) }  // Only Apple's systems have them: see Assumed.
    }

    fileprivate var isTarget: Bool { lines.first?.hasPrefix(".target(") ?? false }

    fileprivate var isWholeManifest: Bool { lines.first?.hasPrefix("// swift-tools-version:") ?? false }

    fileprivate var isManifest: Bool { isTarget || isWholeManifest || lines.first == "// Package.swift" }

    fileprivate var isExtension: Bool { lines.contains { $0.hasPrefix("extension ") } }

    fileprivate var isTest: Bool {
        lines.contains { line in ["@Suite", "@Test"].contains { line.hasPrefix($0) } }
    }
}
