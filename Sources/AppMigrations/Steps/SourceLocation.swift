/// A line in the app's source code.
package struct SourceLocation: Sendable, CustomStringConvertible {
    private let fileID: StaticString
    private let line: UInt

    package init(fileID: StaticString, line: UInt) {
        self.fileID = fileID
        self.line = line
    }

    // Computed for messages alone: every launch makes one for each step.
    package var description: String {
        "\("\(fileID)".split(separator: "/").last ?? ""):\(line)"
    }
}
