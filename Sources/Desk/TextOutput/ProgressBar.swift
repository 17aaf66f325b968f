package import Foundation

/// A progress bar on the last line of a terminal, below all other output.
///
/// The caller redraws the bar. The bar does not observe a `Progress` itself: on Linux, a `Progress` is
/// neither observable nor safe to read while another thread changes it.
package struct ProgressBar: Sendable {
    private static let width = 24

    private let file: FileHandle
    private let style: Style

    /// Creates a bar; returns nil if the output is not a terminal, or is a dumb one.
    package init?(on file: FileHandle = .standardOutput) {
        guard file.isTerminal, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        self.file = file
        style = Style(for: file)
    }

    /// Draws the bar over what was drawn before.
    ///
    /// - Parameters:
    ///   - title: the name of the running work.
    ///   - fraction: the completed fraction, from 0 to 1.
    package func draw(_ title: String = "", fraction: Double) {
        let done = Int((Double(Self.width) * min(max(fraction, 0), 1)).rounded())
        let bar =
            style.good(String(repeating: "━", count: done))
            + style.faint(String(repeating: "─", count: Self.width - done))
        let percent = "\(Int((fraction * 100).rounded()))%"
        // Cut the line if the terminal is too narrow: of a wrapped line, only the end could be erased.
        write("\u{1B}[?7l  \(bar) \(percent.padded(to: 4)) \(style.faint(title))\u{1B}[?7h")
    }

    /// Removes the bar.
    package func erase() {
        write("")
    }

    private func write(_ text: String) {
        file.writeIfPossible("\r\u{1B}[K\(text)")
    }
}
