import AppMigrations
package import Foundation
import MigrationDiagnostics
import SchemaMigrations

/// What the tool has to know of an app's code, and the code that is generated from a folder of migrations: the file
/// `code.rules` beside them.
///
/// `types:` and `embed:` name files, from the folder; `synced:` names the tables that a sync engine mirrors; `function:`,
/// `collation:` and `tokenizer:` declare stand-ins for what the app adds to SQLite; every other line gives a column a type.
/// `#` begins a comment.
///
/// ```
/// types: ../OldSchemas.swift
/// embed: ../Migrations.swift
/// synced: entry, tag
/// function: slug(1) = lower
/// entry.mood: Mood           # an enumeration, by its raw value
/// entry.day: Date(yyyy-MM-dd)
/// *.metadata: json([String: String])
/// ```
package struct CodeRules: Sendable {
    /// The name of the file.
    package static let fileName = "code.rules"

    /// A kind of code.
    package enum Kind: String, CaseIterable, Sendable {
        /// The tables of earlier versions, as types.
        case types
        /// The migrations themselves.
        case embed
    }

    /// A file of code.
    package struct Output: Sendable {
        package let url: URL
        /// The line that names it, from 1.
        let line: Int
    }

    /// The files of code.
    package private(set) var outputs: [Kind: Output] = [:]
    /// The types that the app chooses.
    package private(set) var mapping = ColumnTypes()
    /// The tables that a sync engine mirrors.
    private(set) var synchronized: Set<SQLName> = []
    /// What stands in for the app's functions, collations and tokenizers.
    package private(set) var standIns = StandIns()
    private let folder: URL
    private var text = ""

    /// Reads the file of a folder, which need not exist.
    ///
    /// - Throws: `MigrationError`, with the line.
    package init(in folder: URL) throws {
        self.folder = folder
        guard let text = try SettingsFile.text(Self.fileName, in: folder) else { return }
        self.text = text
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .enumerated()
        {
            try add(line, number: number + 1)
        }
    }

    private mutating func add(_ line: Substring, number: Int) throws {
        let line = line.withoutComment
        guard !line.isEmpty else { return }
        let place = Diagnostic.Place.file(Self.fileName, line: number)
        guard let colon = line.indexOfColon else {
            throw MigrationError(
                .misuse, at: place, "\(line) is not a rule",
                remedy: "Write a column, a colon and a type, such as entry.mood: Mood.")
        }
        let subject = line[..<colon].trimmingCharacters(in: .whitespaces)
        let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        guard subject != "synced" else {
            synchronized.formUnion(
                value.split(separator: ",").map { SQLName($0.trimmingCharacters(in: .whitespaces)) })
            return
        }
        if let kind = StandIn.Kind(rawValue: subject) {
            return try standIns.add(kind, value, at: place, line: number)
        }
        guard let kind = Kind(rawValue: subject) else { return try mapping.add(subject, value, at: place) }
        guard !value.isEmpty else {
            throw MigrationError(
                .misuse, at: place, "\(subject): names no file",
                remedy: "Write the path of the file, from this folder.")
        }
        outputs[kind] = Output(
            url: URL(fileURLWithPath: value, relativeTo: folder).standardizedFileURL, line: number)
    }

    /// Notes a file of code, unless it is noted already.
    ///
    /// - Returns: true if the file was written.
    package func note(_ output: URL, as kind: Kind) throws -> Bool {
        guard
            outputs[kind]?.url.resolvingSymlinksInPath()
                != output.standardizedFileURL.resolvingSymlinksInPath()
        else {
            return false
        }
        let file = folder.appendingPathComponent(Self.fileName)
        try Data(text(naming: output, as: kind).utf8).write(to: file, options: .atomic)
        return true
    }

    /// Returns the text with a line that names a file of code, and the line ends that it has.
    private func text(naming output: URL, as kind: Kind) -> String {
        let line = "\(kind.rawValue): \(Self.path(of: output, from: folder))"
        let lineEnd = text.first(where: \.isNewline) ?? "\n"
        var changed = text
        if changed.isEmpty {
            changed = "# The code that is generated from these migrations: see `app-migrations help types`."
        }
        if changed.last?.isNewline != true { changed.append(lineEnd) }
        guard let old = outputs[kind] else { return "\(changed)\(line)\(lineEnd)" }
        let lines = changed.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let place = lines[old.line - 1]
        changed.replaceSubrange(place.startIndex..<place.endIndex, with: line)
        return changed
    }

    /// Returns the path of a file, from a folder.
    static func path(of file: URL, from folder: URL) -> String {
        let parts = file.standardizedFileURL.resolvingSymlinksInPath().pathComponents
        let base = folder.standardizedFileURL.resolvingSymlinksInPath().pathComponents
        let common = zip(parts, base).prefix { $0 == $1 }.count
        return (base.dropFirst(common).map { _ in ".." } + parts.dropFirst(common)).joined(separator: "/")
    }
}

extension Substring {
    /// The text before a `#` at the beginning of a word.
    fileprivate var withoutComment: String {
        var end = startIndex
        var isWordStart = true
        while end < endIndex, !(self[end] == "#" && isWordStart) {
            isWordStart = self[end].isWhitespace
            end = index(after: end)
        }
        return self[..<end].trimmingCharacters(in: .whitespaces)
    }
}

extension String {
    /// The place of the first colon outside quotes.
    fileprivate var indexOfColon: Index? {
        var quote: Character?
        for index in indices {
            if let open = quote {
                if self[index] == open { quote = nil }
            } else if "\"`".contains(self[index]) {
                quote = self[index]
            } else if self[index] == ":" {
                return index
            }
        }
        return nil
    }
}
