import AppMigrations
import Foundation
import TestTraits
import Testing

@Suite("What the readers of an error get", .timed)
struct MigrationErrorReadersTests {
    private let error = MigrationError(
        .diskFull, "step 1.2 failed: no space left for /private/secret.txt", remedy: "Free some space.",
        manager: "Library", version: "1.2", attempt: 2, underlyingError: POSIXError(.ENOSPC))

    @Test("says to the person what happened and what to do, and nothing else")
    func person() {
        #expect(error.localizedDescription == "The data could not be updated because the disk is full.")
        #expect(error.recoverySuggestion == "Free some space, and try again.")
        #expect(error.advice == .freeSpace)
        #expect(!"\(error.errorUserInfo)".contains("secret"))
    }

    @Test("says to the developer everything")
    func developer() {
        #expect(
            error.debugDescription.hasPrefix(
                """
                diskFull (AppMigrations.MigrationError 41): Library: step 1.2 failed: no space left for \
                /private/secret.txt. Free some space.
                Caused by:
                """))
    }

    @Test("says to a crash reporter its code, and the codes behind it")
    func crashReporter() throws {
        let report = error as NSError
        #expect(report.domain == "AppMigrations.MigrationError")
        #expect(report.code == 41)
        #expect(error.facts.causes.map(\.domain) == ["NSPOSIXErrorDomain"])
        #expect(error.facts.causes.map(\.number) == [28])
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(error.summary), as: UTF8.self) == """
                {"advice":"freeSpace","attempt":2,"causes":[{"domain":"NSPOSIXErrorDomain","number":28}],\
                "code":"diskFull","domain":"AppMigrations.MigrationError","number":41,"version":"1.2"}
                """)
    }

    @Test("names a private type in the same way in each launch")
    func privateType() {
        let error = MigrationError(.stepFailed, "", remedy: "", underlyingError: PrivateError())
        #expect(error.facts.causes.map(\.domain) == ["AppMigrationsTests.PrivateError"])
    }

    @Test("is grouped by the step, and tells a crash reporter what is not private")
    func group() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", name: "geheim", store: store)
        for (version, code) in [("2.0", 113_563_010), ("2.0-1", 793_449_010)] as [(AppVersion, Int)] {
            let manager = try MigrationManager(
                name: "geheim", currentVersion: "2.0", adopting: .newApp, store: store)
            manager.whenMigratingToVersion(version) {
                throw MigrationError(
                    .unwritable, "geheim", remedy: "geheim", underlyingError: POSIXError(.EIO))
            }
            let error = try #require(throws: MigrationError.self) { try manager.migrate() }
            let report = error as NSError
            #expect(report.domain == "AppMigrations.MigrationError")
            #expect(report.code == code)
            let facts = report.userInfo.filter { !$0.key.hasPrefix("NS") }.mapValues { "\($0)" }
            #expect(
                facts == [
                    "code": "stepFailed", "advice": "retry", "version": "\(version)", "kind": "step",
                    "attempt": "1",
                    "cause": "AppMigrations.MigrationError 43, NSPOSIXErrorDomain 5",
                ])
            #expect(!"\(report.userInfo)".contains("geheim"))
            #expect(error.facts.domain == "AppMigrations.MigrationError")
            #expect(error.facts.kind == "step")
        }
    }

    @Test("has a number for each code, which never changes")
    func numbers() {
        let numbers: [MigrationError.Code: Int] = [
            .misuse: 1, .invalidMigration: 2, .stepFailed: 10, .gaveUp: 11, .undecided: 20, .tooOld: 21,
            .newerThanThisProcess: 22, .notYetMigrated: 23, .differentSchema: 24, .twoPlaces: 25,
            .unreadableStore: 30, .damagedStore: 31, .databaseFailed: 32, .damagedDatabase: 33,
            .deviceLocked: 40, .diskFull: 41, .locked: 42, .unwritable: 43, .postponed: 44, .suspended: 45,
        ]
        for (code, number) in numbers {
            #expect(code.number == number)
            let text = MigrationError(code, "", remedy: "").localizedDescription
            #expect(text.hasSuffix("."), "\(code)")
            #expect(!text.contains("error."), "\(code)")
        }
    }

    @Test("has a sentence for each advice, and for what is being done")
    func sentences() {
        for advice in RecoveryAdvice.allCases { #expect(advice.localizedDescription.hasSuffix(".")) }
        #expect(PersonText.english.count == 27)
        #expect(PersonText.text("progress.step", 3, 12, subject: "Library") == "Updating Library: 3 of 12")
        #expect(PersonText.text("progress.rows", 1200, 30_000).contains("30"))
    }

    @Test("the report of a launch is summarized by versions, counts and milliseconds")
    func summary() throws {
        let store = MigrationStore.inMemory()
        try launch("1.0", store: store)
        var texts: [String?] = []
        let report = try launch(
            "2.0", steps: ["1.1", "2.0"], store: store,
            options: MigrationOptions(onEvent: { texts.append($0.localizedDescription) }))
        let summary = report.facts
        #expect(summary.launch == "upgrade")
        #expect(summary.from == "1.0")
        #expect(summary.to == "2.0")
        #expect(summary.steps == 2)
        #expect(summary.schemaMigrations + summary.deferred + summary.warnings == 0)
        #expect(summary.databaseSize == nil)
        #expect(
            texts == [
                nil, "Updating Library: 1 of 2", "Updating Library: 1 of 2", "Updating Library: 2 of 2",
                "Updating Library: 2 of 2", nil,
            ])
    }

    @Test("says nothing private where others than developers read it, whatever the error holds")
    func privacy() throws {
        struct Marked: Error, CustomStringConvertible { let description: String }
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let mark = "geheim-\(random.next())"
            let inner = MigrationError(
                .databaseFailed, "/\(mark)/a.sqlite: no such table: \(mark)", remedy: "Fix \(mark).",
                manager: mark, underlyingError: Marked(description: mark))
            for code in [MigrationError.Code.stepFailed, .diskFull, .damagedStore, .undecided] {
                let error = MigrationError(
                    code, "step 1.1 (\(mark)) failed", remedy: mark, manager: mark, version: "1.1",
                    underlyingError: inner)
                let summary = String(decoding: try JSONEncoder().encode(error.summary), as: UTF8.self)
                for text in [
                    summary, error.localizedDescription, error.advice.localizedDescription,
                    "\(error.errorUserInfo)",
                ] {
                    #expect(!text.contains("geheim"))
                }
                #expect(error.debugDescription.contains(mark))
            }
        }
    }
}

private struct PrivateError: Error {}
