import ArgumentParser
import Foundation
import MigrationDiagnostics
import MigrationFiles

/// Creates the file of a new migration.
struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a new migration, and print its path.",
        discussion: """
            The file is named <version>_<name>.sql, its version being the time in UTC, yyyyMMddHHmmssSSS. The folder \
            is made if it is not there. Blanks in the name become _.

            EXAMPLE
              app-migrations new create_books
              app-migrations new add_shelves --down
            """)

    @Argument(help: "What the migration does: letters, digits, _ and -.")
    var name: String

    @OptionGroup var folder: DirectoryOption

    @Flag(help: "Make the file that takes it back, too.")
    var down = false

    func run() throws {
        let name = name.replacingOccurrences(of: " ", with: "_")
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let taken = MigrationFileSet(
            names: try FileManager.default.contentsOfDirectory(atPath: folder.url.path), .sqlAndSwift)
        var version = Self.version(at: Date())
        while taken.entries.contains(where: { $0.parsed.version == version }) { version += 1 }

        let stem = "\(version)_\(name)"
        do {
            _ = try MigrationFileName("\(stem).sql")
        } catch {
            throw Failure(
                "\"\(name)\" cannot be a migration's name: \(error.diagnostic.problem)",
                remedy: "Use letters, digits, _ and -, and do not end with _.")
        }
        try write(Self.template(named: name, stem: stem), to: "\(stem).sql")
        if down { try write("-- Reverts \(stem).sql.\n", to: "\(stem).down.sql") }
    }

    private func write(_ text: String, to fileName: String) throws {
        try Data(text.utf8).write(
            to: folder.url.appendingPathComponent(fileName), options: .withoutOverwriting)
        print((folder.directory as NSString).appendingPathComponent(fileName))
    }

    /// Returns the time in UTC, as `yyyyMMddHHmmssSSS`.
    private static func version(at date: Date) -> Int64 {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let time = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute, .second, .nanosecond], from: date)
        let text = String(
            format: "%04d%02d%02d%02d%02d%02d%03d", time.year ?? 0, time.month ?? 0, time.day ?? 0,
            time.hour ?? 0, time.minute ?? 0, time.second ?? 0, (time.nanosecond ?? 0) / 1_000_000)
        return Int64(text) ?? 0
    }

    private static func template(named name: String, stem: String) -> String {
        """
        -- \(name)
        --
        -- Runs once, in a transaction together with its record: it needs no BEGIN and no COMMIT.
        -- Foreign keys are deferred: they are checked before the commit, not while the file runs.
        -- Statements that destroy data need a comment above them for `app-migrations check`,
        -- such as `-- allow: drop-table`. To be able to take it back, write \(stem).down.sql.

        -- CREATE TABLE example(
        --     id INTEGER PRIMARY KEY,
        --     name TEXT NOT NULL
        -- );

        """
    }
}
