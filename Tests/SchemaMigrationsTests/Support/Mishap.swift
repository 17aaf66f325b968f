/// An error that a test's own code throws.
struct Mishap: Error, CustomStringConvertible {
    var description: String { "a mishap" }
}
