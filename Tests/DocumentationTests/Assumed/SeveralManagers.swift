// What the snippets of SeveralManagers.md assume, beside Assumed.swift. Only compiled, and private to them.

enum Settings { static func register(_ manager: MigrationManager) {} }
enum Photos { static func register(_ manager: MigrationManager) {} }
