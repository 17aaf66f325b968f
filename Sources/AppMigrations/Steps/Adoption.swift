public import Foundation

/// Determines the version of an install that has no record.
///
/// Every app decides once who its users are, and passes the answer whenever it creates a manager:
///
/// | the manager is | pass |
/// | --- | --- |
/// | in the app from its first release | ``newApp`` |
/// | added to an app that people have, with a SQLite database | `.databaseHasTables(dbQueue, means: "1.0")`, in SchemaMigrations |
/// | added to an app that people have, with files | ``fileExists(_:means:)`` |
/// | the successor of an MFMigrationManager | ``mfMigrationManager(name:defaults:)`` |
/// | anything else | a closure |
///
/// ```swift
/// let manager = try MigrationManager(
///     name: "Library", adopting: .fileExists(archiveURL, means: "1.0"))
/// ```
///
/// A manager asks while it has no record, at most once in a launch. Return nil if no earlier version left data; throw if
/// you cannot tell: an old install that is taken for a fresh one loses its data.
public struct Adoption {
    let answer: (LaunchRequest) throws -> AdoptionAnswer
    /// The managers whose steps have come to this one.
    let formers: [FormerManager]

    /// Creates an adoption from a closure, which runs where `migrate` is called.
    ///
    /// ```swift
    /// let adopting = Adoption {
    ///     guard let text = UserDefaults.standard.string(forKey: "lastVersion") else { return nil }
    ///     return try AppVersion(parsing: text)
    /// }
    /// ```
    ///
    /// The version is exact: whatever later versions were launched since, the steps above it run. What the closure throws reaches
    /// the caller of `migrate` as a ``MigrationError``: one of its own as it is, an obstacle with its code, such as `deviceLocked`,
    /// and anything else with the code `undecided`.
    ///
    /// - Parameter version: returns the version of the data; nil if no earlier version left any.
    public init(_ version: @escaping () throws -> AppVersion?) {
        self.init { _ in AdoptionAnswer(version: try version()) }
    }

    package init(
        formers: [FormerManager] = [], answer: @escaping (LaunchRequest) throws -> AdoptionAnswer
    ) {
        self.formers = formers
        self.answer = answer
    }

    /// Joins several kinds of evidence.
    ///
    /// An exact version, from a closure or MFMigrationManager, counts before one that means "this version or a later one": the
    /// lowest exact version, or else the highest of the others.
    ///
    /// ```swift
    /// let adopting = Adoption.any(.fileExists(archiveURL, means: "1.0"), .mfMigrationManager())
    /// ```
    ///
    /// - Parameter adoptions: the kinds of evidence; each is asked.
    public static func any(_ adoptions: Adoption...) -> Adoption { any(adoptions) }

    /// Joins a list of kinds of evidence, as `any` does with those that it is given one by one.
    ///
    /// ```swift
    /// let adopting = Adoption.any([archiveURL, url].map { .fileExists($0, means: "1.0") })
    /// ```
    ///
    /// - Parameter adoptions: the kinds of evidence; each is asked. Without any, every install would look fresh: that is the error
    ///   `undecided`.
    public static func any(_ adoptions: [Adoption]) -> Adoption {
        Adoption(formers: adoptions.flatMap(\.formers)) { request in
            guard !adoptions.isEmpty else {
                throw MigrationError(
                    .undecided, "Adoption.any has no evidence to ask for",
                    remedy: "Nothing was run. Pass at least one kind, or .newApp if no one has the app yet.")
            }
            let answers = try adoptions.map { try $0.answer(request) }
            if let exact = answers.filter({ !$0.isBound }).compactMap(\.version).min() {
                return AdoptionAnswer(version: exact)
            }
            let found = answers.filter { $0.version != nil }
            return AdoptionAnswer(
                version: found.compactMap(\.version).max(), isBound: true,
                launched: found.compactMap(\.launched).min())
        }
    }

