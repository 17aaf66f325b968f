import Foundation
import TestSupport
import Testing

@Suite("The formats of app-migrations check", .timed)
struct CheckFormatTests {
    /// The parts of SARIF 2.1.0 that readers need.
    private struct Log: Decodable {
        let version: String
        let runs: [Run]

        struct Run: Decodable {
            let tool: Tool
            let results: [Result]
        }
        struct Tool: Decodable { let driver: Driver }
        struct Driver: Decodable {
            let name: String
            let rules: [Rule]
        }
        struct Rule: Decodable {
            let id: String
            let shortDescription: Message
            let help: Message
            let defaultConfiguration: Configuration
        }
        struct Configuration: Decodable { let level: String }
        struct Message: Decodable { let text: String }
        struct Result: Decodable {
            let ruleId: String
            let ruleIndex: Int
            let level: String
            let message: Message
            let locations: [Location]
        }
        struct Location: Decodable { let physicalLocation: PhysicalLocation }
        struct PhysicalLocation: Decodable {
            let artifactLocation: ArtifactLocation
            let region: Region
        }
        struct ArtifactLocation: Decodable { let uri: String }
        struct Region: Decodable { let startLine: Int }
    }

    /// A tool with an error at line 2 of one file, and a note at line 3 of another.
    private func tool(in folder: String = "Migrations") throws -> Tool {
        let tool = try Tool()
        try tool.write("CREATE TABLE a(x);\nCREATE TABLE b(x);", to: "\(folder)/1_a.sql")
        try tool.write("SELECT 1;\nDROP TABLE b;", to: "\(folder)/2_b.sql")
        try tool.write("SELECT 1;\n\nPRAGMA foreign_keys = OFF;", to: "\(folder)/3_c d.sql")
        return tool
    }

    @Test("SARIF has every rule, and each finding with file, line and level")
    func sarif() async throws {
        let run = try await tool()("check --format sarif")
        #expect(run.status == 1)
        let log = try JSONDecoder().decode(Log.self, from: Data(run.output.utf8))
        #expect(run.output.hasPrefix("{\n  \"$schema\" : \"https://docs.oasis-open.org/sarif/sarif/v2.1.0/"))
        #expect(log.version == "2.1.0")
        let first = try #require(log.runs.first)
        #expect(log.runs.count == 1)
        let driver = first.tool.driver
        #expect(driver.name == "app-migrations")
        #expect(Set(driver.rules.map(\.id)).count == driver.rules.count)
        let levels: Set = ["error", "warning", "note"]
        for rule in driver.rules {
            #expect(levels.contains(rule.defaultConfiguration.level))
            for text in [rule.shortDescription.text, rule.help.text] {
                #expect(text.hasSuffix("."), "\(rule.id)")
            }
        }
        #expect(first.results.map(\.ruleId) == ["drop-table", "ignored-pragma"])
        #expect(first.results.map(\.level) == ["error", "note"])
        #expect(first.results.first?.message.text == "Table `b` is dropped: its rows are lost.")
        for result in first.results { #expect(driver.rules[result.ruleIndex].id == result.ruleId) }
        let places = first.results.map { $0.locations.map(\.physicalLocation) }
        #expect(
            places.map { $0.map(\.artifactLocation.uri) } == [
                ["Migrations/2_b.sql"], ["Migrations/3_c%20d.sql"],
            ])
        #expect(places.map { $0.map(\.region.startLine) } == [[2], [3]])
    }

