package import Foundation

/// Colours for text on a terminal.
///
/// Other outputs get no colours, nor does a terminal if `NO_COLOR` is set (no-color.org).
package struct Style: Sendable {
    private let isColourful: Bool

    /// A style without colours.
    package static var plain: Style { Style(isColourful: false) }

    /// Creates a style for the output to a file.
    package init(for file: FileHandle = .standardOutput) {
        self.init(
            isColourful: file.isTerminal
                && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty)
    }

    private init(isColourful: Bool) {
        self.isColourful = isColourful
    }

    package func heading(_ text: String) -> String { wrapped(text, in: 1) }
    package func good(_ text: String) -> String { wrapped(text, in: 32) }
    package func notable(_ text: String) -> String { wrapped(text, in: 33) }
    package func bad(_ text: String) -> String { wrapped(text, in: 31) }
    package func faint(_ text: String) -> String { wrapped(text, in: 2) }

    private func wrapped(_ text: String, in code: Int) -> String {
        isColourful && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension FileHandle {
    /// True if the file is a terminal.
    package var isTerminal: Bool { isatty(fileDescriptor) == 1 }

    /// Writes text, unless it cannot be written: to a full disk, for example, or to a terminal that was closed.
    ///
    /// `write(_:)` would end the process.
    package func writeIfPossible(_ text: String) { try? write(contentsOf: Data(text.utf8)) }
}
