import Foundation

/// The arguments of the process, as the system passes them.
enum Arguments {
    /// Checks that every argument is a text.
    ///
    /// Swift replaces what is not, so that a path would become that of another file.
    static func check() throws {
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil
            else {
                continue
            }
            throw Failure(
                "Argument \(index) is not UTF-8: \(String(cString: argument))",
                remedy: "Rename the file, or pass a path in UTF-8. Nothing was changed.")
        }
    }
}
