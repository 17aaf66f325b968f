import AppMigrations
import Foundation
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// What takes the place of a function, a collation or a tokenizer of the app, where the app does not run.
struct StandIn: Hashable, Sendable {
    /// What an app can add to a connection.
    enum Kind: String, CaseIterable, Sendable {
        case collation, function, tokenizer
    }

    let kind: Kind
    let name: SQLName
    /// The number of a function's arguments; nil for any.
    var argumentCount: Int?
    /// True if a function returns the same for the same arguments, so that indexes may hold it.
    var isPure = false
    /// What SQLite has, and it behaves like; nil for what tells all values apart.
    var model: String?
    /// The line that declares it, from 1.
    var line = 0

    /// The declaration, such as `function: slug(1)`.
    var declaration: String { "\(kind.rawValue): \(name.plain)\(arguments)" }

    /// The name in sentences, such as ``function `slug` ``.
    var title: String { "\(kind.rawValue) \(name.text.quoted)" }

    private var arguments: String { argumentCount.map { "(\($0))" } ?? "" }

    /// Returns whether both would take the same calls.
    func isSame(as other: StandIn) -> Bool {
        (kind, name, argumentCount) == (other.kind, other.name, other.argumentCount)
    }
}

// The line: a name, of a function with the number of its arguments and `pure`, and after `=` what it behaves like.
extension StandIn {
    /// Reads the declaration that follows the kind and a colon in a line of `code.rules`.
    ///
    /// - Throws: `MigrationError`, with the line.
    init(_ kind: Kind, _ text: String, at place: Diagnostic.Place, line: Int) throws {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let pattern = /(?<name>[^\s()"]+|"[^"]+")(?:\((?<count>\d{1,3})\))?(?<pure>\s+pure)?/
        guard let found = parts.first?.wholeMatch(of: pattern), parts.last?.isEmpty == false,
            kind == .function || found.count == nil && found.pure == nil
        else {
            throw MigrationError(
                .misuse, at: place,
                text.isEmpty ? "names no \(kind.rawValue)" : "\(text.quoted) declares no \(kind.rawValue)",
                remedy: "Write \(kind.examples).")
        }
        self.init(
            kind: kind, name: SQLName(token: String(found.name)),
            argumentCount: found.count.flatMap { Int($0) }, isPure: found.pure != nil,
            model: parts.count > 1 ? parts[1] : nil, line: line)
        guard let problem = modelProblem else { return }
        throw MigrationError(.misuse, at: place, problem.problem, remedy: problem.remedy)
    }
}

extension StandIn.Kind {
    fileprivate var examples: String {
        switch self {
        case .collation: "collation: localized, or collation: localized = NOCASE"
        case .function:
            "function: slug, function: slug(1), function: slug(1) pure, or function: slug(1) = lower"
        case .tokenizer: "tokenizer: words, or tokenizer: words = porter"
        }
    }
}

extension StandIn {
    /// The reason why it cannot behave like its model.
    private var modelProblem: (problem: String, remedy: String)? {
        guard let model else { return nil }
        switch kind {
        case .collation:
            return Comparison(model) == nil
                ? ("SQLite has no collation \(model.quoted)", "Name BINARY, NOCASE or RTRIM.") : nil
        case .tokenizer:
            return BuiltIns.shared.tokenizers.contains(SQLName(model))
                ? nil
                : (
                    "FTS5 has no tokenizer \(model.quoted)",
                    "Name one of \(BuiltIns.shared.tokenizers.map(\.text).sorted().asList)."
                )
        case .function:
            guard Self.literal(model) == nil, !BuiltIns.shared.hasFunction(model, argumentCount) else {
                return nil
            }
            let count = argumentCount.map { $0.counting("argument") } ?? "any number of arguments"
            return (
                "SQLite has no function \(model.quoted) for \(count)",
                "Name one that it has, or a number or a text such as 1 or 'x'; or leave out `= \(model)`."
            )
        }
    }

    /// Returns a number or a text in single quotes as SQL; nil if it is neither.
    static func literal(_ text: String) -> String? {
        text.wholeMatch(of: /-?\d+(\.\d+)?|'([^']|'')*'/) == nil ? nil : text
    }
}
