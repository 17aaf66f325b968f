import MigrationTools
public import SchemaMigrations

/// Identifies a migration, by its version or by the identifier with which GRDB's migrator has registered it.
///
/// Literals do: `20240601120000000`, `"addShelf"`.
public struct MigrationKey: Hashable, Sendable {
    private enum Value: Hashable {
        case version(SchemaVersion)
        case identifier(String)
    }

    private let value: Value

    /// Identifies a migration of a `SchemaMigrator`.
    ///
    /// - Parameter version: the version.
    public init(_ version: SchemaVersion) { value = .version(version) }

    /// Identifies a migration of a `DatabaseMigrator`.
    ///
    /// - Parameter identifier: the identifier.
    public init(_ identifier: String) { value = .identifier(identifier) }
}

extension MigrationKey: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Identifies a migration of a `SchemaMigrator` by its version.
    public init(integerLiteral version: SchemaVersion) { self.init(version) }

    /// Identifies a migration of a `DatabaseMigrator` by its identifier.
    public init(stringLiteral identifier: String) { self.init(identifier) }
}

extension MigrationKey: CustomStringConvertible {
    /// The version or the identifier.
    public var description: String {
        switch value {
        case .version(let version): "\(version)"
        case .identifier(let identifier): identifier
        }
    }

    /// The key as Swift code.
    var code: String {
        switch value {
        case .version(let version): "\(version)"
        case .identifier(let identifier): identifier.debugDescription
        }
    }
}

extension MigrationRunner {
    /// Returns the key of a version; 0 if no migration has it, as before the first.
    func key(_ version: SchemaVersion) -> MigrationKey {
        title(version).map(key(of:)) ?? MigrationKey(version)
    }

    /// Returns the key of a migration.
    func key(of title: MigrationTitle) -> MigrationKey {
        self is GRDBRunner ? MigrationKey(title.name) : MigrationKey(title.version)
    }

    /// Returns the version of a migration; nil if there is no such migration.
    func version(_ key: MigrationKey) -> SchemaVersion? {
        titles.first { self.key(of: $0) == key }?.version
    }
}
