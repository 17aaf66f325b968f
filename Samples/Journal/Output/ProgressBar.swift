import Foundation

/// A bar on the last line of a terminal, over which everything else is printed.
///
/// It is redrawn when somebody tells it to be, and does not watch a `Progress` by itself: on Linux, that is
/// neither observable nor to be read while another thread changes it.
struct ProgressBar {
    private static let width = 24

    private let style: Style

    /// Nil where nobody would see a bar, or it would be litter.
    init?(style: Style) {
        guard Style.isTerminal, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        self.style = style
    }

    func draw(_ title: String, fraction: Double) {
        let done = Int((Double(Self.width) * min(max(fraction, 0), 1)).rounded())
        let bar =
            style.good(String(repeating: "━", count: done))
            + style.faint(String(repeating: "─", count: Self.width - done))
        let percent = "\(Int((fraction * 100).rounded()))%"
        // Where the terminal is too narrow, the line is cut: of one that wraps, only the end can be erased.
        write("\u{1B}[?7l  \(bar) \(percent.padded(to: 4)) \(style.faint(title))\u{1B}[?7h")
    }

    func erase() {
        write("")
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data("\r\u{1B}[K\(text)".utf8))
    }
}
