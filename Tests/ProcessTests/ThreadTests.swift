import Foundation
import TestSupport
import Testing

// Elsewhere threads are Foundation's, and no system but Linux limits them as it does a user's processes.
#if os(Linux)
    @Suite("An asynchronous launch", .timed)
    struct ThreadTests {
        @Test("goes on when the system creates threads again")
        func noThreads() async throws {
            let folder = try TemporaryFolder()
            // For whoever is not root.
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.url.path)
            let install = Install(in: folder, .json)
            let launch = try await install.launch("2.0", ["1.2"], ["--threads-after", "0.2"])
            #expect(launch.output == "launch freshInstall\ncompleted []\n")
        }
    }
#endif
