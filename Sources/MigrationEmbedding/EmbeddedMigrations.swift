package import Foundation
import MigrationDiagnostics

/// The migrations read from a folder.
package struct EmbeddedMigrations {
    /// A migration.
    package enum Migration {
        case sql(version: Int64, name: String, sql: String, down: String?)
        case code(version: Int64, typeName: String, file: URL)
    }

    /// The migrations, ascending by version.
    package let migrations: [Migration]
    /// The files that migrate, by version.
    private(set) var files: [Int64: URL] = [:]

    /// Creates a value from migrations, ascending by version.
    package init(_ migrations: [Migration]) { self.migrations = migrations }

    /// Reads the migrations from files.
    ///
    /// - Throws: ``EmbeddingErrors``.
    package init(files: [URL], folder: URL) throws(EmbeddingErrors) {
        func isNested(_ file: URL) -> Bool {
            file.deletingLastPathComponent().path.hasPrefix(folder.path + "/")
        }
        let set = MigrationFileSet(
            names: files.filter { !isNested($0) }.map(\.lastPathComponent), .sqlAndSwift)
        func place(_ fileName: String) -> Diagnostic.Place {
            .file(folder.appendingPathComponent(fileName).path)
        }
        var problems = set.problems.map { problem in
            var diagnostic = problem.diagnostic
            diagnostic.place = place(problem.fileName)
            return diagnostic
        }
        for file in files where isNested(file) {
            guard let kind = (try? MigrationFileName(file.lastPathComponent))?.kind, kind != .down else {
                continue
            }
            problems.append(
                Diagnostic(
                    at: .file(file.path), "is in a subfolder, so it would never run",
                    remedy: "Move it into the folder \(folder.lastPathComponent) itself, or out of it."))
        }
        if set.entries.isEmpty, problems.isEmpty {
            problems.append(
                Diagnostic(
                    at: .file(folder.path), "the folder holds no migration",
                    remedy: """
                        Name the files of migrations <version>_<name>.sql or <version>_<TypeName>.swift.
                        """))
        }
        func text(_ name: String) -> String {
            do throws(EmbeddingErrors) {
                return try Self.text(folder.appendingPathComponent(name))
            } catch {
                problems += error.diagnostics
                return ""
            }
        }
        migrations = set.entries.map { entry in
            entry.parsed.kind == .code
                ? .code(
                    version: entry.parsed.version, typeName: entry.parsed.name,
                    file: folder.appendingPathComponent(entry.fileName))
                : .sql(
                    version: entry.parsed.version, name: entry.parsed.name, sql: text(entry.fileName),
                    down: entry.down.map(text))
        }
        self.files = Dictionary(
            set.entries.map { ($0.parsed.version, folder.appendingPathComponent($0.fileName)) },
            uniquingKeysWith: { $1 })
        var types: Set<String> = []
        for case .code(_, let typeName, let file) in migrations where !types.insert(typeName).inserted {
            problems.append(
                Diagnostic(
                    at: .file(file.path), "another migration has the name \(typeName) as well",
                    remedy: "Rename one of the types, and its file."))
        }
        guard problems.isEmpty else { throw EmbeddingErrors(diagnostics: problems) }
    }

    private static func text(_ file: URL) throws(EmbeddingErrors) -> String {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw EmbeddingErrors(diagnostics: [
                Diagnostic(
                    at: .file(file.path), "cannot be read: \(error.localizedDescription)",
                    remedy: "Make it readable.")
            ])
        }
        guard let text = String(validUTF8: data) else {
            throw failure(
                file, data, at: data.firstInvalidUTF8, "is not UTF-8 text", remedy: "Save it as UTF-8.")
        }
        if let index = data.firstIndex(of: 0) {
            throw failure(
                file, data, at: index, "holds a NUL byte",
                remedy: "Remove it: SQLite would silently ignore the rest of the file.")
        }
        return text
    }

    private static func failure(
        _ file: URL, _ data: Data, at index: Int, _ problem: String, remedy: String
    ) -> EmbeddingErrors {
        let before = data[..<index]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let place = Diagnostic.Place.file(file.path, line: line, column: index - start + 1)
        return EmbeddingErrors(diagnostics: [Diagnostic(at: place, problem, remedy: remedy)])
    }
}

extension Data {
    /// The index of the first byte that is not part of UTF-8 text.
    fileprivate var firstInvalidUTF8: Int {
        var bytes = makeIterator()
        var decoder = UTF8()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&bytes) { offset += UTF8.width(scalar) }
        return Swift.min(offset, Swift.max(0, count - 1))
    }
}
