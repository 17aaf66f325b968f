package import GRDB
import MigrationDiagnostics
import SchemaMigrations

/// The encryption of database files, which SQLCipher has, and SQLite alone does not.
package enum Encryption {
    /// Returns true if the SQLite that GRDB was built with can encrypt.
    package static func isAvailable() throws -> Bool {
        try DatabaseQueue().read { try String.fetchOne($0, sql: "PRAGMA cipher_version") != nil }
    }

    /// Returns the configuration of connections to a database with a passphrase.
    ///
    /// It uses a pragma, because GRDB has a method only if it was made for SQLCipher. SQLite without encryption
    /// ignores unknown pragmas.
    package static func configuration(passphrase: String) -> Configuration {
        let literal = passphrase.quotedInSQL(by: "'")
        var configuration = SQLiteFile.waiting
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA key = \(literal)") }
        return configuration
    }
}
