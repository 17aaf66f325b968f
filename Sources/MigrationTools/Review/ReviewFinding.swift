/// Something that a review found.
package struct ReviewFinding: Sendable, Hashable {
    /// The file's name.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// The rule that the file breaks.
    package let rule: ReviewRule
    /// What is wrong, and what to do.
    package let reason: String
}
