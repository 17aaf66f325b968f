import Foundation
import Testing

@Suite("Journal", .timed)
struct JournalTests {
    @Test("a journal upgraded through all versions ends with the schema of a fresh one")
    func demo() async throws {
        let run = try await journal("demo")
        // Batches take about 50 ms each, whatever the machine can do in that time.
        let output = run.output.replacing(#/\d+ of 2000\d/#, with: "N of N").replacing(
            /2000\d entries/, with: "N entries"
        )
        // Which rows are on the page that is lost is up to SQLite.
        .replacing(#/\d\d,\d{3}/#, with: "M").replacing(#/1\d{4} entries/#, with: "N entries")
        #expect(
            output == """
                One journal, upgraded by every release

                Journal 1.0, a fresh install
                  ✓ 1.0   Entries      create entries  TIME
                  holds 3 entries, 0 tags in use, 2 attachments

                Journal 1.1, an upgrade from 1.0
                  ✓ 1.1   Settings     renamed colour to theme, fontSize to textScale  TIME
                  ✓ 1.1   Entries      create tags  TIME
                  ✓ 1.1   Entries      added the first 3 tags  TIME
                  ✓ 1.1   Attachments  gave 2 files names that sort by date  TIME
                  ★ new since 1.0: tags, and themes
                  holds 5 entries, 2 tags in use, 3 attachments

                Journal 1.1 (build 2), launched again
                  ✓ 1.1-1 Settings     fixed the textScale that 1.1 wrote  TIME
                  holds 5 entries, 2 tags in use, 3 attachments

                Journal 1.1 (build 2), launched again
                  nothing to do
                  holds 5 entries, 2 tags in use, 3 attachments

                Journal 2.0, an upgrade from 1.1
                  ✓ 2.0   Settings     turned the reminder into a list of reminders  TIME
                  ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                  ✓ 2.0   Entries      read the mood of 3 old entries from their smileys  TIME
                  ✓ 2.0   Attachments  moved 3 files into one folder for each year  TIME
                  ★ new since 1.1: moods, search, and more than one reminder
                  holds 6 entries, 3 tags in use, 4 attachments; "walk" is found in 0

                Journal 2.1, an upgrade from 2.0
                  ✓ 2.1   Entries      index words  TIME
                  ★ new since 2.0: search that finds every form of a word
                  holds 7 entries, 3 tags in use, 4 attachments; "walk" is found in 0

                Journal 2.1, in use
                  ✓ 2.1   Entries      indexed the words of old entries  TIME
                  ✎ written meanwhile: one entry, whose slowest save took  TIME
                  holds 8 entries, 3 tags in use, 4 attachments; "walk" is found in 2

                Journal 3.0, an upgrade from 2.1
                  ✓ 3.0   Entries      drop old search  TIME
                  holds 9 entries, 3 tags in use, 4 attachments; "walk" is found in 3

                A journal with N entries, killed while it is indexed

                Journal 2.0, a fresh install
                  ✓ 1.0   Entries      create entries  TIME
                  ✓ 1.1   Entries      create tags  TIME
                  ✓ 1.1   Entries      added the first 3 tags  TIME
                  ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                  holds 1 entry, 1 tag in use, 1 attachment; "walk" is found in 0

                Journal 2.1, an upgrade from 2.0
                  ✓ 2.1   Entries      index words  TIME
                  ★ new since 2.0: search that finds every form of a word
                  holds N entries, 1 tag in use, 1 attachment; "walk" is found in 0

                Journal 2.1, in use
                  ✗ killed, with N of N entries indexed

                Journal 3.0, an upgrade from 2.1
                  ✓ 2.1   Entries      indexed the words of old entries  TIME
                  ✓ 3.0   Entries      drop old search  TIME
                  holds N entries, 1 tag in use, 1 attachment; "walk" is found in 2

                A journal whose database is damaged

                Journal 3.0, a fresh install
                  ✓ 1.0   Entries      create entries  TIME
                  ✓ 1.1   Entries      create tags  TIME
                  ✓ 1.1   Entries      added the first 3 tags  TIME
                  ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                  ✓ 2.1   Entries      index words  TIME
                  ✓ 3.0   Entries      drop old search  TIME
                  holds 1 entry, 0 tags in use, 0 attachments; "walk" is found in 1

                Journal 3.0, launched again
                  ✚ the database was damaged: M entries were saved (entry: M, entry_word: M, tag: 3). More may be missing, because a part of the file is lost.
                  nothing to do
                  holds N entries, 0 tags in use, 0 attachments; "walk" is found in 1

                A new journal

                Journal 3.0, a fresh install
                  ✓ 1.0   Entries      create entries  TIME
                  ✓ 1.1   Entries      create tags  TIME
                  ✓ 1.1   Entries      added the first 3 tags  TIME
                  ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                  ✓ 2.1   Entries      index words  TIME
                  ✓ 3.0   Entries      drop old search  TIME
                  holds 1 entry, 0 tags in use, 0 attachments; "walk" is found in 1

                ✓ No upgrade lost data, and both journals end with the same schema of 13 definitions.

                """)
        #expect(run.errors == "")
        #expect(run.status == 0)
    }

