/// The parts of a migration's file name: `<version>[_<name>].sql`, `<version>[_<name>].down.sql`, or
/// `<version>_<TypeName>.swift`.
package struct MigrationFileName: Sendable {
    /// The contents of a file.
    package enum Kind: Hashable, Sendable {
        /// The statements of a migration.
        case up
        /// The statements of a down migration.
        case down
        /// Swift code: a type of the file's name.
        case code
    }

    /// The migration's version.
    package let version: Int64
    /// The migration's name; empty if the file has none.
    package let name: String
    /// The contents of the file.
    package let kind: Kind

    /// Reads a file's name.
    ///
    /// - Returns: nil when the file is not meant to be a migration, because it does not end in `.sql` or
    ///   `.swift`, or does not begin with a digit.
    /// - Throws: ``MigrationFileProblem``, when the file is meant to be a migration and its name is
    ///   malformed.
    package init?(_ fileName: String) throws(MigrationFileProblem) {
        // Bytes, because there may be a thousand files, and a launch reads their names.
        let bytes = fileName.utf8
        let digits = bytes.prefix { (0x30...0x39).contains($0) }
        let isCode = fileName.hasSuffix(".swift")
        guard !digits.isEmpty,
            isCode || bytes.suffix(4).elementsEqual(".sql".utf8, by: { $0 | 0x20 == $1 | 0x20 })
        else { return nil }

        func malformed(_ problem: String) -> MigrationFileProblem {
            MigrationFileProblem(
                .malformedName, fileName, problem, remedy: isCode ? Self.codeRemedy : Self.remedy)
        }
        guard isCode || fileName.hasSuffix(".sql") else {
            throw malformed("its extension is not written .sql")
        }
        var rest = bytes.dropFirst(digits.count).dropLast(isCode ? 6 : 4)
        kind = isCode ? .code : rest.suffix(5).elementsEqual(".down".utf8) ? .down : .up
        if kind == .down { rest = rest.dropLast(5) }

        guard let version = Int64(Substring(digits)) else {
            throw malformed("its version is above \(Int64.max)")
        }
        self.version = version
        if rest.isEmpty, !isCode {
            name = ""
            return
        }
        guard rest.popFirst() == UInt8(ascii: "_") else {
            throw malformed("only an _ and a name may follow the version")
        }
        name = String(Substring(rest))
        if isCode {
            guard name.isTypeName else { throw malformed("\"\(name)\" cannot be the name of a type") }
            return
        }
        guard !name.isEmpty, name.last != "_" else { throw malformed("its name is empty or ends with an _") }
        guard rest.allSatisfy(\.isPlain) || name.allSatisfy(\.mayStandInName) else {
            throw malformed("its name has a character that a name may not have")
        }
    }

    private static let remedy = """
        Name it <version>_<name>.sql, the version in digits, the name in letters, digits, spaces, _ and -. If it is \
        no migration, begin its name with something other than a digit.
        """

    private static let codeRemedy = """
        Name it <version>_<TypeName>.swift, the version in digits, after the type that it declares. If it is no \
        migration, begin its name with something other than a digit.
        """
}

extension Character {
    /// True if the name of a migration may have the character.
    fileprivate var mayStandInName: Bool { isLetter || isNumber || self == " " || self == "_" || self == "-" }
}

extension UInt8 {
    /// True if the byte is a character of ASCII that the name of a migration may have.
    fileprivate var isPlain: Bool {
        (0x61...0x7a).contains(self | 0x20) || (0x30...0x39).contains(self) || self == UInt8(ascii: "_")
            || self == UInt8(ascii: "-") || self == UInt8(ascii: " ")
    }
}

extension String {
    /// True if a type may have this name: only ASCII letters, digits and `_`, and no digit first.
    fileprivate var isTypeName: Bool {
        let isWord = utf8.allSatisfy { byte in
            (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_")
        }
        return isWord && !isEmpty && self != "_" && !(0x30...0x39).contains(utf8.first ?? 0)
    }
}
