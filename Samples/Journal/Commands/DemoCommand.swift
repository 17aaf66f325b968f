import ArgumentParser
import Foundation
import TextOutput

/// Launches every release on one folder of data, and compares the result with a new install.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play the history of the app in a temporary folder, from 1.0 to 3.0.")

    @Flag(
        inversion: .prefixedNo,
        help: "Pause at every step, to watch its progress. The default on a terminal.")
    var slow: Bool?

    func run() async throws {
        let style = Style()
        print(style.heading("One journal, upgraded by every release"))
        let upgraded = try await DataFolder.temporary { folder in
            for release in [Release.first, .tags, .tagsFixed, .tagsFixed, .moods, .words, .oneIndex] {
                let before = folder.exists ? try Contents(of: folder) : nil
                try await play(release, on: folder)
                let lost = try before?.lost(in: Contents(of: folder)) ?? []
                guard lost.isEmpty else { throw LostData(texts: lost, release: release) }
            }
            return try folder.schema()
        }

        print(
            "\n" + style.heading("A journal with \(Self.entriesOfYears) entries, killed while it is indexed"))
        try await DataFolder.temporary { folder in
            try await play(.moods, on: folder) { try $0.writeForYears(entries: Self.entriesOfYears) }
            print()
            try launchInProcess(.words, on: folder, killAfter: 4)
            try await play(.oneIndex, on: folder)
        }

        print("\n" + style.heading("A journal whose database is damaged"))
        try await DataFolder.temporary { folder in
            try await play(.latest, on: folder) { try $0.writeForYears(entries: Self.entriesOfYears) }
            try folder.damageEntries()
            try await play(.latest, on: folder)
        }

        print("\n" + style.heading("A new journal"))
        let fresh = try await DataFolder.temporary { folder in
            try await play(.latest, on: folder)
            return try folder.schema()
        }

        guard upgraded == fresh else { throw DifferentSchemas(upgraded: upgraded, fresh: fresh) }
        print(
            """

            \(style.good("✓")) No upgrade lost data, and both journals end with the same schema of \
            \(fresh.count) definitions.
            """)
    }

    /// More than a batch can do.
    private static let entriesOfYears = 20_000

    private var isSlow: Bool { slow ?? FileHandle.standardOutput.isTerminal }

    private func play(
        _ release: Release, on folder: DataFolder, then use: (JournalApp) throws -> Void = { _ in }
    ) async throws {
        print()
        let app = try JournalApp(folder: folder, release: release)
        try await LaunchPrinter(isSlow: isSlow).play(app)
        try use(app)
    }

    /// Launches a release in a process of its own, which is killed while it does what the launch did not wait for.
    private func launchInProcess(_ release: Release, on folder: DataFolder, killAfter batches: Int) throws {
        // What this process has printed comes before what the other one prints.
        fflush(nil)
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [
            "launch", "--as", "\(release.version)", "--kill-after", "\(batches)", "--data", folder.url.path,
        ]
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal else { throw NotKilled() }
    }
}

/// The process that should have been killed came to its end.
struct NotKilled: Error, CustomStringConvertible {
    var description: String { "The work after the launch was done before the process could be killed." }
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
