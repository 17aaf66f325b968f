package import MigrationDiagnostics

/// The reasons why migrations cannot be embedded, all at once.
package struct EmbeddingErrors: Error {
    package let diagnostics: [Diagnostic]
}
