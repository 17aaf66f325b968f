import Foundation
import FuzzTargets
import MigrationTesting
import MigrationTools
import TestSupport
import Testing

@testable import MigrationEmbedding

@Suite("Generated code", .timed)
struct GeneratedSyntaxTests {
    @Test("names its source file, whatever the folder is called")
    func awkwardFolder() {
        let file = URL(fileURLWithPath: "/a\n\"b\\\t\u{202E}/1_A.swift")
        let source = SwiftSource(EmbeddedMigrations([.code(version: 1, typeName: "A", file: file)]))
        #expect(
            source.text.contains(
                ##"#sourceLocation(file: "/a\u{a}\"b\\\u{9}\u{202e}/1_A.swift", line: 1)"##))
    }

    @Test("parses as Swift, whatever is embedded")
    func parsed() async throws {
        let seeds = try #require(FuzzTarget.all.first { $0.name == "literals" }).seeds.map { Array($0.utf8) }
        let mutation = Mutation(seeds: seeds)
        var random = RandomNumbers(seed: 1)
        let texts = (0..<200).map { index in
            String(
                decoding: index < seeds.count ? seeds[index] : mutation.input(using: &random), as: UTF8.self)
        }
        let migrations = texts.enumerated().map { index, text in
            EmbeddedMigrations.Migration.sql(version: Int64(index), name: text, sql: text, down: text)
        }
        let files = texts.enumerated().map { index, text in
            EmbeddedMigrations.Migration.code(
                version: Int64(index + texts.count), typeName: "T\(index)",
                file: URL(fileURLWithPath: "/" + text.replacing("\0", with: "")))
        }
        let folder = try TemporaryFolder()
        let file = folder.file("Generated.swift")
        try Data(SwiftSource(EmbeddedMigrations(migrations + files)).text.utf8).write(to: file)
        let compiled = try await BuiltProcess.compiler([
            "-parse-as-library", "-warnings-as-errors", "-parse", file.path,
        ]).result()
        #expect(compiled.errors == "", "\(texts.map { Array($0.utf8) })")
        #expect(compiled.status == 0)
    }
}
