/// An error that a test's code throws.
package struct Mishap: Error, CustomStringConvertible {
    package init() {}

    package var description: String { "a mishap" }
}
