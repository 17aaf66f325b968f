import Foundation
import TestSupport
import Testing

@testable import AppMigrations

@Suite("JSONStore", .timed)
struct JSONStoreTests {
    let folder: TemporaryFolder
    let url: URL
    let log = Log()

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("migrations.json")
    }

    func write(_ text: String) throws { try Data(text.utf8).write(to: url) }

    /// Launches with these contents of the file; nothing may run, and the file must stay unchanged.
    func refusal(_ contents: Data) throws -> MigrationError {
        try contents.write(to: url)
        let store = try MigrationStore.jsonFile(at: url)
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["1.0", "2.0"], store: store, log: log)
        }
        #expect(log.lines == [])
        #expect(try Data(contentsOf: url) == contents)
        #expect(error.remedy != "")
        return error
    }

    @Test("reads the documented example")
    func wordForWord() throws {
        try write(
            """
            {
              "format": "1.0",
              "seen": { "app": [ { "version": "1.0", "build": "104", "first": "2026-01-07T09:30:00Z" } ] },
              "managers": {
                "Library": {
                  "start": "1.0", "completed": "1.1", "highest": "2.0",
                  "done": [ "1.1", "1.1-1" ],
                  "open": {
                    "2.0": { "running": { "build": "2.0 (417)", "since": "2026-03-02T18:04:11Z" }, "deaths": 1 }
                  }
                }
              }
            }
            """)
        let state = try MigrationStore.jsonFile(at: url).read("Library")
        var expected = MigrationRecord(start: "1.0")
        expected.settle(WorkID("1.1"))
        expected.settle(WorkID("1.1-1"))
        expected.completed = "1.1"
        expected.highest = "2.0"
        expected.changeOpen(WorkID("2.0")) { open in
            open.running = OpenWork.Start(
                build: "2.0 (417)", since: Date(timeIntervalSince1970: 1_772_474_651))
            open.deaths = 1
        }
        #expect(try state.record(of: "Library") == expected)
        #expect(
            state.seen == [
                "app": [
                    SeenVersion(
                        version: "1.0", build: "104", first: Date(timeIntervalSince1970: 1_767_778_200))
                ]
            ])
    }

    @Test("writes readable JSON: indented and in a stable order")
    func pretty() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try launch("1.0", name: "Settings", store: store)
        try launch("1.1", steps: ["1.1"], name: "Settings", store: store)
        try launch("1.1", name: "Library", store: store)
        let text = try String(contentsOf: url, encoding: .utf8).replacing(
            #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/#, with: "DATE"
        ).replacing(#/[0-9a-f]{16}/#, with: "CHECKSUM").replacing(
            #/"id" : "[0-9A-F-]{36}"/#, with: #""id" : "UUID""#)
        #expect(
            text == """
                {
                  "checksum" : "CHECKSUM",
                  "format" : "1.0",
                  "id" : "UUID",
                  "managers" : {
                    "Library" : {
                      "completed" : "1.1",
                      "done" : [

                      ],
                      "highest" : "1.1",
                      "start" : "1.0"
                    },
                    "Settings" : {
                      "completed" : "1.1",
                      "done" : [
                        "1.1"
                      ],
                      "highest" : "1.1",
                      "start" : "1.0"
                    }
                  },
                  "seen" : {
                    "app" : [
                      {
                        "first" : "DATE",
                        "version" : "1.0"
                      },
                      {
                        "first" : "DATE",
                        "version" : "1.1"
                      }
                    ]
                  }
                }

                """)
    }

    @Test("reads what another store object wrote")
    func persistence() throws {
        try launch("1.0", store: .jsonFile(at: url))
        #expect(
            try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url), log: log).completed.versions == [
                "2.0"
            ])
        #expect(try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url), log: log).completed == [])
        #expect(log.lines == ["2.0"])
    }

    @Test("leaves no temporary files after a launch, only the file and its lock files")
    func litter() throws {
        try Data("left by a process that was killed".utf8).write(to: folder.file(".migrations.json.new"))
        try launch("1.0", store: .jsonFile(at: url))
        #expect(
            try folder.fileNames == [
                "migrations.json", "migrations.json.Library.lock", "migrations.json.lock",
            ])
    }

    @Test("writes nothing on a relaunch with nothing pending, not even a lock file")
    func relaunch() throws {
        try launch("1.0", store: .jsonFile(at: url))
        for name in try folder.fileNames where name.hasSuffix(".lock") {
            try FileManager.default.removeItem(at: folder.file(name))
        }
        let before = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(try launch("1.0", store: .jsonFile(at: url)).launch == .relaunch)
        #expect(try folder.fileNames == ["migrations.json"])
        let after = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(after[.systemFileNumber] as? Int == before[.systemFileNumber] as? Int)
        #expect(after[.modificationDate] as? Date == before[.modificationDate] as? Date)
    }

    @Test(
        "refuses malformed contents, and leaves them unchanged",
        arguments: [
            ("", "migrations.json: the file is empty."),
            (
                "{ \"format\": \"1.0\", \"managers\": { \"Lib",
                "migrations.json: not valid JSON, or cut off."
            ),
            ("[]", "migrations.json: not a JSON object."),
            ("{}", "migrations.json: no \"format\" such as \"1.0\"."),
            (
                #"{"format": "1.0", "seen": {}}"#,
                "migrations.json: damaged at managers: expected an object."
            ),
            (
                #"{"format": "1.0", "managers": {}}"#,
                "migrations.json: damaged at seen: expected an object."
            ),
            (
                #"{"format": "1.0", "seen": {}, "managers": {"Library": 7}}"#,
                "migrations.json: damaged at managers.Library: expected an object."
            ),
            (
                #"{"format": "1.0", "seen": {}, "managers": {"Library": {"start": "1.0", "done": ["1..1"]}}}"#,
                #"migrations.json: damaged at managers.Library.done: "1..1" is not an app version: expected a digit at offset 2, found "."."#
            ),
            (
                #"{"format": "1.0", "seen": {}, "managers": {"Library": {"start": "1.0"}}}"#,
                "migrations.json: damaged at managers.Library.done: expected a list."
            ),
            (
                #"{"format": "1.0", "seen": {}, "managers": {"Library": {"done": ["1.1"], "skipped": ["1.1.0"]}}}"#,
                "migrations.json: damaged at managers.Library.skipped: 1.1.0 has two states."
            ),
            (
                #"{"format": "1.0", "seen": {}, "managers": {"Library": {"done": [], "open": {"1.1": "done"}}}}"#,
                "migrations.json: damaged at managers.Library.open.1.1: expected an object."
            ),
            (
                #"""
                {"format": "1.0", "seen": {}, "managers": {"Library": {"start": "1.0",
                "done": [], "open": {"1.1": {"deaths": 9223372036854775807, "build": "1"}}}}}
                """#,
                "migrations.json: damaged at managers.Library.open.1.1.deaths: 9223372036854775807 is out of range."
            ),
            (
                #"{"format": "1.0", "seen": {"app": [{"version": "1.0", "first": "yesterday"}]}, "managers": {}}"#,
                #"migrations.json: damaged at seen.app.first: "yesterday" is not a date."#
            ),
        ])
    func damage(contents: String, message: String) throws {
        let error = try refusal(Data(contents.utf8))
        #expect(error.code == .damagedStore)
        #expect(error.message == message)
    }

    @Test("refuses a file that is not UTF-8, and leaves it unchanged")
    func notUTF8() throws {
        let error = try refusal(Data([0x7b, 0xff, 0xfe, 0x7d]))
        #expect(error.code == .damagedStore)
        #expect(error.message == "migrations.json: not UTF-8 text.")
    }

    @Test("refuses a newer major format, and asks for an update")
    func newerMajorFormat() throws {
        let error = try refusal(Data(#"{"format": "2.0", "managers": []}"#.utf8))
        #expect(error.code == .newerThanThisProcess)
        #expect(
            error.description == """
                migrations.json: format 2.0 is newer than 1.0, which this version of AppMigrations reads. A newer version of the app \
                wrote it: update the app.
                """)
    }

    @Test("reads a newer minor format, and keeps unknown fields")
    func newerMinorFormat() throws {
        try write(
            #"""
            {"format": "1.7", "device": {"id": 12}, "seen": {"app": [{"version": "1.0", "first": "2026-01-07T09:30:00Z", "by": "x"}]},
             "managers": {"Library": {"start": "1.0", "done": ["1.5", "later 2"], "open": {"later 3": 7}, "completed": "1.0", "highest": "1.0", "mood": true},
                          "Other": {"shape": "unheard of"}}}
            """#)
        try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url), log: log)
        #expect(log.lines == ["2.0"])
        let object = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
        let managers = try #require(object["managers"] as? [String: [String: Any]])
        let seen = try #require(object["seen"] as? [String: [[String: Any]]])
        #expect(object["format"] as? String == "1.7")
        #expect((object["device"] as? [String: Any])?["id"] as? Int == 12)
        #expect(seen["app"]?.map { $0["version"] as? String } == ["1.0", "2.0"])
        #expect(seen["app"]?[0]["by"] as? String == "x")
        #expect(managers["Library"]?["mood"] as? Bool == true)
        #expect(managers["Library"]?["done"] as? [String] == ["1.5", "2.0", "later 2"])
        let open = try #require(managers["Library"]?["open"] as? [String: Any])
        #expect(open["later 3"] as? Int == 7)
        #expect(managers["Other"]?["shape"] as? String == "unheard of")
    }

    @Test("does not mistake an unreadable file for an absent one, and nothing runs")
    func unreadable() throws {
        // Root can read every file, but not a folder.
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: .jsonFile(at: url), log: log)
        }
        #expect(error.code == .unreadableStore)
        #expect(error.message == "migrations.json: cannot be read: Is a directory (\(url.path)).")
        #expect(log.lines == [])
    }

    @Test("does not mistake a dangling link for an absent file")
    func danglingLink() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try FileManager.default.createSymbolicLink(
            at: url, withDestinationURL: folder.file("unmounted/record.json"))
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, log: log)
        }
        #expect(error.code == .unreadableStore)
    }

    @Test("reports a missing folder before anything runs, also one that is gone")
    func missingFolder() throws {
        let missing = folder.file("gone")
        let store = try MigrationStore.jsonFile(at: missing.appendingPathComponent("migrations.json"))
        let log = Log()
        for _ in 1...2 {
            let error = try #require(throws: MigrationError.self) {
                try launch("2.0", steps: ["2.0"], store: store, log: log, adopting: Adoption { "1.0" })
            }
            #expect(error.code == .misuse)
            #expect(
                error.description
                    == "migrations.json: the folder \(missing.path) does not exist. Create it first."
            )
            #expect(log.lines == [])
            try FileManager.default.createDirectory(at: missing, withIntermediateDirectories: false)
            try launch("1.0", store: store)
            try FileManager.default.removeItem(at: missing)
        }
    }

    @Test("reports that the file cannot be written, before the step runs")
    func unwritable() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try launch("1.0", store: store)
        // A folder in place of the temporary file makes writing fail, even for root.
        try FileManager.default.createDirectory(
            at: folder.file(".migrations.json.new"), withIntermediateDirectories: false)
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, log: log)
        }
        #expect(error.code == .unwritable)
        #expect(error.message == "migrations.json: cannot be written: Is a directory (\(url.path)).")
        #expect(log.lines == [])

        try FileManager.default.removeItem(at: folder.file(".migrations.json.new"))
        #expect(try launch("2.0", steps: ["2.0"], store: store, log: log).completed.versions == ["2.0"])
    }

    @Test("reports that the history cannot be written")
    func unwritableHistory() throws {
        let store = try MigrationStore.jsonFile(at: url)
        try launch("1.0", store: store)
        // Nothing can be appended to a pipe.
        #expect(mkfifo(folder.file("migrations.json.history").path, 0o644) == 0)
        let error = try #require(throws: MigrationError.self) {
            try launch("2.0", steps: ["2.0"], store: store, log: log)
        }
        #expect(error.code == .unwritable)
        #expect(error.message == "migrations.json: cannot be written: Illegal seek (\(url.path)).")
    }

    @Test("locks one manager against other store objects, and names the holder")
    func lock() throws {
        let store = try MigrationStore.jsonFile(at: url)
        guard case .acquired(_, let release) = try store.lock("Library") else {
            Issue.record("the lock was taken")
            return
        }
        guard case .held(let holder) = try MigrationStore.jsonFile(at: url).lock("Library") else {
            Issue.record("two hold one lock")
            return
        }
        #expect(holder.description == "this process")
        guard case .acquired(_, let releaseOther) = try store.lock("Settings") else {
            Issue.record("managers do not lock each other")
            return
        }
        releaseOther()
        release()
        guard case .acquired(_, let releaseAgain) = try store.lock("Library") else {
            Issue.record("the lock was not released")
            return
        }
        releaseAgain()
    }

    @Test(
        "makes a distinct file name from any manager's name",
        arguments: [
            ("Library", "Library"), ("a/b", "a%2fb"), ("..", "%2e%2e"), ("", ""), ("über", "%c3%bcber"),
            ("a\nb", "a%0ab"),
        ])
    func fileNames(name: String, expected: String) {
        #expect(name.asFileName == expected)
    }

    @Test("makes distinct file names of limited length from long names with a common prefix")
    func longNames() {
        let names = ["a", "b"].map { (String(repeating: "x/", count: 500) + $0).asFileName }
        #expect(names[0] != names[1])
        #expect(names.allSatisfy { $0.utf8.count < 110 })
    }
}
