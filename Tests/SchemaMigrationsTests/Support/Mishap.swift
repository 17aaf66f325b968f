/// An error that a test's code throws.
struct Mishap: Error, CustomStringConvertible {
    var description: String { "a mishap" }
}
