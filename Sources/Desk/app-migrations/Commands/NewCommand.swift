import AppMigrations
import ArgumentParser
import Foundation
import MigrationDiagnostics
import MigrationTools
import TextOutput

/// Creates the file of a new migration.
struct NewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a new migration, and print its path.",
        discussion: """
            The file is named <version>_<name>.sql; the version is the time in UTC, yyyyMMddHHmmssSSS. Creates the \
            folder if it does not exist. Spaces in the name become _.

            With --from, the file leads from what the migrations make to the schema that FILE creates. Edit FILE, and \
            let the command write the ALTER TABLEs and the rebuilds; diff shows them without writing. Where only \
            constraints of a table change, a file of its own redefines it without copying a row. All are run on \
            generated rows first: if the schema comes out otherwise, or a row is lost, nothing is written. What would \
            lose data is left out, and printed as a question; --drop and --rename answer it. In a terminal, the command asks \
            whether what FILE lacks is renamed or dropped. FILE can record a rename in \
            a comment: -- renamed: note.body=text

            Where FILE or an earlier migration says -- tool: synced, what a sync engine would not accept is not written.

            EXAMPLE
              app-migrations new create_books
              app-migrations new add_shelves --down
              app-migrations new add_tags --from schema.sql
              app-migrations new rename_body --from schema.sql --rename note.body=text
            """)

    @Argument(help: "What the migration does: letters, digits, _ and -.")
    var name: String

    @OptionGroup var folder: DirectoryOption

    @Option(
        help: ArgumentHelp("Write what leads to the schema that this file creates.", valueName: "file"),
        completion: .file())
    var from: String?

    @OptionGroup var renames: RenameOptions

    @Flag(help: "Create a down migration too.")
    var down = false

    func validate() throws {
        guard from != nil || renames.isEmpty else {
            throw ValidationError("--rename, --rename-table and --drop need --from.")
        }
    }

    func run() throws {
        let name = name.replacingOccurrences(of: " ", with: "_")
        try Self.check(name)
        let generation = try from.map { file in
            try Generation(
                from: file, folder, renames, goingBack: down,
                asking: RenameDialog.isPossible ? RenameDialog(file: file) : nil)
        }
        try generation?.checkIsWritable()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        // Two commands at once would find the same version free.
        try withLock(on: folder.url) {
            let taken = try MigrationFileSet(
                names: FileManager.default.contentsOfDirectory(atPath: folder.url.path), .sqlAndSwift)
            // After all others, which it builds on, whatever the clocks say.
            let last = taken.entries.map(\.parsed.version).max() ?? 0
            guard last < .max - Int64(generation?.files.count ?? 1) else {
                throw Failure(
                    "No version is above \(last)", remedy: "Give the last migration a version that is a date."
                )
            }
            let version = max(Self.version(at: Date()), last + 1)
            guard let generation else {
                let stem = "\(version)_\(name)"
                try write(Self.template(named: name, stem: stem), to: "\(stem).sql")
                if down { try write("-- Reverts \(stem).sql.\n", to: "\(stem).down.sql") }
                return
            }
            for (index, file) in generation.files.enumerated() {
                let stem = "\(version + Int64(index))_\(name)\(file.suffix)"
                try write(generation.text(of: file, named: name + file.suffix), to: "\(stem).sql")
                if down { try write("-- Reverts \(stem).sql.\n\n\(file.downSQL)", to: "\(stem).down.sql") }
            }
        }
        if let generation { print(generation.report(Style())) }
    }

    /// Refuses a name with which the file would be no migration, or another one.
    private static func check(_ name: String) throws {
        let problem: String
        do {
            let parsed = try MigrationFileName("1_\(name).sql")
            guard parsed?.kind != .up || parsed?.name != name else { return }
            problem = "it makes the file a down migration"
        } catch {
            problem = error.diagnostic.problem
        }
        throw Failure(
            "\"\(name)\" cannot be a migration's name: \(problem)",
            remedy: "Use letters, digits, _ and -, and do not end with _. For a down migration, pass --down.")
    }

    /// Runs the body while no other `new` runs in the folder.
    private func withLock(on folder: URL, _ body: () throws -> Void) throws {
        let file: FileHandle
        do {
            file = try FileHandle.opening(folder, O_RDONLY | O_DIRECTORY)
        } catch let error as POSIXError {
            throw Failure(
                at: .file(folder.path), error.reason, remedy: "Make the folder readable and writable.")
        }
        defer { try? file.close() }
        // Some network file systems have no locks: then one command at a time has to do.
        while flock(file.fileDescriptor, LOCK_EX) != 0, errno == EINTR {}
        try body()
    }

    private func write(_ text: String, to fileName: String) throws {
        let file = folder.url.appendingPathComponent(fileName)
        do {
            try Data(text.utf8).write(to: file, options: .withoutOverwriting)
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw error
        } catch {
            try? FileManager.default.removeItem(at: file)
            throw error
        }
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
