import Testing

@Suite("QuickStart", .timed)
struct QuickStartTests {
    @Test("a fresh install creates the tables, and data of version 1.0 is upgraded once")
    func output() async throws {
        let run = try await SampleProcess("QuickStart")
        #expect(
            run.output == """
                A fresh install of 2.0
                  launch  freshInstall
                  steps   none
                  tables  book, shelf
                  books   none
                  covers  none

                Data that version 1.0 left
                  tables  book
                  books   Middlemarch by George Eliot
                  covers  middlemarch.jpg, portrait.jpg

                The first launch of 2.0 on that data
                  launch  upgrade(from: 1.0)
                  steps   1.1
                  tables  book, shelf
                  books   Middlemarch by George Eliot
                  covers  Covers/middlemarch.jpg, Covers/portrait.jpg

                The second launch of 2.0
                  launch  relaunch
                  steps   none

                """)
        #expect(run.errors == "")
        #expect(run.status == 0)
    }
}
