import AppMigrations
import Foundation
import TestSupport
import Testing

@Suite("A manager's name", .timed)
struct ManagerNameTests {
    /// Equal for Swift, and different bytes.
    private let spellings = ["caf\u{e9}", "cafe\u{301}"]

    @Test("is compared by its bytes: two spellings are two managers", arguments: [true, false])
    func spellingsDiffer(inFile: Bool) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("migrations.json")
        func store() throws -> MigrationStore { try inFile ? MigrationStore.jsonFile(at: url) : memory }
        let memory = MigrationStore.inMemory()
        try launch("1.0", name: spellings[0], store: store())
        let log = Log()
        #expect(
            try launch("2.0", steps: ["2.0"], name: spellings[0], store: store(), log: log).completed.versions
                == [
                    "2.0"
                ])
        let other = try launch("2.0", steps: ["2.0"], name: spellings[1], store: store(), log: log)
        #expect(other.launch == .adoption(from: "1.0"))
        #expect(log.lines == ["2.0", "2.0"])
        for spelling in spellings {
            #expect(try launch("2.0", steps: ["2.0"], name: spelling, store: store()).launch == .relaunch)
        }
        guard inFile else { return }
        #expect(try MigrationStore.jsonFile(at: url).history(spellings[1]).count == 1)
        let names = try JSONStore(at: url).managerNames().map { Array($0.utf8) }
        #expect(names.sorted { $0.count < $1.count } == spellings.map { Array($0.utf8) })
        #expect(try String(contentsOf: url, encoding: .utf8).contains("\"\(spellings[0])\""), "readable")
    }

    @Test("locks apart from another spelling")
    func locks() throws {
        let store = MigrationStore.inMemory()
        guard case .acquired = try store.lock(spellings[0]), case .acquired = try store.lock(spellings[1])
        else {
            Issue.record("Two names are two locks.")
            return
        }
    }

    @Test("tells names with a percent sign from escaped ones")
    func percentSigns() throws {
        let folder = try TemporaryFolder()
        let file = try JSONStore(at: folder.file("migrations.json"))
        let names = ["100%", "100%25", "cafe%cc%81", spellings[1]]
        for name in names { try launch("1.0", name: name, store: MigrationStore(file)) }
        #expect(try Set(file.managerNames().map { Array($0.utf8) }) == Set(names.map { Array($0.utf8) }))
    }

    @Test(
        "may neither be empty nor have a NUL",
        arguments: [("", "A manager's name is empty"), ("A\0B", "A manager's name has a NUL in it")])
    func refused(name: String, problem: String) throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(name: name, currentVersion: "1.0", adopting: .newApp, store: .inMemory())
        }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                \(problem). Name it after its subsystem, and never change the name once an app has shipped.
                """)
    }
}