    @Test("SARIF without a finding has an empty list")
    func empty() async throws {
        let run = try await Tool(["1_a.sql": "SELECT 1;"])("check --format sarif")
        #expect(run.status == 0)
        #expect(
            try JSONDecoder().decode(Log.self, from: Data(run.output.utf8)).runs.map(\.results.count) == [0])
    }

    @Test("SARIF says why a folder could not be checked")
    func missing() async throws {
        let run = try await Tool(["1_a.sql": "SELECT 1;"])("check --format sarif --directory nowhere")
        #expect(run.status == 1)
        #expect(
            try JSONDecoder().decode(Log.self, from: Data(run.output.utf8)).runs.map(\.results.count) == [0])
        #expect(run.output.contains("\"executionSuccessful\" : false"))
        #expect(run.output.contains("nowhere: the folder does not exist."), "\(run.output)")
        #expect(run.errors.hasPrefix("error: "))
    }

    @Test("SARIF has a URI for a folder with an absolute path")
    func absolute() async throws {
        let tool = try tool(in: "My Migrations")
        let folder = tool.folder.file("My Migrations")
        let run = try await tool.run(["check", "--format", "sarif", "--directory", folder.path])
        let log = try JSONDecoder().decode(Log.self, from: Data(run.output.utf8))
        let uri = log.runs.first?.results.first?.locations.first?.physicalLocation.artifactLocation.uri
        #expect(uri?.hasPrefix("file:///") == true)
        #expect(uri?.hasSuffix("/My%20Migrations/2_b.sql") == true)
    }

    @Test("workflow commands escape what would end them, and name files from the root of the repository")
    func github() async throws {
        let tool = try tool(in: "50%,a:b")
        let environment = BuiltProcess.ownVariables.merging(["GITHUB_WORKSPACE": ""]) { $1 }
        func lines(_ arguments: [String], workspace: String) async throws -> [Substring] {
            let run = try await BuiltProcess(
                running: Products.executable("app-migrations"), ["check", "--format", "github"] + arguments,
                in: tool.folder.url, environment: environment.merging(["GITHUB_WORKSPACE": workspace]) { $1 }
            ).result()
            #expect(run.status == 1)
            #expect(run.errors == "")
            return run.output.split(separator: "\n")
        }
        let expected = [
            "::error file=50%25%2Ca%3Ab/2_b.sql,line=2,title=drop-table::Table `b` is dropped: its rows are lost.",
            """
            ::notice file=50%25%2Ca%3Ab/3_c d.sql,line=3,title=ignored-pragma::PRAGMA foreign_keys is left out here: this \
            file runs without enforcing foreign keys, which are checked before the commit. Remove it.
            """,
            "3 migrations checked, not compared with a branch: 1 error, 0 warnings, 1 note",
        ]
        #expect(try await lines(["--directory", "50%,a:b"], workspace: "").map(String.init) == expected)
        let whole = tool.folder.file("50%,a:b").path
        #expect(
            try await lines(["--directory", whole], workspace: tool.folder.url.path).map(String.init)
                == expected)
    }

    @Test("--format json is --json, and other formats do not go with it")
    func json() async throws {
        let tool = try tool()
        let run = try await tool("check --format json")
        #expect(run.output == (try await tool("check --json").output))
        let both = try await tool("check --json --format sarif")
        #expect(both.status == 64)
        #expect(both.errors.contains("Pass either --json or --format sarif."))
        #expect(try await tool("check --format xml").status == 64)
    }

    @Test("--oldest makes what an older SQLite lacks an error")
    func oldest() async throws {
        let tool = try Tool([
            "1_a.sql": "SELECT 1;\n\nSELECT iif(1, 2, 3), '1' WHERE false;\nALTER TABLE a ADD CHECK (x);"
        ])
        let run = try await tool("check --oldest 3.39.4")
        #expect(
            run.output.split(separator: "\n").first { $0.contains("newer-sqlite") } == """
                Migrations/1_a.sql:4: error: ALTER TABLE … ADD CONSTRAINT needs SQLite 3.53, and --oldest is 3.39. Write it in \
                another way. [newer-sqlite]
                """)
        #expect(run.status == 1)
        #expect(!run.output.contains("recent-sqlite"))
        let old = try await tool("check --oldest 3.38")
        #expect(old.status == 64)
        #expect(old.errors.contains("Pass a version of SQLite from 3.39, such as 3.39 or 3.46.1."))
    }
}
