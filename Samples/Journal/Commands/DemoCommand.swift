import ArgumentParser
import Foundation
import TextOutput

/// Launches every release on one folder of data, and compares the result with a new install.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play the history of the app in a temporary folder, from 1.0 to 2.0.")

    @Flag(
        inversion: .prefixedNo,
        help: "Pause at every step, to watch its progress. The default on a terminal.")
    var slow: Bool?

    func run() throws {
        let style = Style()
        print(style.heading("One journal, upgraded by every release"))
        let upgraded = try DataFolder.temporary { folder in
            for release in [Release.first, .tags, .tagsFixed, .tagsFixed, .moods] {
                let before = folder.exists ? try Contents(of: folder) : nil
                try play(release, on: folder)
                let lost = try before?.lost(in: Contents(of: folder)) ?? []
                guard lost.isEmpty else { throw LostData(texts: lost, release: release) }
            }
            return try folder.schema()
        }

        print("\n" + style.heading("A new journal"))
        let fresh = try DataFolder.temporary { folder in
            try play(.moods, on: folder)
            return try folder.schema()
        }

        guard upgraded == fresh else { throw DifferentSchemas(upgraded: upgraded, fresh: fresh) }
        print(
            """

            \(style.good("✓")) No data was lost, and both journals end with the same schema of \
            \(fresh.count) definitions.
            """)
    }

    private func play(_ release: Release, on folder: DataFolder) throws {
        print()
        let printer = LaunchPrinter(isSlow: slow ?? FileHandle.standardOutput.isTerminal)
        try printer.launch(JournalApp(folder: folder, release: release))
    }
}

/// A release lost data.
struct LostData: Error, CustomStringConvertible {
    let texts: [String]
    let release: Release

    var description: String { "\(release) lost \(texts.joined(separator: ", "))" }
}

/// The upgraded database has a different schema than a new one.
struct DifferentSchemas: Error, CustomStringConvertible {
    let upgraded: [String]
    let fresh: [String]

    var description: String {
        let missing = fresh.filter { !upgraded.contains($0) }
        let left = upgraded.filter { !fresh.contains($0) }
        return
            (["The schema of the upgraded database differs from the new one."]
            + missing.map { "Missing: \($0)" } + left.map { "Unexpected: \($0)" }).joined(separator: "\n")
    }
}
