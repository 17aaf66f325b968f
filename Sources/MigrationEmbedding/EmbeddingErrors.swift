package import MigrationDiagnostics

/// All reasons why migrations cannot be embedded.
package struct EmbeddingErrors: Error {
    package let diagnostics: [Diagnostic]
}
