package import MigrationDiagnostics

/// An error that stopped a launch or a migration, with what to do about it.
///
/// The ``message`` names the culprit and the cause, the ``remedy`` says what the person who reads it can do.
/// Switch over ``code``; minor versions may add codes.
///
/// ```swift
/// do {
///     try manager.migrate()
/// } catch let error as MigrationError where error.code == .gaveUp {
///     showRecovery(error)
/// }
/// ```
///
/// A step in a database, or a schema migration in a transaction, that failed was rolled back; what was committed before it stays.
public struct MigrationError: Error, Sendable {
    /// The kind of the error.
    public private(set) var code: Code

    /// The place, the problem and the remedy.
    package var diagnostic: Diagnostic

    /// The culprit and the cause, in a sentence.
    public var message: String { diagnostic.message }

    /// The remedy: what the reader can do.
    public package(set) var remedy: String {
        get { diagnostic.remedy }
        set { diagnostic.remedy = newValue }
    }

    /// The name of the manager, if one is concerned.
    public private(set) var manager: String?

    /// The work that is concerned, to be passed to ``MigrationManager/skip(_:)`` or
    /// ``MigrationManager/migrate(through:retrying:)``; nil if the error is about no single piece of work.
    public private(set) var work: MigrationWork?

    /// The version of the work, or another app version that the error is about.
    public private(set) var version: AppVersion?

    /// The version of the schema migration, if one is concerned.
    public package(set) var schemaVersion: Int64?

    /// The versions of the schema migrations that the same call committed before the failure, which stay.
    package var committed: [Int64] = []

    /// The attempt at the step that failed, from 1.
    package private(set) var attempt: Int?

    /// The error that caused this one.
    public package(set) var underlyingError: (any Error)?

    /// The schema migration in which the work failed, by its version or its identifier in GRDB; nil if none is concerned.
    package var migration: String?

    /// The SQL statement, shortened.
    package var statement: String?

    /// SQLite's extended result code.
    package var sqliteCode: Int32?

    /// True if a retry will not help: the step has failed in the same way before, in the same build of the app, or its condition is
    /// wrong.
    package var isRepeated = false

    /// What exactly is wrong, where somebody in this package has an answer of its own to it.
    package var detail: Detail?

    package enum Detail: Sendable {
        /// There are no migrations.
        case noMigrations
        /// None of the migrations applied to the database is known.
        case unknownMigrations
        /// A statement cannot run in a migration.
        case refusedStatement
        /// A migration leaves rows that refer to a table which does not exist.
        case missingParent
        /// A migration leaves something else broken.
        case broken
        /// An adoption was not told which version something means that another library has left in the database.
        case unknownMeaning
    }

    /// The single mistakes, where the error reports several together.
    package private(set) var causes: [MigrationError] = []

    /// - Parameters:
    ///   - problem: what is wrong. The message puts the manager's or the store's name before it.
    ///   - remedy: what to do about it, in a sentence.
    ///   - version: the version of the step, if one is concerned.
    ///   - attempt: the attempt at the step that failed, from 1.
    @inline(never)
    package init(
        _ code: Code, _ problem: String, remedy: String, manager: String? = nil,
        version: AppVersion? = nil, attempt: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.init(
            code, Diagnostic(at: manager.map { .manager($0) }, problem, remedy: remedy), manager: manager,
            version: version, attempt: attempt, underlyingError: underlyingError)
    }

    /// Creates an error about a place, such as a file of SQL.
    @inline(never)
    package init(
        _ code: Code, at place: Diagnostic.Place?, _ problem: String, remedy: String,
        underlyingError: (any Error)? = nil
    ) {
        self.init(code, Diagnostic(at: place, problem, remedy: remedy), underlyingError: underlyingError)
    }

    @inline(never)
    package init(
        _ code: Code, _ diagnostic: Diagnostic, manager: String? = nil, version: AppVersion? = nil,
        attempt: Int? = nil, underlyingError: (any Error)? = nil
    ) {
        self.code = code
        self.diagnostic = diagnostic
        self.manager = manager
        self.version = version
        self.attempt = attempt
        self.underlyingError = underlyingError
    }

    /// Creates the error of a piece of work.
    @inline(never)
    init(
        _ code: Code, _ problem: String, remedy: String, work: MigrationWork, attempt: Int? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.init(
            code, problem, remedy: remedy, manager: work.manager, version: work.id.givenVersion,
            attempt: attempt,
            underlyingError: underlyingError)
        self.work = work
    }

    /// Creates the error that reports all mistakes of a registration together.
    @inline(never)
    init(_ mistakes: [MigrationError], manager: String) {
        self.init(
            .misuse,
            Diagnostic(
                mistakes.map(\.message).joined(separator: "\n"),
                remedy: mistakes.map(\.remedy).joined(separator: "\n")),
            manager: manager)
        causes = mistakes
    }
}

extension MigrationError {
    /// The error, with a place unless it names one.
    package func located(at place: Diagnostic.Place) -> MigrationError {
        guard diagnostic.place == nil else { return self }
        var error = self
        error.diagnostic.place = place
        return error
    }

    /// The error, with what exactly is wrong.
    package func about(_ detail: Detail) -> MigrationError {
        var error = self
        error.detail = detail
        return error
    }

    /// The error of a database, as one of the manager that works in it.
    package func ofManager(_ manager: String, in database: String) -> MigrationError {
        let isNamed = diagnostic.place == .store(database)
        var error = self
        error.code = Obstacle(self)?.code ?? code
        error.manager = manager
        error.diagnostic = Diagnostic(
            at: .manager(manager), isNamed ? message : "\(database): \(message)", remedy: remedy)
        return error
    }

    /// True if a store or a manager has failed, and neither a database nor a migration.
    package var isOfStoreOrManager: Bool {
        switch diagnostic.place {
        case .store, .manager: true
        case .file, nil: manager != nil
        }
    }

    /// The name of the migration's file, or of its type.
    package var file: String? {
        guard case .file(let name, _, _) = diagnostic.place else { return nil }
        return name
    }

    /// The line in the file, from 1.
    package var line: Int? {
        guard case .file(_, let line, _) = diagnostic.place else { return nil }
        return line
    }
}
