import Foundation
import TestSupport
import TestTraits
import Testing

@Suite(
    "Journal in a terminal", .timed, .needs(.terminal))
struct TerminalTests {
    @Test("a bar shows the progress of the launch, and disappears when the steps are done")
    func bar() async throws {
        try await withTemporaryFolder { folder in
            let folders = ["terminal", "pipe"].map { folder.appendingPathComponent($0) }
            for folder in folders { _ = try await journal("launch", "--as", "1.0", data: folder) }
            let arguments = ["launch", "--as", "1.1", "--data"]
            let terminal = try await SampleProcess(onTerminal: "Journal", arguments + [folders[0].path])
            let pipe = try await SampleProcess("Journal", arguments + [folders[1].path])
            #expect(terminal.status == 0)
            #expect(
                terminal.output.bars == [
                    "──────────────────────── 0%   Updating Settings: 1 of 1",
                    "━━━━━━━━──────────────── 33%  Updating Entries: 1 of 2",
                    "━━━━━━━━━━━━──────────── 50%  Updating Entries: 2 of 2",
                    "━━━━━━━━━━━━━━━━──────── 67%  Updating Attachments: 1 of 1",
                    "━━━━━━━━━━━━━━━━━━━━──── 83%  Updating Attachments: 1 of 1",
                    "━━━━━━━━━━━━━━━━━━━━━━━━ 100% Updating Attachments: 1 of 1",
                ])
            #expect(terminal.output.left == pipe.output)
        }
    }

    @Test("a launch with nothing to do has no bar")
    func noBar() async throws {
        try await withTemporaryFolder { folder in
            _ = try await journal("launch", "--as", "1.0", data: folder)
            let run = try await SampleProcess(
                onTerminal: "Journal", ["launch", "--as", "1.0", "--data", folder.path])
            #expect(run.output.bars.isEmpty)
            #expect(run.output.left.contains("nothing to do"))
        }
    }

    @Test("output that is not to a terminal has no bar and no escape sequences")
    func pipe() async throws {
        try await withTemporaryFolder { folder in
            for version in ["1.0", "1.1"] {
                let run = try await journal("launch", "--as", version, data: folder)
                #expect(run.output.bars.isEmpty)
                #expect(!run.output.contains("\u{1B}"))
            }
        }
    }
}

extension String {
    /// The bars that were drawn, in order.
    fileprivate var bars: [String] {
        lines.flatMap { $0.components(separatedBy: "\r") }.map(\.plain).filter { $0.contains("%") }
    }

    /// The text left on the screen, with uncolored spacing before the times.
    fileprivate var left: String {
        lines.map(\.leftOfLine).joined(separator: "\n").withoutTimes.replacing(#/ +TIME/#, with: "  TIME")
    }

    /// The text left of a line after the terminal returned to its start, erased it and overwrote it.
    private var leftOfLine: String {
        components(separatedBy: "\r").reduce("") { line, text in
            let visible = text.withoutEscapes
            return text.hasPrefix("\u{1B}[K") ? visible : visible + line.dropFirst(visible.count)
        }
    }

    /// The lines, which end with a carriage return and a line feed in a terminal.
    private var lines: [String] { components(separatedBy: "\r\n") }

    private var plain: String { withoutEscapes.trimmingCharacters(in: .whitespaces) }

    private var withoutEscapes: String { replacing(/\u{1B}\[[?0-9;]*[A-Za-z]/, with: "") }
}
