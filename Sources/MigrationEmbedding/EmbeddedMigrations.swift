package import Foundation
import MigrationFiles

/// The migrations of a folder, read from it.
package struct EmbeddedMigrations {
    /// A migration.
    package enum Migration {
        case sql(version: Int64, name: String, sql: String, down: String?)
        case code(version: Int64, typeName: String, file: URL)
    }

    /// Ascending by version.
    package let migrations: [Migration]

    /// Takes migrations that have been read, ascending by version.
    package init(_ migrations: [Migration]) { self.migrations = migrations }

    /// Reads the files.
    ///
    /// - Throws: ``EmbeddingErrors``.
    package init(files: [URL], folder: URL) throws(EmbeddingErrors) {
        let set = MigrationFileSet(names: files.map(\.lastPathComponent), .sqlAndSwift)
        var errors = set.problems.map { problem in
            EmbeddingErrors.One(
                folder.appendingPathComponent(problem.fileName), "\(problem.problem). \(problem.remedy)")
        }
        if set.entries.isEmpty, errors.isEmpty {
            errors.append(
                .init(
                    folder,
                    """
                    the folder holds no migration. Migrations are files named <version>_<name>.sql or \
                    <version>_<TypeName>.swift.
                    """))
        }
        func text(_ name: String) -> String {
            do throws(EmbeddingErrors) {
                return try Self.text(folder.appendingPathComponent(name))
            } catch {
                errors += error.errors
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
        var types: Set<String> = []
        for case .code(_, let typeName, let file) in migrations where !types.insert(typeName).inserted {
            errors.append(.init(file, "there is another migration that is named \(typeName)."))
        }
        guard errors.isEmpty else { throw EmbeddingErrors(errors: errors) }
    }

    private static func text(_ file: URL) throws(EmbeddingErrors) -> String {
        let data: Data
        do {
            data = try Data(contentsOf: file)
        } catch {
            throw EmbeddingErrors(errors: [.init(file, "cannot be read: \(error.localizedDescription)")])
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw failure(file, data, at: data.firstInvalidUTF8, "is not UTF-8 text. Save it as UTF-8.")
        }
        if let index = data.firstIndex(of: 0) {
            throw failure(
                file, data, at: index,
                "holds a NUL byte. Remove it: SQLite would pass over the rest of the file in silence.")
        }
        return text
    }

    private static func failure(
        _ file: URL, _ data: Data, at index: Int, _ message: String
    ) -> EmbeddingErrors {
        let before = data[..<index]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return EmbeddingErrors(errors: [.init(file, line: line, column: index - start + 1, message)])
    }
}

extension Data {
    /// Where the first byte is that is not part of UTF-8 text.
    fileprivate var firstInvalidUTF8: Int {
        var bytes = makeIterator()
        var decoder = UTF8()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&bytes) { offset += UTF8.width(scalar) }
        return Swift.min(offset, Swift.max(0, count - 1))
    }
}
