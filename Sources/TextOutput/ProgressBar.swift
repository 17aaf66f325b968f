package import Foundation

/// A bar on the last line of a terminal, over which everything else is printed.
///
/// It is redrawn when somebody calls it, and does not watch a `Progress` by itself: on Linux, a `Progress` is neither
/// observable nor safe to read while another thread changes it.
package struct ProgressBar: Sendable {
    private static let width = 24

    private let file: FileHandle
    private let style: Style

    /// Creates a bar; nil where nobody would see it, or where it would be litter.
    package init?(on file: FileHandle = .standardOutput) {
        guard file.isTerminal, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        self.file = file
        style = Style(for: file)
    }

    /// Draws the bar over what was drawn before.
    ///
    /// - Parameters:
    ///   - title: what is running.
    ///   - fraction: how much of it is done, from 0 to 1.
    package func draw(_ title: String = "", fraction: Double) {
        let done = Int((Double(Self.width) * min(max(fraction, 0), 1)).rounded())
        let bar =
            style.good(String(repeating: "━", count: done))
            + style.faint(String(repeating: "─", count: Self.width - done))
        let percent = "\(Int((fraction * 100).rounded()))%"
        // Where the terminal is too narrow, the line is cut: of one that wraps, only the end can be erased.
        write("\u{1B}[?7l  \(bar) \(percent.padded(to: 4)) \(style.faint(title))\u{1B}[?7h")
    }

    /// Removes the bar.
    package func erase() {
        write("")
    }

    private func write(_ text: String) {
        file.write(Data("\r\u{1B}[K\(text)".utf8))
    }
}
