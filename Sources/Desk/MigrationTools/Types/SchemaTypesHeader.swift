import Foundation

/// The first lines of a generated file, from which it can be made again.
package struct SchemaTypesHeader: Equatable {
    /// The versions that have types, oldest first.
    package let versions: [String]
    /// The name of the enumeration around all.
    package let name: String

    private static let title =
        "// The tables at earlier versions of the schema. Written by AppMigrations: do not edit it, write it again."
    private static let versionMark = "// version: "
    private static let nameMark = "// name: "

    init(versions: [String], name: String) {
        self.versions = versions
        self.name = name
    }

    /// Reads the header of a file.
    ///
    /// - Returns: nil, if the file is another one.
    package init?(of text: String) {
        let lines = text.split(whereSeparator: \.isNewline).prefix { $0.hasPrefix("//") }
        guard lines.first.map(String.init) == Self.title else { return nil }
        versions = lines.filter { $0.hasPrefix(Self.versionMark) }
            .map { String($0.dropFirst(Self.versionMark.count)).unescaped }
        let named = lines.first { $0.hasPrefix(Self.nameMark) }
        name = named.map { String($0.dropFirst(Self.nameMark.count)) } ?? "Schema"
    }

    var text: String {
        let versions = versions.map { "\(Self.versionMark)\($0.escaped)\n" }.joined()
        return """
            \(Self.title)
            \(Self.nameMark)\(name)
            \(versions)// swift-format-ignore-file
            // swiftlint:disable all

            """
    }
}

extension String {
    /// The text in one line: identifiers of GRDB's migrations may be anything.
    fileprivate var escaped: String {
        replacing("%", with: "%25").replacing("\n", with: "%0A").replacing("\r", with: "%0D")
    }

    fileprivate var unescaped: String { removingPercentEncoding ?? self }
}
