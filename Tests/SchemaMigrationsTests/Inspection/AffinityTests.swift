import TestTraits
import Testing

@testable import SchemaMigrations

@Suite("The affinity of a column", .timed)
struct AffinityTests {
    @Test(
        "follows from the declared type, in SQLite's order",
        arguments: [
            ("INTEGER", .integer), ("charint", .integer), ("FLOATING POINT", .integer), ("varchar(9)", .text),
            ("CLOB", .text), ("", .blob), ("BLOB", .blob), ("DOUBLE", .real), ("REAL", .real),
            ("DECIMAL(10,5)", .numeric), ("BOOLEAN", .numeric), ("ANY", .numeric),
        ] as [(String, Affinity)])
    func types(type: String, affinity: Affinity) {
        #expect(Affinity(type: type, isStrict: false) == affinity)
    }

    @Test("a column of type ANY converts nothing in a STRICT table")
    func any() {
        #expect(Affinity(type: "any", isStrict: true) == .blob)
    }
}
