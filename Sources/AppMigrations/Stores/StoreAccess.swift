import Foundation
import MigrationDiagnostics

/// A way to use a store.
package enum StoreAccess: Sendable {
    case read
    case write

    fileprivate var code: MigrationError.Code {
        switch self {
        case .read: .unreadableStore
        case .write: .unwritableStore
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
            "Nobody knows which steps have run, so nothing was run. Remove the cause, and launch again."
        case .write: "Remove the cause, and launch again: a step that was not recorded runs again."
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
        } catch let error as MigrationError {
            throw error.located(at: .store(name))
        } catch let error as DecodingError {
            throw MigrationError.damagedStore("not a record", underlyingError: error).located(
                at: .store(name))
        } catch let error as LockTimeout {
            throw MigrationError(
                .locked,
                Diagnostic(
                    at: .store(name), "locked by \(error.holder) for more than \(error.limit)",
                    remedy: "Launch again when that process has resumed or exited."))
        } catch  where error is any SystemError || error is CocoaError {
            let obstacle = Obstacle(error)
            let reason = (error as? any SystemError)?.reason ?? "\(error)"
            throw MigrationError(
                obstacle?.code ?? code,
                Diagnostic(
                    at: .store(name), "\(problem): \(reason)\(path.map { " (\($0))" } ?? "")",
                    remedy: obstacle?.remedy ?? remedy),
                underlyingError: error)
        }
    }
}
