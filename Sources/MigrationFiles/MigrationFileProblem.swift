/// What is wrong with the files of a folder of migrations, judged by their names.
package struct MigrationFileProblem: Error, Hashable, Sendable {
    /// What went wrong, as a kind.
    package enum Kind: Hashable, Sendable {
        /// A file is meant to be a migration, and its name is malformed.
        case malformedName
        /// A file takes back a migration that is not there.
        case lonelyDown
        /// Two files have one version.
        case doubleVersion
    }

    /// What went wrong, as a kind.
    package let kind: Kind
    /// The name of the file to mend.
    package let fileName: String
    /// What is wrong, without the file's name and a full stop.
    package let problem: String
    /// What to do about it, in a sentence.
    package let remedy: String

    init(_ kind: Kind, _ fileName: String, _ problem: String, remedy: String) {
        self.kind = kind
        self.fileName = fileName
        self.problem = problem
        self.remedy = remedy
    }
}
