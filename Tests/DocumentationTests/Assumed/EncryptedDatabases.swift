// What the snippets of EncryptedDatabases.md assume, beside Assumed.swift. Only compiled, and private to them.

var passphrase: String { "" }

// GRDB's own, when it is made for SQLCipher.
extension Database {
    func usePassphrase(_ passphrase: String) throws {}
}
