import AppMigrations
import GRDB
import SchemaMigrations
import TextOutput

/// A function, a collation or a tokenizer for want of which a migration did not run.
package struct MissingPart {
    private enum Cause { case unknown, otherCount, impure }

    private let standIn: StandIn
    private let cause: Cause

    /// Finds it in SQLite's message; nil if something else was wrong.
    init?(_ error: any Error, in outline: ScriptOutline, _ standIns: StandIns) {
        self.init((error as? MigrationError)?.message ?? "\(error)", in: outline, standIns)
    }

    init?(_ message: String, in outline: ScriptOutline, _ standIns: StandIns) {
        let functions = standIns.functions
        func called(_ name: SQLName, isPure: Bool = false) -> StandIn {
            StandIn(
                kind: .function, name: name, argumentCount: outline.argumentCount(of: name), isPure: isPure)
        }
        if let found = Self.found(in: message) {
            standIn = found.kind == .function ? called(found.name) : found
            cause = .unknown
        } else if let name = message.firstMatch(of: /arguments to function (.+?)\(\)/).map({
            SQLName("\($0.1)")
        }),
            functions.contains(name)
        {
            (standIn, cause) = (called(name), .otherCount)
        } else if message.contains("non-deterministic functions prohibited"),
            let name = functions.sorted().first(where: { outline.calls($0) })
        {
            (standIn, cause) = (called(name, isPure: true), .impure)
        } else {
            return nil
        }
    }

    /// Returns what an error of SQLite misses, such as ``function `slug` ``; nil if something else was wrong.
    package static func title(in message: String) -> String? {
        found(in: message).map { $0.title }
    }

    /// Finds the name in SQLite's message, which GRDB's code may follow.
    private static func found(in message: String) -> StandIn? {
        let pattern =
            /(?:no such|unknown) (function|collation sequence|tokenizer): (.+?)(?=\(\)| \(SQLite|[.,;]|$)/
        return message.firstMatch(of: pattern).map {
            StandIn(
                kind: $0.1 == "collation sequence"
                    ? .collation : StandIn.Kind(rawValue: "\($0.1)") ?? .function,
                name: SQLName("\($0.2)"))
        }
    }

    /// The reason why the migration was not tried.
    var problem: String {
        let reason =
            switch cause {
            case .unknown:
                newerFeature.map {
                    "\(standIn.title) came with SQLite 3.\($0.minor), and this tool has \(SQLiteVersion.running)"
                } ?? "SQLite has no \(standIn.title)"
            case .otherCount:
                "\(CodeRules.fileName) declares \(standIn.title) for another number of arguments"
            case .impure:
                """
                an index, a CHECK and a generated column take only pure functions, and \(CodeRules.fileName) declares \
                \(standIn.title) without `pure`
                """
            }
        return "It was not tried, because \(reason)."
    }

    /// The function of this name that a newer SQLite has; nil if none has.
    private var newerFeature: SQLiteFeature? {
        guard standIn.kind == .function else { return nil }
        return SQLiteFeature.all.first { SQLName($0.name) == SQLName("\(standIn.name)()") }
    }

    /// The line to write, and the file.
    var remedy: String {
        let declaration = "\(standIn.declaration)\(standIn.isPure ? " pure" : "")".quoted
        return switch cause {
        case .unknown where newerFeature != nil:
            "If the app has a newer SQLite, declare a stand-in in \(CodeRules.fileName): \(declaration)."
        case .unknown:
            "If the app adds it, declare a stand-in in \(CodeRules.fileName): \(declaration). Otherwise, correct the name."
        case .otherCount: "Add the line \(declaration), or correct the call."
        case .impure: "If it is pure in the app, write \(declaration)."
        }
    }
}

extension ScriptOutline {
    /// Returns whether a statement calls a function.
    fileprivate func calls(_ name: SQLName) -> Bool {
        statements.contains { $0.tokens.firstCall(of: name) != nil }
    }

    /// Returns the number of arguments in the first call of a function; nil if there is no call, or none that ends.
    fileprivate func argumentCount(of name: SQLName) -> Int? {
        statements.lazy.compactMap { $0.tokens.argumentCount(of: name) }.first
    }
}

extension [SQLScript.Token] {
    /// The place of the name in the first call of a function.
    func firstCall(of name: SQLName) -> Int? {
        indices.dropLast().first { self[$0].name == name && self[$0 + 1].keyword == "(" }
    }

    fileprivate func argumentCount(of name: SQLName) -> Int? {
        guard let start = firstCall(of: name) else { return nil }
        var (depth, commas) = (0, 0)
        for index in (start + 1)..<count {
            switch self[index].keyword {
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth == 0 { return index == start + 2 ? 0 : commas + 1 }
            case "," where depth == 1: commas += 1
            default: break
            }
        }
        return nil
    }
}
