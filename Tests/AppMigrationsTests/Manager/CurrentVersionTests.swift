import AppMigrations
import Foundation
import Testing

@Suite("The current version", .timed)
struct CurrentVersionTests {
    @Test("can be given as a version or as text")
    func given() throws {
        #expect(
            try MigrationManager(
                currentVersion: AppVersion(parsing: "2.1"), adopting: .newApp, store: .inMemory()
            )
            .currentVersion == "2.1")
        let text = "2.1"
        #expect(
            try MigrationManager(currentVersion: text, adopting: .newApp, store: .inMemory())
                .currentVersion == "2.1")
    }

    @Test("is an error if malformed, and the message quotes the text")
    func malformed() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(
                name: "Library", currentVersion: "v2", adopting: .newApp, store: .inMemory())
        }
        #expect(error.code == .misuse)
        #expect(
            error.description == """
                Library: the current version is malformed: "v2" is not an app version: expected a digit at offset 0, \
                found "v". Pass a version such as 2.1 or 2.0.0-beta.3.
                """)
    }

    @Test("is an error if it has a sub-migration number")
    func subMigration() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(
                name: "Library", currentVersion: "1.1-2", adopting: .newApp, store: .inMemory())
        }
        #expect(
            error.description == """
                Library: the current version 1.1-2 has a sub-migration number. Pass 1.1: sub-migrations are for \
                steps.
                """)
    }

    @Test("is an error if it is neither passed nor in the bundle, and the message says what to pass")
    func missing() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(adopting: .newApp, store: .inMemory())
        }
        #expect(
            error.description == """
                The main bundle has no CFBundleShortVersionString. Pass the app's version: \
                MigrationManager(currentVersion: "2.0", …).
                """)
    }

    @Test("needs a store where there is no default one, and the message says what to pass")
    func noStore() throws {
        let error = try #require(throws: MigrationError.self) {
            try MigrationManager(currentVersion: "2.0", adopting: .newApp)
        }
        #expect(error.code == .misuse)
        #expect(error.message.hasPrefix("There is no default store here: "))
        #expect(
            error.remedy
                == "Pass one: store: .jsonFile(at: url), or .inMemory() in tests and previews.")
    }
}
