import AppMigrations
import Foundation

/// Everything that closures leave outside every database: a file each, and a line in a log each time that one is begun.
struct Effects {
    let folder: String

    /// Does a closure's work.
    func leave(_ context: MigrationContext) throws {
        try write(Self.line(context), to: "effects", O_APPEND)
        try write(Self.contents(of: context.version.description), to: "file-\(context.version)", O_TRUNC)
    }

    /// The log of the second manager, which the template has made.
    static let second = "second"

    /// Does the work of the second manager's closure: a line that no power cut takes once this returns.
    func leaveForSecond(_ context: MigrationContext) throws {
        try write(Self.line(context), to: Self.second, O_APPEND, isSynced: true)
    }

    /// Does one of the many pieces of a deferred closure's work.
    func leave(item: Int) throws {
        try write("\n\(item) 1", to: "items", O_APPEND)
        let name = Deferral.name(ofItem: item)
        try write(Self.contents(of: name), to: "file-\(name)", O_TRUNC)
    }

    /// Notes a change of the app's version.
    func leave(changeFrom from: AppVersion, to: AppVersion) throws {
        try write("\n\(from)-\(to) 1", to: "changes", O_APPEND)
    }

    /// Everything that a version that kept no record has left.
    static let old = "settings"

    /// The contents of a closure's file.
    static func contents(of version: String) -> String {
        String(repeating: "\(version) ", count: 20)
    }

    /// The line of a log that says that a closure was begun.
    ///
    /// The line break comes first: a line that a kill has cut off spoils no other.
    private static func line(_ context: MigrationContext) -> String {
        "\n\(context.version) \(context.attempt)"
    }

    /// Writes by system calls of its own, so that a sweep knows where to cut.
    private func write(_ text: String, to name: String, _ flag: Int32, isSynced: Bool = false) throws {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | flag, 0o644)
        guard file >= 0 else { throw POSIXError.current }
        defer { close(file) }
        let count = text.withCString { Glibc.write(file, $0, strlen($0)) }
        guard count == text.utf8.count, !isSynced || fsync(file) == 0 else { throw POSIXError.current }
    }
}
