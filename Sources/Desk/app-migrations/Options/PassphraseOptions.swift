import ArgumentParser
import Foundation
import GRDB
import MigrationTools
import SchemaMigrations

/// The options for an encrypted database.
///
/// None takes the passphrase itself: other users of a computer can see the arguments of a process.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The file with the passphrase of an encrypted database.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Flag(help: "Ask for the passphrase of an encrypted database.")
    var askPassphrase = false

    func validate() throws {
        guard passphraseFile == nil || !askPassphrase else {
            throw ValidationError("Pass either --passphrase-file or --ask-passphrase.")
        }
    }

    /// Returns the database file at a path, with the passphrase of the options.
    ///
    /// - Parameter standIns: what stands in for the app's functions and collations; none of a database that is migrated.
    func file(_ path: String, with standIns: StandIns = StandIns()) throws -> SQLiteFile {
        let configuration = try configuration(path) ?? SQLiteFile.waiting
        return SQLiteFile(path: path, configuration: standIns.added(to: configuration))
    }

    private func configuration(_ database: String) throws -> Configuration? {
        guard passphraseFile != nil || askPassphrase else { return nil }
        guard try Encryption.isAvailable() else {
            throw Failure(
                "The SQLite of this app-migrations cannot read encrypted databases",
                remedy: "Build app-migrations with a GRDB that is made for SQLCipher.")
        }
        let passphrase = try passphraseFile.map(Self.read) ?? Self.ask(database)
        guard !passphrase.isEmpty, !passphrase.utf8.contains(0) else {
            throw Failure(
                "The passphrase \(passphrase.isEmpty ? "is empty" : "contains a null character")",
                remedy: "Pass the app's passphrase as text. Nothing was changed.")
        }
        return Encryption.configuration(passphrase: passphrase)
    }

    /// Reads the passphrase from a file, which may also be a pipe, without the line end after it.
    private static func read(_ path: String) throws -> String {
        guard ![.missing, .folder].contains(FileKind(path)),
            let file = FileHandle(forReadingAtPath: path),
            var text = String(bytes: try file.readToEnd() ?? Data(), encoding: .utf8)
        else {
            throw Failure(
                "The file \(path) holds no passphrase",
                remedy: "Pass a text file in UTF-8 that holds nothing else as --passphrase-file.")
        }
        if let end = text.last, ["\n", "\r\n"].contains(end) { text.removeLast() }
        return text
    }

    /// Asks for the passphrase on the terminal, which does not show it.
    private static func ask(_ database: String) throws -> String {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw Failure(
                "There is no terminal on which to ask for the passphrase",
                remedy: "Pass a file with the passphrase as --passphrase-file.")
        }
        close(terminal)
        let answer = getpass("Passphrase of \(database): ")
        return answer.flatMap { String(validatingCString: $0) } ?? ""
    }
}
