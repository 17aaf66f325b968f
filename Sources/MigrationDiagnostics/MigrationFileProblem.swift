/// A problem with the files of a folder of migrations, judged by their names.
package struct MigrationFileProblem: Error, Sendable {
    /// The kind of a problem.
    package enum Kind: Hashable, Sendable {
        /// A file is meant to be a migration, and its name is malformed.
        case malformedName
        /// A down migration belongs to no migration.
        case lonelyDown
        /// Two files have one version.
        case doubleVersion
    }

    /// The kind of the problem.
    package let kind: Kind
    /// The name of the file to fix.
    package let fileName: String
    /// The file, the problem and the remedy.
    package let diagnostic: Diagnostic

    init(_ kind: Kind, _ fileName: String, _ problem: String, remedy: String) {
        self.kind = kind
        self.fileName = fileName
        diagnostic = Diagnostic(at: .file(fileName), problem, remedy: remedy)
    }
}
