import Foundation

/// How text stands out on a terminal.
///
/// Elsewhere, and where `NO_COLOR` is set (no-color.org), it does not.
struct Style {
    private let isColourful: Bool

    init(for file: FileHandle = .standardOutput) {
        isColourful = file.isTerminal && ProcessInfo.processInfo.environment["NO_COLOR", default: ""].isEmpty
    }

    func heading(_ text: String) -> String { wrapped(text, in: 1) }
    func good(_ text: String) -> String { wrapped(text, in: 32) }
    func notable(_ text: String) -> String { wrapped(text, in: 33) }
    func bad(_ text: String) -> String { wrapped(text, in: 31) }
    func faint(_ text: String) -> String { wrapped(text, in: 2) }

    private func wrapped(_ text: String, in code: Int) -> String {
        isColourful && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

extension FileHandle {
    /// Whether a person sees what is written there.
    var isTerminal: Bool { isatty(fileDescriptor) == 1 }
}
