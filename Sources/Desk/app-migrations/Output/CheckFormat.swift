import ArgumentParser

/// The formats in which `check` prints its findings.
enum CheckFormat: String, CaseIterable, ExpressibleByArgument {
    /// Lines as compilers print them.
    case text
    /// One JSON object.
    case json
    /// SARIF 2.1.0, which code scanners and editors read.
    case sarif
    /// Workflow commands, which GitHub Actions show at the lines of a pull request.
    case github
}
