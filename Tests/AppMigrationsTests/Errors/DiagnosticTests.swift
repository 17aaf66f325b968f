import MigrationDiagnostics
import TestTraits
import Testing

@Suite("A diagnostic", .timed)
struct DiagnosticTests {
    @Test(
        "starts with its place, followed by the problem and the remedy",
        arguments: [
            (nil, "There is no migration. Write one."),
            (.manager("Library"), "Library: There is no migration. Write one."),
            (.store("library.sqlite"), "library.sqlite: There is no migration. Write one."),
            (.file("1_a.sql"), "1_a.sql: There is no migration. Write one."),
            (.file("1_a.sql", line: 7), "1_a.sql:7: There is no migration. Write one."),
            (.file("1_a.sql", line: 7, column: 3), "1_a.sql:7:3: There is no migration. Write one."),
        ] as [(Diagnostic.Place?, String)])
    func description(place: Diagnostic.Place?, expected: String) {
        let diagnostic = Diagnostic(at: place, "There is no migration", remedy: "Write one.")
        #expect(diagnostic.description == expected)
    }

    @Test(
        "ends its problem with exactly one punctuation mark",
        arguments: [("no such table", "no such table."), ("Why?", "Why?"), ("Done.", "Done."), ("", "")])
    func sentence(problem: String, expected: String) {
        #expect(Diagnostic(problem, remedy: "Fix it.").message == expected)
    }

    @Test("an error without a remedy is only its message")
    func noRemedy() {
        #expect(Diagnostic("no such table", remedy: "").description == "no such table.")
    }

    @Test("can be quoted without its remedy or without its place")
    func parts() {
        let diagnostic = Diagnostic(
            at: .file("1_a.sql", line: 7), "is empty", remedy: "Write a comment into it.")
        #expect(diagnostic.clause == "1_a.sql:7: is empty")
        #expect(diagnostic.sentence == "Is empty.")
        #expect(diagnostic.explanation == "Is empty. Write a comment into it.")
    }

    @Test(
        "has a form that compilers use, with line and column",
        arguments: [
            (.file("a/1_a.sql", line: 7, column: 3), "a/1_a.sql:7:3: error: is empty. Write into it."),
            (.file("a/1_a.sql"), "a/1_a.sql:1:1: error: is empty. Write into it."),
            (.store("app.sqlite"), "app.sqlite: error: is empty. Write into it."),
            (nil, "error: is empty. Write into it."),
        ] as [(Diagnostic.Place?, String)])
    func compilerError(place: Diagnostic.Place?, expected: String) {
        #expect(Diagnostic(at: place, "is empty", remedy: "Write into it.").compilerError == expected)
    }
}