    @Test("a folder launched as each release in turn runs each release's steps, and keeps all data")
    func history() async throws {
        try await withTemporaryFolder { folder in
            try await #expect(
                journal("launch", "--as", "1.0", data: folder).output == """
                    Journal 1.0, a fresh install
                      ✓ 1.0   Entries      create entries  TIME
                      holds 3 entries, 0 tags in use, 2 attachments

                    """)
            try await #expect(
                journal("launch", "--as", "1.1", data: folder).output == """
                    Journal 1.1, an upgrade from 1.0
                      ✓ 1.1   Settings     renamed colour to theme, fontSize to textScale  TIME
                      ✓ 1.1   Entries      create tags  TIME
                      ✓ 1.1   Entries      added the first 3 tags  TIME
                      ✓ 1.1   Attachments  gave 2 files names that sort by date  TIME
                      ★ new since 1.0: tags, and themes
                      holds 5 entries, 2 tags in use, 3 attachments

                    """)
            try await #expect(
                journal("launch", "--as", "1.1", "--build", "2", data: folder).output == """
                    Journal 1.1 (build 2), launched again
                      ✓ 1.1-1 Settings     fixed the textScale that 1.1 wrote  TIME
                      holds 5 entries, 2 tags in use, 3 attachments

                    """)
            try await #expect(
                journal("launch", "--as", "1.1", "--build", "2", data: folder).output == """
                    Journal 1.1 (build 2), launched again
                      nothing to do
                      holds 5 entries, 2 tags in use, 3 attachments

                    """)
            try await #expect(
                journal("launch", "--as", "2.0", data: folder).output == """
                    Journal 2.0, an upgrade from 1.1
                      ✓ 2.0   Settings     turned the reminder into a list of reminders  TIME
                      ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                      ✓ 2.0   Entries      read the mood of 3 old entries from their smileys  TIME
                      ✓ 2.0   Attachments  moved 3 files into one folder for each year  TIME
                      ★ new since 1.1: moods, search, and more than one reminder
                      holds 6 entries, 3 tags in use, 4 attachments; "walk" is found in 0

                    """)
            try await #expect(
                journal("show", data: folder).output == """
                    Entries
                      2023-12-30  Walked to the harbour with Ada. Ice on every rope :-)  (happy)
                      2024-01-12  The ferry was cancelled, so I read all day.
                      2024-01-20  Lost my scarf somewhere on the pier :-(  (sad)
                      2024-03-16  First swim of the year, with the whole family :-)  #family  (happy)
                      2024-04-02  Night train to Lisbon. Wrote until Bordeaux.  #travel
                      2024-06-21  The ferry runs again. Ada waved from the deck.  #family  (happy)

                    Settings
                      {
                        "reminders" : [
                          "21:00"
                        ],
                        "textScale" : 1.25,
                        "theme" : "sepia"
                      }

                    Attachments
                      2023/2023-12-30 harbour.txt    A photograph of the harbour, in ice.
                      2024/2024-01-12 timetable.txt  No ferry today.
                      2024/2024-04-02 ticket.txt     Coach 14, berth 32.
                      2024/2024-06-21 deck.txt       A photograph of the ferry's deck.

                    """)
        }
    }

    @Test("an upgrade that skips a release runs its steps")
    func skippedRelease() async throws {
        try await withTemporaryFolder { folder in
            _ = try await journal("launch", "--as", "1.0", data: folder)
            try await #expect(
                journal("launch", "--as", "2.0", data: folder).output == """
                    Journal 2.0, an upgrade from 1.0
                      ✓ 1.1   Settings     renamed colour to theme, fontSize to textScale  TIME
                      ✓ 1.1-1 Settings     fixed the textScale that 1.1 wrote  TIME
                      ✓ 2.0   Settings     turned the reminder into a list of reminders  TIME
                      ✓ 1.1   Entries      create tags  TIME
                      ✓ 1.1   Entries      added the first 3 tags  TIME
                      ✓ 2.0   Entries      require day and text, add mood, create search  TIME
                      ✓ 2.0   Entries      read the mood of 2 old entries from their smileys  TIME
                      ✓ 1.1   Attachments  gave 2 files names that sort by date  TIME
                      ✓ 2.0   Attachments  moved 2 files into one folder for each year  TIME
                      ★ new since 1.0: tags, and themes; moods, search, and more than one reminder
                      holds 4 entries, 1 tag in use, 3 attachments; "walk" is found in 0

                    """)
        }
    }
}

