/// What a migration's file name says: `<version>[_<name>].sql`, or `<version>[_<name>].down.sql`.
struct MigrationFileName: Hashable, Sendable {
    enum Direction: Hashable, Sendable { case up, down }

    let version: SchemaVersion
    /// Empty when the file has none.
    let name: String
    let direction: Direction

    /// Reads a file's name.
    ///
    /// - Returns: nil when the file is not meant to be a migration: it does not end in `.sql`, or does not
    ///   begin with a digit.
    /// - Throws: ``SchemaMigrationError``, when it is meant to be one and is malformed.
    init?(_ fileName: String) throws {
        let digits = fileName.utf8.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty, fileName.lowercased().hasSuffix(".sql") else { return nil }

        func malformed(_ problem: String) -> SchemaMigrationError {
            SchemaMigrationError(
                .malformedFileName, "\(fileName): \(problem).",
                remedy: """
                    Name it <version>_<name>.sql, the version in digits, the name in letters, digits, spaces, \
                    _ and -; or begin its name with something else than a digit if it is no migration.
                    """,
                file: fileName)
        }
        guard fileName.hasSuffix(".sql") else { throw malformed("its ending is not written .sql") }
        var stem = fileName.dropLast(4)
        direction = stem.hasSuffix(".down") ? .down : .up
        if direction == .down { stem = stem.dropLast(5) }

        guard let version = SchemaVersion(String(Substring(digits))) else {
            throw malformed("its version is above \(SchemaVersion.max)")
        }
        self.version = version
        var rest = stem.utf8.dropFirst(digits.count)[...]
        if rest.isEmpty {
            name = ""
            return
        }
        guard rest.removeFirst() == UInt8(ascii: "_") else {
            throw malformed("after the version, only an _ and a name may follow")
        }
        name = String(Substring(rest))
        guard !name.isEmpty, name.last != "_" else { throw malformed("its name is empty or ends with an _") }
        guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == " " || $0 == "_" || $0 == "-" }) else {
            throw malformed("its name has a character that a name may not have")
        }
    }
}
