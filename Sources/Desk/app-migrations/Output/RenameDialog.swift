import Foundation
import MigrationTools
import TextOutput

/// A dialog in a terminal about tables and columns that a schema lacks: they may be renamed, or no longer wanted.
struct RenameDialog {
    /// The name of the schema's file.
    let file: String
    private let style = Style()

    /// True if somebody can read the questions and answer them.
    static var isPossible: Bool {
        FileHandle.standardInput.isTerminal && FileHandle.standardOutput.isTerminal
    }

    /// Adds the answers to what the options say.
    ///
    /// - Parameter questions: returns the questions that are left with some answers.
    func complete(
        _ options: RenameOptions, questions: (RenameOptions) throws -> [SchemaQuestion]
    ) throws -> RenameOptions {
        var options = options
        var kept: Set<String> = []
        // Each answer may answer other questions, or bring new ones.
        while let missing = try questions(options).compactMap(\.missing).first(where: {
            !kept.contains($0.path)
        }) {
            switch ask(about: missing) {
            case .rename(let name) where missing.isTable: options.tables.append("\(missing.path)=\(name)")
            case .rename(let name): options.columns.append("\(missing.path)=\(name)")
            case .drop: options.drops.append(missing.path)
            case .keep: kept.insert(missing.path)
            }
        }
        return options
    }

    private enum Answer {
        case rename(String)
        case drop
        case keep
    }

    private func ask(about missing: SchemaQuestion.Missing) -> Answer {
        let kind = missing.isTable ? "Table" : "Column"
        print(style.heading("\(kind) \(missing.path.quoted) is not in \(file):"))
        for (index, name) in missing.newNames.enumerated() {
            print("  \(index + 1)  it is \(name.quoted) now")
        }
        print("  d  drop it with its \(missing.isTable ? "rows" : "values")")
        print("  k  keep it for now")
        while true {
            print("> ", terminator: "")
            fflush(nil)
            switch readLine()?.trimmingCharacters(in: .whitespaces) {
            case "d": return .drop
            case "k", nil: return .keep
            case let text?:
                if let number = Int(text), missing.newNames.indices.contains(number - 1) {
                    return .rename(missing.newNames[number - 1])
                }
            }
        }
    }
}
