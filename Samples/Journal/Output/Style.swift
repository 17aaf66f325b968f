import Foundation

/// How text stands out on a terminal.
///
/// Elsewhere, and where `NO_COLOR` is set (no-color.org), it does not.
struct Style {
    private let isColourful: Bool

    /// Whether standard output is a terminal, so that somebody may be watching.
    static let isTerminal = isatty(FileHandle.standardOutput.fileDescriptor) == 1

    init() {
        isColourful =
            Self.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    }

    func heading(_ text: String) -> String { wrapped(text, in: 1) }
    func good(_ text: String) -> String { wrapped(text, in: 32) }
    func faint(_ text: String) -> String { wrapped(text, in: 2) }

    private func wrapped(_ text: String, in code: Int) -> String {
        isColourful ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension String {
    /// The text, filled up with blanks on its right.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
