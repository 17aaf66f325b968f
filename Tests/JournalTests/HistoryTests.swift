import Foundation
import Testing

@Suite("The journal's history", .timed)
struct HistoryTests {
    @Test("lists what each release ran")
    func upgraded() async throws {
        try await withTemporaryFolder { folder in
            _ = try await journal("launch", "--as", "1.0", data: folder)
            _ = try await journal("launch", "--as", "1.1", data: folder)
            _ = try await journal("launch", "--as", "2.0", data: folder)
            let run = try await journal("history", data: folder)
            #expect(
                run.output == """
                    Versions
                      DATE  1.0
                      DATE  1.1
                      DATE  2.0

                    Schema
                      DATE  20240110090000000  create entries
                      DATE  20240305101500000  create tags
                      DATE  20240601120000000  require day and text
                      DATE  20240603090000000  add mood
                      DATE  20240612083000000  create search

                    Settings
                      DATE  1.1    run by 1.1  TIME
                      DATE  1.1-1  run by 2.0  TIME
                      DATE  2.0    run by 2.0  TIME

                    Entries
                      DATE  1.1    run by 1.1  TIME
                      DATE  2.0    run by 2.0  TIME

                    Attachments
                      DATE  1.1    run by 1.1  TIME
                      DATE  2.0    run by 2.0  TIME

                    """)
            #expect(run.errors == "")
            #expect(run.status == 0)
        }
    }

    @Test("lists what a fresh install did not need")
    func fresh() async throws {
        try await withTemporaryFolder { folder in
            _ = try await journal("launch", "--as", "1.1", data: folder)
            try await #expect(
                journal("history", data: folder).output == """
                    Versions
                      DATE  1.1

                    Schema
                      DATE  20240110090000000  create entries
                      DATE  20240305101500000  create tags

                    Settings
                      DATE  1.1    not needed: the journal began with 1.1

                    Entries
                      DATE  1.1    run by 1.1  TIME

                    Attachments
                      DATE  1.1    not needed: the journal began with 1.1

                    """)
        }
    }
}
