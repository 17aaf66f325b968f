import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
package import SchemaMigrations

extension MigrationTrace {
    /// The statements as a file of the migration's name would have them, for the rules that read files.
    ///
    /// A statement with parameters is in it once, however many rows it was run for.
    package func script(of title: MigrationTitle) -> SQLScript? {
        if let script { return script }
        var known: Set<String> = []
        // What has no arguments was written once for each time that it runs.
        let texts = changes.filter { $0.expanded == $0.sql || known.insert($0.sql).inserted }
            .map(\.withoutParameters)
        func make(_ texts: [String]) -> SQLScript? {
            let header = "-- migrations: foreign-keys=\(foreignKeys)\n"
            let text = header + texts.map { "\($0)\n;\n" }.joined()
            return try? SQLScript(Data(text.utf8), fileName: title.title)
        }
        // What a file must not hold, such as ATTACH, the rules do not know.
        return make(texts) ?? make(texts.filter { make([$0]) != nil })
    }
}

extension ScriptOutline {
    /// Runs the body, which runs the migration, and names the statement at which a migration in Swift fails.
    func locatingFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as MigrationError {
            guard error.code == .stepFailed, error.line == nil,
                let cause = error.underlyingError as? DatabaseError
            else { throw error }
            let opening = cause.sql?.openingWithoutArguments
            let statement = script.statements.first {
                opening.map(script.wholeText(of: $0).hasPrefix) == true
            }
            throw cause.failure(of: script.fileName, line: statement?.line ?? 1)
        }
    }
}

extension Error {
    /// Returns the error of one of GRDB's migrations, which names the migration, and quotes no row.
    func failure(of migration: String, line: Int? = nil) -> any Error {
        if self is MigrationError { return self }
        let cause = self as? DatabaseError
        let isForeignKey = cause?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY
        var failure = MigrationError(
            .stepFailed, at: .file(migration, line: line),
            isForeignKey ? "leaves \(cause?.orphan ?? "")" : cause?.problem ?? quotation,
            remedy: "Fix the migration.", underlyingError: self)
        failure.sqliteCode = isForeignKey ? nil : cause?.extendedResultCode.rawValue
        return isForeignKey ? failure.about(.broken) : failure
    }
}

extension DatabaseError {
    /// The row without a parent that GRDB has found after a migration.
    fileprivate var orphan: String {
        let text = message ?? ""
        guard let range = text.range(of: "from ") else { return "a row that refers to no row" }
        return "a row that refers to no row, \(text[range.lowerBound...].prefix { $0 != "," })"
    }
}

extension TracedStatement {
    /// The text with arguments, and with NULL for those that SQLite has not told.
    fileprivate var withoutParameters: String {
        let bytes = Array(expanded.utf8)
        var text: [UInt8] = []
        var end = 0
        for token in SQLLexer(bytes) where token.kind == .parameter {
            text += bytes[end..<token.range.lowerBound] + Array("NULL".utf8)
            end = token.range.upperBound
        }
        return String(decoding: text + bytes[end...], as: UTF8.self)
    }
}

extension String {
    /// The text of a statement from its first word up to its first parameter.
    fileprivate var openingWithoutArguments: String {
        let bytes = Array(utf8)
        let tokens = SQLLexer(bytes).prefix { $0.kind != .parameter && $0.kind != .semicolon }
        guard let first = tokens.first, let last = tokens.last else { return self }
        return String(decoding: bytes[first.range.lowerBound..<last.range.upperBound], as: UTF8.self)
    }
}