@Suite("Journal errors", .timed)
struct JournalErrorTests {
    @Test(
        "an unknown release is refused, and creates no folder",
        arguments: [
            ("abc", "Error: \"abc\" is not an app version: expected a digit at offset 0, found \"a\".\n"),
            (
                "1.1-1",
                """
                Error: An app is never at 1.1-1: that is a sub-migration, a step added while the app stayed \
                at 1.1. Launch it with --as 1.1 --build 2.

                """
            ),
            (
                "3.1",
                """
                Error: There is no release 3.1, build 1. The releases are 1.0, 1.1, 1.1 (build 2), 2.0, 2.1, 3.0.

                """
            ),
        ])
    func unknownRelease(version: String, message: String) async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("JournalData")
            let run = try await journal("launch", "--as", version, data: data)
            #expect(run.output == "")
            #expect(run.errors == message)
            #expect(run.status == 1)
            #expect(!FileManager.default.fileExists(atPath: data.path))
        }
    }

    @Test("an older release refuses a newer database, and the newer release continues")
    func downgrade() async throws {
        try await withTemporaryFolder { folder in
            _ = try await journal("launch", "--as", "2.0", data: folder)
            let older = try await journal("launch", "--as", "1.0", data: folder)
            #expect(older.output == "Journal 1.0, a downgrade from 2.0\n")
            let person =
                "The data has been used by a newer version of the app. Install the latest version of the app.\n"
            #expect(older.errors.hasPrefix("\(person)Entries: entries.sqlite: "), "\(older.errors)")
            #expect(older.errors.contains("unknown and not compatible: 20240305101500000_create_tags"))
            #expect(older.status == 1)
            try await #expect(
                journal("launch", "--as", "2.0", data: folder).output
                    == """
                    Journal 2.0, an upgrade from 1.0
                      nothing to do
                      holds 1 entry, 1 tag in use, 1 attachment; "walk" is found in 0

                    """)
        }
    }

    @Test("a folder without a journal is not shown as an empty one", arguments: ["show", "history"])
    func noJournal(command: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await journal(command, data: folder)
            #expect(run.output == "")
            #expect(
                run.errors
                    == "Error: There is no journal in \(folder.path). Start one: swift run Journal launch --as 1.0\n"
            )
            #expect(run.status == 1)
            try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
    }
}
