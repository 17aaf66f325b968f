/// A problem that somebody has to act on: where it is, what is wrong, and what to do about it.
///
/// Every error of this package carries one, and only this file turns one into text, so that a message reads
/// the same in an app's log, in a test's failure and on the command line:
///
///     20240601120000000_add_shelves.sql:12: no such table: book. Create the table first.
package struct Diagnostic: Hashable, Sendable {
    /// Where the problem is; nil when the problem names its place itself.
    package var place: Place?

    /// What is wrong: a clause or a sentence, with or without a full stop.
    package var problem: String

    /// What to do about it: one sentence or more.
    package var remedy: String

    package init(at place: Place? = nil, _ problem: String, remedy: String) {
        self.place = place
        self.problem = problem
        self.remedy = remedy
    }

    /// The place and the problem, as a sentence.
    package var message: String {
        [place?.description, problem].compactMap { $0 }.joined(separator: ": ").asSentence
    }
}

extension Diagnostic: CustomStringConvertible {
    /// The message, followed by the remedy.
    package var description: String {
        [message, remedy].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension Diagnostic {
    /// Where a problem is.
    package enum Place: Hashable, Sendable {
        /// A manager, by its name.
        case manager(String)
        /// A file, by its name or its path, and a line of it, from 1.
        case file(String, line: Int? = nil)
        /// A database or a store, by the name that messages use.
        case store(String)
    }
}

extension Diagnostic.Place: CustomStringConvertible {
    /// As in `Library`, `20240601_add_shelves.sql:12` or `library.sqlite`.
    package var description: String {
        switch self {
        case .manager(let name), .store(let name), .file(let name, line: nil): name
        case .file(let name, .some(let line)): "\(name):\(line)"
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