    /// Takes over steps of another manager, or all of them if a manager gets another name.
    ///
    /// Where the other manager has begun below a version, its steps below that version count for this one, and those that have
    /// run do not run again. Steps from that version on are this manager's own. Elsewhere it is like ``newApp``. Pass it for
    /// good: people update from any version. If a manager has several former names, join them with `any`.
    ///
    /// A manager that has a record is not asked. So when steps come to one that has shipped, or it takes its first name
    /// back, give it a new name, and pass all former ones; otherwise these steps run again. Of managers that you merge,
    /// no two may have steps of one version in one place.
    ///
    /// Split it off in a version of which no step has shipped. In `2.0-beta.2`, the steps for 2.0 would run again for those
    /// who have had them in `2.0-beta.1`.
    ///
    /// ```swift
    /// let photos = try MigrationManager(
    ///     name: "Photos", adopting: .splitFrom("Library", before: "2.0"), store: store)
    /// ```
    ///
    /// - Parameters:
    ///   - manager: the name of the other manager, in the same store.
    ///   - version: the first app version that has this manager.
    public static func splitFrom(_ manager: String, before version: AppVersion) -> Adoption {
        Adoption(formers: [FormerManager(name: manager, end: version)]) { _ in
            AdoptionAnswer(version: nil)
        }
    }

    /// No one had the app before it had this manager: an install without a record is fresh.
    ///
    /// - Warning: In an app that people already have, this takes their data for that of a new install, and its steps
    ///   never run. Tables that nothing explains are an error, `undecided`; in a store's own database that has a ledger, every
    ///   step runs.
    public static var newApp: Adoption { Adoption { nil } }

    /// Adopts an install at a version if a file exists.
    ///
    /// Choose a file that every earlier install has, and that only versions without this manager created. A file that
    /// newer versions create too makes a fresh install look like an old one to a manager that is asked after that.
    ///
    /// - Parameters:
    ///   - url: the file or folder.
    ///   - version: the version that its existence means.
    public static func fileExists(_ url: URL, means version: AppVersion) -> Adoption {
        Adoption { _ in
            let file = DurableFile(at: url)
            do {
                return AdoptionAnswer(version: try file.existsInItsFolder() ? version : nil, isBound: true)
            } catch let error as POSIXError {
                let obstacle = Obstacle(error)
                throw MigrationError(
                    obstacle?.code ?? .undecided, "Cannot tell whether \(url.path) exists: \(error.reason).",
                    remedy: obstacle?.remedy
                        ?? "Nothing was run. Make its folder readable, and launch again.",
                    underlyingError: error)
            }
        }
    }

    /// Adopts the version that MFMigrationManager left in the user defaults, so that an app can change libraries
    /// without running anything twice.
    ///
    /// It is that of the last migration, or of the app when it first had the manager, which the releases 1.0.0 and 1.0.1 keep
    /// under a key of its own.
    ///
    /// - Parameters:
    ///   - name: the name of the MFMigrationManager; nil for the one without a name.
    ///   - defaults: the defaults in which it kept its versions.
    public static func mfMigrationManager(name: String? = nil, defaults: UserDefaults = .standard) -> Adoption
    {
        Adoption {
            var latest: AppVersion?
            for kind in ["Last", "Initial"] {
                let key = "MFMigrationManager\(kind)VersionKey" + (name.map { "-\($0)" } ?? "")
                guard let value = defaults.object(forKey: key) else { continue }
                guard let text = value as? String, let version = AppVersion(text) else {
                    // Of the app's versions, that library has checked those of migrations alone.
                    if latest != nil { continue }
                    throw MigrationError(
                        .undecided, "The user default \(key) holds \(value), which is not an app version.",
                        remedy: "Nothing was run. Fix the default, or pass an Adoption of your own.")
                }
                latest = latest.map { max($0, version) } ?? version
            }
            return latest
        }
    }
}

/// The answer of an app about an install without a record.
package struct AdoptionAnswer: Sendable {
    /// Nil if no earlier version left data.
    package let version: AppVersion?
    /// True if the data is at the version or a later one.
    package let isBound: Bool
    /// The earliest version that was launched where the evidence is, before this build, or that an answer has named there; nil if
    /// unknown.
    let launched: AppVersion?

    package init(version: AppVersion?, isBound: Bool = false, launched: AppVersion? = nil) {
        self.version = version
        self.isBound = isBound
        self.launched = launched
    }
}
