import Testing

@Suite("Accounts", .timed)
struct AccountsTests {
    @Test("an account that is added is fresh, one that is deleted leaves no record, and the widget waits")
    func output() async throws {
        let run = try await SampleProcess("Accounts")
        #expect(
            run.output == """
                A fresh install of 2.0, where the keychain still has the password of an earlier install
                  keychain: somebody's password
                  app     freshInstall; steps 1.0
                  keychain: empty

                An install of 1.0 is updated to 2.0, and the widget starts first
                  widget  shows "Open the app once"

                The first launch of 2.0
                  app     favorites not imported: "Ben's mother" is not an address
                  app     upgrade(from: 1.0); steps none
                  keychain: anna's password
                  anna    upgrade(from: 1.0); steps 2.0; mail from ben@example.com
                  widget  shows mail from ben@example.com

                The account ben is added: its database is new, though the install is old
                  ben     freshInstall; steps none; mail from none

                The second launch of 2.0
                  app     favorites not imported: "Ben's mother" is not an address
                  app     relaunch; steps none
                  anna    relaunch; steps none; mail from ben@example.com
                  ben     relaunch; steps none; mail from none

                The account anna is deleted, and added again
                  anna    freshInstall; steps none; mail from none

                """)
        #expect(run.errors == "")
        #expect(run.status == 0)
    }
}
