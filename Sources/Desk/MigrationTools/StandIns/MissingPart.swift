import AppMigrations
import GRDB
import SchemaMigrations
import TextOutput

/// A function, a collation or a tokenizer for want of which a migration did not run.
package struct MissingPart {
    private let standIn: StandIn
    /// True if it is declared for another number of arguments.
    private let isDeclaredOtherwise: Bool
    /// True if it is declared, but not as pure.
    private let isImpure: Bool

    /// Finds it in SQLite's message; nil if something else was wrong.
    init?(_ error: any Error, in outline: ScriptOutline, _ standIns: StandIns) {
        let message = (error as? MigrationError)?.message ?? "\(error)"
        let functions = standIns.functions
        func called(_ name: String, impure: Bool = false) -> StandIn {
            StandIn(
                kind: .function, name: SQLName(name),
                argumentCount: outline.argumentCount(of: SQLName(name)), isPure: impure)
        }
        if let found = message.firstMatch(of: /(?:no such|unknown) function: ([\w$]+)/) {
            self.init(standIn: called("\(found.1)"), isDeclaredOtherwise: false, isImpure: false)
        } else if let found = message.firstMatch(of: /wrong number of arguments to function ([\w$]+)/),
            functions.contains(SQLName("\(found.1)"))
        {
            self.init(standIn: called("\(found.1)"), isDeclaredOtherwise: true, isImpure: false)
        } else if message.contains("non-deterministic functions prohibited"),
            let name = outline.names.first(where: functions.contains)
        {
            self.init(standIn: called(name.text, impure: true), isDeclaredOtherwise: false, isImpure: true)
        } else if let found = message.firstMatch(of: /no such (collation sequence|tokenizer): ([\w$]+)/) {
            let kind = found.1 == "tokenizer" ? StandIn.Kind.tokenizer : .collation
            self.init(
                standIn: StandIn(kind: kind, name: SQLName("\(found.2)")), isDeclaredOtherwise: false,
                isImpure: false)
        } else {
            return nil
        }
    }

    /// Returns what an error of SQLite misses, such as ``function `slug` ``; nil if something else was wrong.
    package static func title(in message: String) -> String? {
        message.firstMatch(of: /(?:no such|unknown) (function|collation sequence|tokenizer): ([\w$]+)/).map {
            "\($0.1 == "collation sequence" ? "collation" : $0.1) \($0.2.description.quoted)"
        }
    }

    private init(standIn: StandIn, isDeclaredOtherwise: Bool, isImpure: Bool) {
        (self.standIn, self.isDeclaredOtherwise, self.isImpure) = (standIn, isDeclaredOtherwise, isImpure)
    }

    /// The reason why the migration was not tried.
    var problem: String {
        let reason =
            isImpure
            ? "an index, a CHECK and a generated column take only pure functions, and \(CodeRules.fileName) declares \(standIn.title) without `pure`"
            : isDeclaredOtherwise
                ? "\(CodeRules.fileName) declares \(standIn.title) for another number of arguments"
                : "SQLite has no \(standIn.title)"
        return "It was not tried, because \(reason)."
    }

    /// What to write where.
    var remedy: String {
        let declaration = "\(standIn.declaration)\(standIn.isPure ? " pure" : "")".quoted
        if isImpure { return "If it is pure in the app, write \(declaration)." }
        if isDeclaredOtherwise { return "Add the line \(declaration), or correct the call." }
        return
            "If the app adds it, declare a stand-in in \(CodeRules.fileName): \(declaration). Otherwise, correct the name."
    }
}

extension ScriptOutline {
    /// The names in the statements, in order.
    fileprivate var names: [SQLName] { statements.flatMap { $0.tokens.map(\.name) } }

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
