import AppMigrations
import Foundation
import GRDB
import MigrationDiagnostics
import SchemaMigrations

extension Diagnostic {
    /// Describes an error of any kind.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - remedy: the remedy for an error that has none itself.
    init(_ error: any Error, remedy: String) {
        switch error.systemError ?? error {
        case let error as MigrationError: self = error.diagnostic
        case let error as DatabaseError: self.init(error.problem, remedy: error.remedy ?? remedy)
        case let error as any SystemError: self.init(error.reason, remedy: error.ownRemedy ?? remedy)
        case let error as CocoaError: self.init(error.localizedDescription, remedy: remedy)
        default: self.init("\(error)", remedy: remedy)
        }
    }
}
