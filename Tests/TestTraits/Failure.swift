package import AppMigrations
package import Testing

/// Returns the error of a body that must fail.
package func failure<Value>(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Value
) throws -> MigrationError {
    try #require(throws: MigrationError.self, sourceLocation: sourceLocation) { _ = try body() }
}
