import AppMigrations
import CMigrationSQLite
import Foundation
package import GRDB
import MigrationDiagnostics
import SchemaMigrations
import TextOutput

/// The stand-ins for what an app adds to its connections, as `code.rules` declares them.
///
/// Add them to no database that is migrated for good: an index would come out in another order than the app's.
package struct StandIns: Sendable {
    private(set) var all: [StandIn] = []

    /// No stand-ins.
    package init() {}

    /// Those for what SQLite has itself, which are not used.
    var known: [StandIn] { all.filter(BuiltIns.shared.has) }

    var used: [StandIn] { all.filter { !BuiltIns.shared.has($0) } }

    /// The names of the functions.
    var functions: Set<SQLName> { Set(used.filter { $0.kind == .function }.map(\.name)) }

    mutating func add(_ kind: StandIn.Kind, _ text: String, at place: Diagnostic.Place, line: Int) throws {
        let new = try StandIn(kind, text, at: place, line: line)
        if let first = all.first(where: new.isSame) {
            throw MigrationError(
                .misuse, at: place, "\(new.title) is declared in line \(first.line) already",
                remedy: "Remove one of the lines.")
        }
        all.append(new)
    }

    /// A configuration for databases in memory.
    package var configuration: Configuration { added(to: Configuration()).refusingAttached() }

    /// Adds the stand-ins to a configuration, for a database in memory or one that is only read.
    package func added(to configuration: Configuration) -> Configuration {
        guard !used.isEmpty else { return configuration }
        var configuration = configuration
        configuration.prepareDatabase { [used] db in
            for standIn in used { try standIn.add(to: db) }
        }
        return configuration
    }
}

extension ReviewFinding {
    /// Returns the finding with the stand-ins on whose results it depends.
    func naming(_ standIns: StandIns?, in outline: ScriptOutline) -> ReviewFinding {
        let statement = outline.statements.last { $0.line <= line }
        guard let functions = standIns?.functions, !functions.isEmpty, let statement else { return self }
        let used = functions.filter { statement.tokens.firstCall(of: $0) != nil }.map(\.text.quoted).sorted()
        guard !used.isEmpty else { return self }
        return ReviewFinding(
            file: file, line: line, rule: rule, problem: problem,
            reason: "\(reason) Here, \(used.asList) \(used.count == 1 ? "is a stand-in" : "are stand-ins").")
    }
}

extension StandIn {
    fileprivate func add(to db: Database) throws {
        switch kind {
        case .function: db.add(function: try function(isOther: false))
        case .collation:
            let comparison = model.flatMap { Comparison($0) } ?? .bytes
            try check(app_migrations_add_collation(db.sqliteConnection, name.text, comparison.code))
        case .tokenizer:
            try check(app_migrations_add_tokenizer(db.sqliteConnection, name.text, model ?? "unicode61"))
        }
    }

    private func check(_ code: Int32) throws {
        guard code != 0 else { return }
        throw MigrationError(
            .misuse, at: .file(CodeRules.fileName, line: line), "\(title) cannot be declared",
            remedy: "This SQLite may lack FTS5. Remove the line.")
    }
}

extension StandIn {
    /// Returns the function that stands in.
    ///
    /// - Parameter isOther: whether it returns something else than usual, so that it shows what depends on it.
    func function(isOther: Bool) throws -> DatabaseFunction {
        let result = try result()
        return DatabaseFunction(name.text, argumentCount: argumentCount, pure: isPure) { values in
            let value = try result(values)
            return isOther ? value.other : value
        }
    }

    private func result() throws -> @Sendable ([DatabaseValue]) throws -> DatabaseValue {
        guard let model else {
            return { [name] values in
                // Other arguments give another result, so that it loses nothing. The number makes it true as a condition.
                "1 \(name.text)(\(values.map { StoredValue($0).sql }.joined(separator: ", ")))".databaseValue
            }
        }
        let sqlite = try DatabaseQueue()
        let literal = Self.literal(model)
        return { values in
            let places = values.map { _ in "?" }.joined(separator: ", ")
            let sql = "SELECT \(literal ?? "\(SQLName(model).sql)(\(places))")"
            return try sqlite.unsafeReentrantRead {
                try DatabaseValue.fetchOne(
                    $0, sql: sql, arguments: literal == nil ? StatementArguments(values) : [])
            } ?? .null
        }
    }
}

extension DatabaseValue {
    /// Another value of the same kind, which is true as a condition if this one is.
    fileprivate var other: DatabaseValue {
        switch storage {
        case .null: 1.databaseValue
        case .int64(let number): (number < 0 ? number &- 1 : number &+ 1).databaseValue
        case .double(let number): (number < 0 ? 2 * number - 1 : 2 * number + 1).databaseValue
        // At the beginning, since a migration may keep only that.
        case .string(let text): ((text.hasPrefix("2") ? "3" : "2") + text).databaseValue
        case .blob(let data): (Data([data.first == 2 ? 3 : 2]) + data).databaseValue
        }
    }
}

/// How a collation compares texts.
enum Comparison: String {
    case bytes = "binary"
    case withoutCase = "nocase"
    case withoutEnd = "rtrim"

    init?(_ name: String) { self.init(rawValue: SQLName(name).folded) }

    var code: Int32 {
        switch self {
        case .bytes: Int32(app_migrations_by_bytes)
        case .withoutCase: Int32(app_migrations_without_case)
        case .withoutEnd: Int32(app_migrations_without_end)
        }
    }
}
