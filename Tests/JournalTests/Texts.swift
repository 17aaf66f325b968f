import Foundation

/// Reads a file of the package.
func text(of path: String) throws -> String {
    try String(contentsOf: packageRoot.appendingPathComponent(path), encoding: .utf8)
}

extension String {
    /// The contents of the code blocks of a Markdown text that are in a language, or in none.
    func blocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var code: (language: Substring, lines: [Substring])?
        for line in split(separator: "\n", omittingEmptySubsequences: false) {
            if let begun = code {
                guard line == "```" else {
                    code?.lines.append(line)
                    continue
                }
                if begun.language == language { blocks.append(begun.lines.map { "\($0)\n" }.joined()) }
                code = nil
            } else if line.hasPrefix("```") {
                code = (line.dropFirst(3), [])
            }
        }
        return blocks
    }
}
