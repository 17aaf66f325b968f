import AppMigrations
import ArgumentParser
import Foundation
import GRDB

/// A step as it is written among the arguments: its version, and what it does one after the other.
///
/// At first it writes its version and attempt into the file of effects, and into the database that it is given.
struct LauncherStep: ExpressibleByArgument, Sendable {
    enum Action {
        /// Kills the process, as a crash would.
        case kill
        case checkpoint
        /// Does the portion behind the last checkpoint.
        case portion
        case fail
        /// Cancels the manager's progress, and stops as a step does that looks at its own.
        case cancel
        /// Signals by a file `<name>.reached` that it has come so far, and waits for a file.
        case wait(String)
    }

    struct Failure: Error, CustomStringConvertible {
        var description = "told to fail"
    }

    /// The kind of its registration.
    enum Kind: String {
        case closure
        /// A closure that is given the database.
        case inside = "in"
        /// A migration of the database.
        case move
        /// A closure for a version change.
        case change
        /// A deferred step, which writes 100 rows in the database by calls of a closure.
        case rows
    }

    let version: AppVersion
    let kind: Kind
    let actions: [Action]

    init?(argument: String) {
        let parts = argument.split(separator: ":")
        let words = parts.count == 2 ? parts[1].split(separator: ",") : []
        guard let version = parts.first.flatMap({ AppVersion(String($0)) }) else { return nil }
        self.version = version
        kind = words.first.flatMap { Kind(rawValue: String($0)) } ?? .closure
        let named = words.drop { Kind(rawValue: String($0)) != nil }.map(Action.init)
        actions = named.compactMap { $0 }
        guard actions.count == named.count else { return nil }
    }

    func run(
        in folder: LauncherFolder, _ context: MigrationContext?, _ db: Database?,
        cancelling progress: Progress? = nil
    ) throws {
        let attempt = context.map { " attempt \($0.attempt)" } ?? ""
        try folder.append("\(version)\(attempt)", to: "effects")
        try db?.execute(sql: "INSERT INTO effect(version) VALUES (?)", arguments: [version.description])
        for action in actions {
            switch action {
            case .kill: kill(getpid(), SIGKILL)
            case .checkpoint: try context?.checkpoint()
            case .portion:
                let number = try (context?.lastCheckpoint(as: Int.self) ?? 0) + 1
                try folder.append("portion \(number)", to: "effects")
                try context?.checkpoint(number)
            case .fail: throw Failure()
            case .cancel:
                progress?.cancel()
                throw CancellationError()
            case .wait(let file):
                try folder.append("\(getpid())", to: "\(file).reached")
                try folder.wait(for: file)
            }
        }
    }
}

extension LauncherStep.Action {
    fileprivate init?(_ word: Substring) {
        switch word {
        case "kill": self = .kill
        case "checkpoint": self = .checkpoint
        case "portion": self = .portion
        case "fail": self = .fail
        case "cancel": self = .cancel
        case _ where word.hasPrefix("wait="): self = .wait(String(word.dropFirst(5)))
        default: return nil
        }
    }
}
