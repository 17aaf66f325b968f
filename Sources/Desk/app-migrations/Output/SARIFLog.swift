import Foundation
import MigrationDiagnostics
import MigrationTools
import TextOutput

/// The findings of `check` as SARIF 2.1.0 (sections 3.13 to 3.49).
struct SARIFLog: Encodable {
    private let schema =
        "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
    private let version = "2.1.0"
    private let runs: [Run]

    private enum CodingKeys: String, CodingKey {
        case schema = "$schema"
        case version, runs
    }

    private struct Run: Encodable {
        let tool: Tool
        var invocations: [Invocation]?
        let results: [Result]
    }

    private struct Invocation: Encodable {
        let executionSuccessful: Bool
        let toolExecutionNotifications: [Notification]
    }

    private struct Notification: Encodable {
        let level: String
        let message: Message
    }

    private struct Tool: Encodable {
        let driver: Driver
    }

    private struct Driver: Encodable {
        let name: String
        let rules: [Rule]
    }

    private struct Rule: Encodable {
        let id: String
        let shortDescription: Message
        let help: Message
        let defaultConfiguration: Configuration
    }

    private struct Configuration: Encodable {
        let level: String
    }

    private struct Message: Encodable {
        let text: String
    }

    private struct Result: Encodable {
        let ruleId: String
        let ruleIndex: Int
        let level: String
        let message: Message
        let locations: [Location]
    }

    private struct Location: Encodable {
        let physicalLocation: PhysicalLocation
    }

    private struct PhysicalLocation: Encodable {
        let artifactLocation: ArtifactLocation
        let region: Region
    }

    private struct ArtifactLocation: Encodable {
        let uri: String
    }

    private struct Region: Encodable {
        let startLine: Int
    }

    private static let driver = Driver(
        name: "app-migrations",
        rules: ReviewRule.all.map { rule in
            Rule(
                id: rule.name, shortDescription: Message(text: rule.summary.asSentence),
                help: Message(text: rule.remedy),
                // A level is called as a severity is (3.27.10).
                defaultConfiguration: Configuration(level: rule.severity.rawValue))
        })

    /// Creates the log of a check that could not look at the files (3.20).
    init(_ failure: Failure) {
        let notification = Notification(
            level: "error", message: Message(text: failure.diagnostic.message.inOneLine))
        let invocation = Invocation(executionSuccessful: false, toolExecutionNotifications: [notification])
        runs = [Run(tool: Tool(driver: Self.driver), invocations: [invocation], results: [])]
    }

    init(_ report: CheckReport, of directory: String) {
        let rules = ReviewRule.all
        let results = report.findings.map { finding in
            let uri = Self.uri(CheckReport.path(of: finding.file, in: directory))
            return Result(
                ruleId: finding.rule, ruleIndex: rules.firstIndex { $0.name == finding.rule } ?? -1,
                level: finding.severity, message: Message(text: finding.reason),
                locations: [
                    Location(
                        physicalLocation: PhysicalLocation(
                            artifactLocation: ArtifactLocation(uri: uri),
                            region: Region(startLine: finding.line)))
                ])
        }
        runs = [Run(tool: Tool(driver: Self.driver), results: results)]
    }

    /// Returns a path as a relative reference, or as an absolute URI (RFC 3986).
    private static func uri(_ path: String) -> String {
        if path.hasPrefix("/") { return URL(fileURLWithPath: path).absoluteString }
        // A colon in the first part would end a scheme.
        let allowed = CharacterSet(charactersIn: "/-._~").union(.init(charactersIn: "a"..."z"))
            .union(.init(charactersIn: "A"..."Z")).union(.init(charactersIn: "0"..."9"))
        return path.addingPercentEncoding(withAllowedCharacters: allowed) ?? path
    }
}

extension String {
    /// The words as a sentence.
    fileprivate var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
