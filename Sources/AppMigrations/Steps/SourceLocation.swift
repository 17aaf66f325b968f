/// A line in the app's source code.
package struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    package let fileID: String
    package let line: Int

    package init(fileID: StaticString, line: UInt) {
        self.fileID = "\(fileID)"
        self.line = Int(line)
    }

    package var description: String {
        "\(fileID.split(separator: "/").last ?? ""):\(line)"
    }
}
