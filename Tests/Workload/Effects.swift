import AppMigrations
import Foundation

/// What closures leave outside every database: a file each, and a line in a log each time that one is begun.
struct Effects {
    let folder: String

    /// Does a closure's work.
    func leave(_ context: MigrationContext, inLog log: String = "effects") throws {
        // The line break comes first: a line that a kill has cut off spoils no other.
        try write("\n\(context.version) \(context.attempt)", to: log, O_APPEND)
        guard log == "effects" else { return }
        try write(Self.contents(of: context.version.description), to: "file-\(context.version)", O_TRUNC)
    }

    /// Does one of the many pieces of a deferred closure's work.
    func leave(item: Int) throws {
        try write("\n\(item) 1", to: "items", O_APPEND)
        let name = Deferral.name(ofItem: item)
        try write(Self.contents(of: name), to: "file-\(name)", O_TRUNC)
    }

    /// What the file of a closure holds.
    static func contents(of version: String) -> String {
        String(repeating: "\(version) ", count: 20)
    }

    /// Writes by system calls of its own, so that a sweep knows where to cut.
    private func write(_ text: String, to name: String, _ flag: Int32) throws {
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | flag, 0o644)
        guard file >= 0 else { throw POSIXError.current }
        defer { close(file) }
        let count = text.withCString { Glibc.write(file, $0, strlen($0)) }
        guard count == text.utf8.count else { throw POSIXError.current }
    }
}
