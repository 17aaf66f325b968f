package import SchemaMigrations
package import Testing

/// Returns the error of a body that must fail.
package func failure<Value>(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Value
) throws -> SchemaMigrationError {
    try #require(throws: SchemaMigrationError.self, sourceLocation: sourceLocation) { _ = try body() }
}
