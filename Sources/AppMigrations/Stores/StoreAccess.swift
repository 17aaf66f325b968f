import Foundation
import MigrationDiagnostics

/// A way to use a store.
package enum StoreAccess: Sendable {
    case read
    case write

    fileprivate var code: MigrationError.Code {
        switch self {
        case .read: .unreadableStore
        case .write: .unwritable
        }
    }

    fileprivate var problem: String {
        switch self {
        case .read: "cannot be read"
        case .write: "cannot be written"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .read:
            "No step runs while it cannot be read, because it says which steps have run. Make it readable, then launch again."
        case .write: "Make it writable, then launch again. A step that was not recorded runs again."
        }
    }

    /// Reads or writes a store: what goes wrong becomes a ``MigrationError`` that names the store.
    ///
    /// - Parameters:
    ///   - name: the store's name.
    ///   - path: the file in question, if the name does not tell it.
    package func of<Result>(_ name: String, at path: String? = nil, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch {
            throw failure(error, of: name, at: path)
        }
    }

    /// Returns an error as one that names the store.
    private func failure(_ error: any Error, of name: String, at path: String?) -> any Error {
        switch error {
        case let error as MigrationError:
            return error.located(at: .store(name))
        case let error as LockTimeout:
            return MigrationError(
                .locked,
                Diagnostic(
                    at: .store(name), "locked by \(error.holder) for more than \(error.limit)",
                    remedy: "Launch again when that process has resumed or exited."))
        case _ where error.systemError != nil, is CocoaError:
            let obstacle = Obstacle(error)
            let reason = error.systemError?.reason ?? "\(error)"
            return MigrationError(
                obstacle?.code ?? code,
                Diagnostic(
                    at: .store(name), "\(problem): \(reason)\(path.map { " (\($0))" } ?? "")",
                    remedy: error.systemError?.ownRemedy ?? obstacle?.remedy ?? remedy),
                underlyingError: error)
        default:
            return error
        }
    }
}
