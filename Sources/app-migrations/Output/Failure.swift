import AppMigrations
import Foundation
import MigrationTesting
import SchemaMigrations

/// Why a command failed: one line of cause, and one of remedy.
struct Failure: Error {
    let message: String
    let remedy: String

    init(_ message: String, remedy: String) {
        self.message = message
        self.remedy = remedy
    }

    /// An error of the libraries, with what to do about it in the words of this tool; nil for the argument
    /// parser's own.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as SchemaMigrationError:
            self.init(error.message, remedy: Self.remedy(for: error))
        case let error as MigrationError: self.init(error.message, remedy: error.remedy)
        case let error as FixtureError: self.init(error.message, remedy: error.remedy)
        case is CancellationError:
            self.init("Cancelled.", remedy: "What was committed before stays; nothing is half-done.")
        case let error as CocoaError:
            self.init(
                error.localizedDescription, remedy: "See that the file or folder can be read and written.")
        default: return nil
        }
    }

    private static func remedy(for error: SchemaMigrationError) -> String {
        switch error.code {
        case .unmanagedDatabase where error.remedy.contains("Pass adopting:"):
            "Mark what it has had by `app-migrations adopt`. Nothing was changed."
        case .differentSet: "Pass the folder of its own migrations as --directory. Nothing was changed."
        case .noMigrations:
            "Pass another folder as --directory, or make a first migration by `app-migrations new <name>`."
        case .invalidSnapshot: "Write it anew by `app-migrations snapshot write`."
        default: error.remedy
        }
    }

    /// Prints both lines to standard error.
    func print() {
        let style = Style(for: .standardError)
        let lines = [style.bad("error:") + " " + message.inOneLine, remedy.inOneLine].filter { !$0.isEmpty }
        FileHandle.standardError.write(Data((lines.joined(separator: "\n") + "\n").utf8))
    }
}

extension String {
    fileprivate var inOneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
