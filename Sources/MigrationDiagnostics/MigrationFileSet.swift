/// The migrations of one folder, found by file name, with all problems of these names.
package struct MigrationFileSet: Sendable {
    /// A migration's files.
    package struct Entry: Sendable {
        /// The name of the file that migrates.
        package let fileName: String
        /// The parts of that name.
        package let parsed: MigrationFileName
        /// The name of the down migration's file.
        package fileprivate(set) var down: String?
    }

    /// The kinds of files that count as migrations.
    package enum Languages: Sendable {
        /// `.sql` files.
        case sql
        /// `.sql` and `.swift` files.
        case sqlAndSwift
    }

    /// The migrations, ascending by version, and by file name where two have one.
    package private(set) var entries: [Entry] = []
    /// The problems, in the order of the file names.
    package private(set) var problems: [MigrationFileProblem] = []

    /// Reads the names of a folder's files.
    package init(names: some Sequence<String>, _ languages: Languages) {
        var downs: [String: String] = [:]
        for name in names {
            do throws(MigrationFileProblem) {
                guard let parsed = try MigrationFileName(name) else { continue }
                switch parsed.kind {
                case .code where languages == .sql: continue
                case .up, .code: entries.append(Entry(fileName: name, parsed: parsed))
                case .down: downs[String(name.dropLast(".down.sql".count))] = name
                }
            } catch {
                if languages == .sqlAndSwift || !name.hasSuffix(".swift") { problems.append(error) }
            }
        }
        for index in entries.indices where !downs.isEmpty && entries[index].parsed.kind == .up {
            entries[index].down = downs.removeValue(
                forKey: String(entries[index].fileName.dropLast(".sql".count)))
        }
        for (stem, name) in downs {
            problems.append(
                MigrationFileProblem(
                    .lonelyDown, name, "there is no \(stem).sql that it reverses",
                    remedy: "Give both the same name, or remove it."))
        }
        // By places: to compare entries would copy them ten thousand times.
        let versions = entries.map(\.parsed.version)
        let order = entries.indices.inOrder { [entries] first, second in
            versions[first] == versions[second]
                ? entries[first].fileName < entries[second].fileName : versions[first] < versions[second]
        }
        entries = order.map { entries[$0] }
        for (first, second) in zip(entries, entries.dropFirst())
        where first.parsed.version == second.parsed.version {
            problems.append(
                MigrationFileProblem(
                    .doubleVersion, second.fileName,
                    "has version \(second.parsed.version), which \(first.fileName) has too",
                    remedy: "Give the newer one a version of its own."))
        }
        problems = problems.inOrder { $0.fileName < $1.fileName }
    }
}
