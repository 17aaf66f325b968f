import AppMigrations
import Foundation
import MigrationDiagnostics
import MigrationTesting
import MigrationTools
import SchemaMigrations
import TextOutput

/// An error of a command: the cause in one line, the remedy in another.
struct Failure: Error {
    let diagnostic: Diagnostic

    init(_ diagnostic: Diagnostic) {
        self.diagnostic = diagnostic
    }

    init(at place: Diagnostic.Place? = nil, _ problem: String, remedy: String) {
        diagnostic = Diagnostic(at: place, problem, remedy: remedy)
    }

    /// Creates a failure from an error of the libraries, with a remedy in this tool's words.
    ///
    /// It returns nil for the argument parser's own errors.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as MigrationError:
            let error = MigrationError(ofAttaching: error) ?? error
            var diagnostic = error.diagnostic
            // What a manager cannot decide is for the app to say.
            if error.manager == nil { diagnostic.remedy = error.toolRemedy ?? diagnostic.remedy }
            self.init(diagnostic)
        case let error as FixtureError:
            self.init(error.diagnostic)
        case is CancellationError:
            self.init("Cancelled", remedy: "What was committed before stays; nothing is half-done.")
        case let error as POSIXError:
            self.init(error.reason, remedy: error.obstacle?.remedy ?? Self.remedyForFiles)
        case let error as CocoaError:
            self.init(error.cause, remedy: Self.remedyForFiles)
        default:
            return nil
        }
    }

    private static let remedyForFiles = "Check that the file or folder exists, and can be read and written."

    /// Prints the error as a JSON object to standard error.
    func printJSON() {
        struct Output: Encodable {
            let error: String
            let remedy: String
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let output = Output(error: diagnostic.message.inOneLine, remedy: diagnostic.remedy.inOneLine)
        guard let data = try? encoder.encode(output) else { return print() }
        FileHandle.standardError.writeIfPossible(String(decoding: data, as: UTF8.self) + "\n")
    }

    /// Prints both lines to standard error.
    func print() {
        let style = Style(for: .standardError)
        let lines = [style.bad("error:") + " " + diagnostic.message.inOneLine, diagnostic.remedy.inOneLine]
        FileHandle.standardError.writeIfPossible(lines.joined(separator: "\n") + "\n")
    }
}

extension CocoaError {
    /// The file, and the system's reason: Foundation's own text may be no more than a number.
    fileprivate var cause: String {
        let underlying = userInfo[NSUnderlyingErrorKey] as? NSError
        let path = (userInfo[NSFilePathErrorKey] as? String) ?? (userInfo[NSURLErrorKey] as? URL)?.path
        let isClear = !localizedDescription.contains("NSCocoaErrorDomain")
        guard let path else { return isClear ? localizedDescription : "A file cannot be used" }
        if isClear, localizedDescription.contains(path) { return localizedDescription }
        guard let underlying, underlying.domain == NSPOSIXErrorDomain else {
            return isClear ? "\(path): \(localizedDescription)" : "\(path) cannot be used"
        }
        return "\(path): \(String(cString: strerror(Int32(underlying.code))))"
    }
}

extension MigrationError {
    /// The remedy on the command line; nil if the library's own remedy is good enough.
    fileprivate var toolRemedy: String? {
        switch detail {
        case .noMigrations:
            return
                "Pass another folder as --directory, or make a first migration with `app-migrations new <name>`."
        case .unknownMigrations:
            return "Pass the folder of its own migrations as --directory. Nothing was changed."
        case .refusedStatement, .missingParent, .broken, .unknownMeaning, nil:
            if let part = MissingPart.title(in: message) {
                return """
                    If the app adds \(part), let the app do this: what `code.rules` declares stands in for it where nothing is \
                    migrated for good, as in `app-migrations check`. Nothing was left half-done.
                    """
            }
            // A trial that was refused has its own remedy.
            return code == .undecided && underlyingError == nil
                ? "Mark the migrations that it has had with `app-migrations adopt`. Nothing was changed."
                : nil
        }
    }
}
