import Foundation

/// Why migrations cannot be embedded: everything that is wrong, at once.
package struct EmbeddingErrors: Error {
    /// One thing that is wrong with a file.
    package struct One: CustomStringConvertible {
        let file: URL
        let line: Int
        let column: Int
        let message: String

        init(_ file: URL, line: Int = 1, column: Int = 1, _ message: String) {
            self.file = file
            self.line = line
            self.column = column
            self.message = message
        }

        /// As compilers print errors.
        package var description: String { "\(file.path):\(line):\(column): error: \(message)" }
    }

    package let errors: [One]
}
