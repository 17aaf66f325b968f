#if os(macOS) || os(Linux)
    public import Foundation

    /// A program that is compiled from generated types of old schemas, and reads and writes databases with them.
    public struct TypesProgram: Sendable {
        /// A file of types.
        public struct Source: Sendable {
            let name: String
            let text: String

            /// - Parameters:
            ///   - name: the name of the enumeration around all types.
            ///   - text: the generated text.
            public init(name: String, text: String) {
                self.name = name
                self.text = text
            }
        }

        private let executable: URL

        /// Compiles generated types in Swift 6 mode; a warning is an error.
        ///
        /// - Parameters:
        ///   - sources: the files of types.
        ///   - more: code beside them, such as the app's own types.
        ///   - folder: where the program is.
        public init(_ sources: [Source], with more: String = "", in folder: TemporaryFolder) async throws {
            var files = [folder.file("main.swift")]
            try Data((Self.main(sources) + more).utf8).write(to: files[0])
            for source in sources {
                let file = folder.file("\(source.name).swift")
                try Data(source.text.utf8).write(to: file)
                files.append(file)
            }
            executable = folder.file("program")
            let result = try await BuiltProcess.compiler(
                [
                    "-swift-version", "6", "-warnings-as-errors", "-whole-module-optimization",
                    "-module-name", "Program",
                ]
                    + ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].flatMap {
                        ["-enable-upcoming-feature", $0]
                    } + files.map(\.path) + (try Self.objects()) + ["-lsqlite3", "-o", executable.path]
            ).result()
            guard result.status == 0 else { throw NotCompiled(description: result.errors) }
        }

        /// Reads every row of a database with the types of a version, writes them into another database, and compares.
        ///
        /// - Parameters:
        ///   - source: the name of the enumeration around all types.
        ///   - version: the name of the enumeration of a version.
        ///   - database: the database.
        /// - Returns: the output: the number of rows that came out equal.
        public func roundTrip(_ source: String, _ version: String, _ database: URL) async throws -> String {
            let result = try await BuiltProcess(
                running: executable, ["\(source).\(version)", database.path]
            ).result()
            guard result.status == 0 else { throw NotCompiled(description: result.output + result.errors) }
            return result.output
        }

        /// A program, or a run of it, that failed.
        public struct NotCompiled: Error, CustomStringConvertible {
            /// What the compiler or the program printed.
            public let description: String
        }

        /// The object files of GRDB.
        private static func objects() throws -> [String] {
            let folder = Products.folders.map { $0.appendingPathComponent("GRDB.build") }
                .first { FileManager.default.fileExists(atPath: $0.path) }
            guard let folder else { throw NotCompiled(description: "GRDB's object files were not found.") }
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter {
                $0.hasSuffix(".o")
            }
            .map { folder.appendingPathComponent($0).path }
        }

        /// Lists the types by the indentation of their declarations.
        private static func types(_ source: Source) -> [(version: String, types: [String])] {
            var versions: [(version: String, types: [String])] = []
            for line in source.text.split(separator: "\n") {
                if let match = line.wholeMatch(of: #/    enum (\S+) \{.*/#) {
                    versions.append((String(match.1), []))
                } else if let match = line.wholeMatch(of: #/        (?:struct|typealias) ([^ :]+).*/#),
                    !versions.isEmpty
                {
                    versions[versions.count - 1].types.append(String(match.1))
                } else if line.contains("extension ") {
                    break
                }
            }
            return versions
        }

        private static func main(_ sources: [Source]) -> String {
            let trials = sources.flatMap { source in
                types(source).map { version, types in
                    """
                        case "\(source.name).\(version)":
                    \(types.map { "        try trial.run(\(source.name).\(version).\($0).self)" }.joined(separator: "\n"))
                            break
                    """
                }
            }.joined(separator: "\n")
            let overloads = sources.map { source in
                """
                extension Trial {
                    func run<T: \(source.name).OldView>(_ type: T.Type) throws { try read(type) }
                    func run<T: \(source.name).OldTable>(_ type: T.Type) throws { try copy(type) }
                }
                """
            }.joined(separator: "\n")
            return """
                import Foundation
                import GRDB

                struct Mismatch: Error, CustomStringConvertible { let description: String }

                final class Trial {
                    let from: DatabaseQueue
                    let to: DatabaseQueue
                    var count = 0

                    init(_ path: String) throws {
                        var configuration = Configuration()
                        configuration.foreignKeysEnabled = false
                        from = try DatabaseQueue(path: path, configuration: configuration)
                        to = try DatabaseQueue(configuration: configuration)
                        let tables = try from.read { db in
                            try String.fetchAll(db, sql: \"\"\"
                                SELECT sql FROM sqlite_master AS m WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'
                                AND EXISTS (SELECT 1 FROM pragma_table_list AS l WHERE l.name = m.name AND l.type = 'table')
                                \"\"\")
                        }
                        try to.write { db in for sql in tables { try db.execute(sql: sql) } }
                    }

                    func read<T: FetchableRecord & TableRecord & EncodableRecord & Codable>(_ type: T.Type) throws {
                        count += try from.read { try type.fetchAll($0) }.map(throughJSON).count
                    }

                    func throughJSON<T: EncodableRecord & Codable>(_ record: T) throws -> T {
                        let other = try JSONDecoder().decode(T.self, from: JSONEncoder().encode(record))
                        let (one, two) = try (record.databaseDictionary, other.databaseDictionary)
                        guard one == two else { throw Mismatch(description: "JSON: \\(one) became \\(two)") }
                        return other
                    }

                    func copy<T: FetchableRecord & PersistableRecord & Codable>(_ type: T.Type) throws {
                        let records = try from.read { try type.fetchAll($0) }.map(throughJSON)
                        try to.write { db in for record in records { try record.insert(db) } }
                        let name = T.databaseTableName
                        let sql = "SELECT * FROM \\"\\(name.replacingOccurrences(of: "\\"", with: "\\"\\""))\\""
                        let (old, new) = try (rows(from, sql), rows(to, sql))
                        guard old == new else { throw Mismatch(description: "\\(name): \\(old) became \\(new)") }
                        count += records.count
                    }

                    func rows(_ queue: DatabaseQueue, _ sql: String) throws -> [String] {
                        try queue.read { db in
                            try Row.fetchAll(db, sql: sql).map { "\\($0.map { "\\($0.0)=\\($0.1.storage)" })" }
                        }.sorted()
                    }
                }

                \(overloads)

                do {
                    let trial = try Trial(CommandLine.arguments[2])
                    switch CommandLine.arguments[1] {
                \(trials)
                    default: throw Mismatch(description: "no such version")
                    }
                    print(trial.count)
                } catch {
                    print(error)
                    exit(1)
                }

                """
        }
    }
#endif
