/// A problem that somebody has to act on: where it is, what is wrong, and what to do about it.
///
/// Every error of this package carries one, and only this file turns one into text, so that a message reads
/// the same in an app's log, in a test's failure and on the command line:
///
///     20240601120000000_add_shelves.sql:12: no such table: book. Create the table first.
package struct Diagnostic: Sendable {
    /// Where the problem is; nil when the problem names its place itself.
    package var place: Place?

    /// The problem: a clause or a sentence, with or without a full stop.
    package var problem: String

    /// The remedy: one sentence or more.
    package var remedy: String

    package init(at place: Place? = nil, _ problem: String, remedy: String) {
        self.place = place
        self.problem = problem
        self.remedy = remedy
    }

    /// The place and the problem, as a sentence.
    package var message: String { clause.asSentence }

    /// The place and the problem, as the last clause of another problem.
    package var clause: String {
        [place?.description, problem].compactMap(\.self).joined(separator: ": ")
    }
}

extension Diagnostic: CustomStringConvertible {
    /// The message, followed by the remedy.
    package var description: String {
        [message, remedy].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

// For reports that show the place themselves.
extension Diagnostic {
    /// The problem, as a sentence.
    package var sentence: String { (problem.prefix(1).uppercased() + problem.dropFirst()).asSentence }

    /// The problem, followed by the remedy.
    package var explanation: String { "\(sentence) \(remedy)" }

    /// As compilers print errors, so that editors can go there.
    ///
    ///     Migrations/7_a.sql:2:1: error: is not UTF-8 text. Save it as UTF-8.
    package var compilerError: String { compilerMessage("error") }

    /// As compilers print notes.
    package var compilerNote: String { compilerMessage("note") }

    private func compilerMessage(_ severity: String) -> String {
        let place =
            switch place {
            case .file(let path, let line, let column): "\(path):\(line ?? 1):\(column ?? 1): "
            case .manager(let name), .store(let name): "\(name): "
            case nil: ""
            }
        return "\(place)\(severity): \(problem.asSentence) \(remedy)"
    }
}

extension Diagnostic {
    /// Where a problem is.
    package enum Place: Equatable, Sendable {
        /// A manager, by its name.
        case manager(String)
        /// A file, by its name or its path, and a line and a column of it, from 1.
        case file(String, line: Int? = nil, column: Int? = nil)
        /// A database or a store, by the name that messages use.
        case store(String)
    }
}

extension Diagnostic.Place: CustomStringConvertible {
    /// As in `Library`, `20240601_add_shelves.sql:12` or `library.sqlite`.
    package var description: String {
        switch self {
        case .manager(let name), .store(let name): name
        case .file(let name, let line, let column):
            ([name] + [line, column].compactMap { $0.map(String.init) }).joined(separator: ":")
        }
    }
}

extension String {
    /// The text, with a full stop unless it ends a sentence already.
    package var asSentence: String {
        guard let last, !".!?".contains(last) else { return self }
        return self + "."
    }
}
