import AppMigrations
import DatabaseBatches
import Foundation
import GRDB
import SchemaMigrations

// What the snippets of the documentation take for granted: the app that they are parts of. Only compiled.

// MARK: Where things are

var folder: URL { fatalError("only compiled") }
var url: URL { fatalError("only compiled") }
var oldURL: URL { fatalError("only compiled") }

extension Bundle {
    /// As the package manager makes it for a target with resources.
    static var module: Bundle { .main }
}

// MARK: What other snippets have made

var version: AppVersion { "2.0" }
var store: MigrationStore { fatalError("only compiled") }
var dbQueue: DatabaseQueue { fatalError("only compiled") }
var schema: SchemaMigrator { fatalError("only compiled") }
var manager: MigrationManager { fatalError("only compiled") }

/// The arguments of the closure of a deferred step.
var db: Database { fatalError("only compiled") }
var rows: DeferredRows { fatalError("only compiled") }

/// As the build plugin makes it.
enum Migrations {
    static let all: [any SchemaMigration] = []
}

// MARK: What only Apple's systems have

#if !canImport(Darwin)
    extension ProcessInfo {
        var isLowPowerModeEnabled: Bool { false }
    }
#endif

/// As in AppMigrations, which has it for iOS, tvOS and visionOS.
enum DeferredBackgroundTask {
    static func register(
        _ identifier: String, makeManager: @escaping @MainActor () throws -> MigrationManager
    ) {}
    static func schedule(_ identifier: String) throws {}
}

// MARK: The app's own code

func moveArchive() throws {}
func moveCovers(in folder: URL) throws {}
func resumeMove(attempt: Int) throws {}
func showNews() {}
func showNews(since version: AppVersion) {}
func showWelcome() {}
func showRecovery(_ error: MigrationError) {}
func showAlert(_ text: String, _ advice: RecoveryAdvice) {}
func removeHalfImportedFiles() {}
func importFiles(observing progress: Progress? = nil) throws {}
func writeDefaults() throws {}
func emptyKeychain() throws {}
func importBookmarks() throws {}
var archiveURL: URL { folder }

// Not in the article that uses it: DocC reads an attribute at the start of a line as a directive.
@MainActor
final class AppSettings {
    var theme = ""
}

struct Analytics {
    func send(_ event: some Encodable) {}
}
let analytics = Analytics()

/// As in the module `os`, whose messages are interpolated where they are logged.
struct Logger: Sendable {
    init(subsystem: String = "", category: String = "") {}
    func info(_ message: OSLogMessage) {}
    func error(_ message: OSLogMessage) {}
}

enum OSLogPrivacy { case auto, `public`, `private` }

struct OSLogMessage: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        init(literalCapacity: Int, interpolationCount: Int) {}
        mutating func appendLiteral(_ literal: String) {}
        mutating func appendInterpolation(_ text: String, privacy: OSLogPrivacy = .auto) {}
        mutating func appendInterpolation<Value: CustomStringConvertible>(
            _ value: Value, privacy: OSLogPrivacy = .auto
        ) {}
        mutating func appendInterpolation(_ value: Int, privacy: OSLogPrivacy = .auto) {}
    }

    init(stringLiteral: String) {}
    init(stringInterpolation: StringInterpolation) {}
}
let logger = Logger()

struct Flags {
    let hasNewSearch: Bool
}
let flags = Flags(hasNewSearch: false)

func imageFiles() throws -> [URL] { [] }
func hasThumbnail(_ file: URL) -> Bool { false }
func makeThumbnail(of file: URL) async throws {}
func makeThumbnail(of file: URL) throws {}
func importPage(_ page: Int, into db: Database) throws -> [String] { [] }
func makeManager() throws -> MigrationManager { manager }
func buildIndex() throws {}
func scheduleNextRun() {}
