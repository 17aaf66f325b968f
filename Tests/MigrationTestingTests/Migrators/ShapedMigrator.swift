import Foundation
import GRDB
import MigrationTesting

/// A migrator of the shape of a real app's, and what is known about it.
struct ShapedMigrator: CustomStringConvertible, Sendable {
    let description: String
    let migrator: DatabaseMigrator
    /// How the app opens its database.
    var configuration = Configuration()
    /// The migrations that an export leaves in Swift, with the beginning of the reason.
    let inSwift: [String: String]
    /// The identifiers of migrations that shipped, and were taken out of the migrator.
    var removed: Set<String> = []
    /// The migrations that the review does not accept, with the rule.
    let findings: [String]
    /// The tables whose rows migrations add or remove on purpose.
    let rowCounts: [RowCounts.Change]
    /// What is wrong with them, as the matrix says it.
    var problems: [String] = []

    static let all = [chat, vault, targets, reminders]
}

extension DatabaseMigrator {
    /// Registers migrations that each run SQL.
    mutating func register(_ prefix: String, _ statements: [String]) {
        for (number, sql) in statements.enumerated() {
            registerMigration("\(prefix)\(number + 1)") { try $0.execute(sql: sql) }
        }
    }
}
