#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    /// An app bundle, as Foundation reads one on Linux: the executable beside its `Info.plist`.
    @Suite("An app that passes neither a version nor a store", .timed)
    struct DefaultsTests {
        let folder: TemporaryFolder
        let supportURL: URL

        init() throws {
            // Beside the executable, so that it can be linked: a copy that is being written while another test starts
            // a process is open in that one too for a moment, and cannot be run (execve(2), ETXTBSY).
            folder = try TemporaryFolder(in: Products.executable("Launcher").deletingLastPathComponent())
            supportURL = folder.file("support")
        }

        func launch(
            _ version: String = "2.0", _ steps: [String] = [], as bundleName: String = "Books.app",
            identifier: String? = "org.example.books",
            environment: [String: String] = [:]
        ) async throws -> String {
            let bundle = folder.file(bundleName)
            try? FileManager.default.removeItem(at: bundle)
            try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: false)
            let executable = bundle.appendingPathComponent("Launcher")
            try FileManager.default.linkItem(at: Products.executable("Launcher"), to: executable)
            var info = ["CFBundleShortVersionString": version, "CFBundleVersion": "417"]
            info["CFBundleIdentifier"] = identifier
            try PropertyListSerialization.data(fromPropertyList: info, format: .xml, options: 0)
                .write(to: bundle.appendingPathComponent("Info.plist"))
            var variables = ProcessInfo.processInfo.environment
            for name in ["XCTestConfigurationFilePath", "XCTestBundlePath", "XCODE_RUNNING_FOR_PREVIEWS"] {
                variables[name] = nil
            }
            variables["XDG_DATA_HOME"] = supportURL.path
            let result = try await BuiltProcess(
                running: executable,
                ["--folder", folder.url.path, "--store", "standard"] + steps,
                environment: variables.merging(environment) { $1 }
            ).result()
            #expect(result.errors == "")
            return result.output
        }

        @Test("has its bundle's version, and a store in Application Support")
        func standard() async throws {
            #expect(try await launch("1.0") == "launch freshInstall\ncompleted []\n")
            #expect(
                try await launch("2.0", ["1.5", "2.0"]) == "launch upgrade(from: 1.0)\ncompleted [1.5, 2.0]\n"
            )
            #expect(try await launch("2.0", ["1.5", "2.0"]) == "launch relaunch\ncompleted []\n")
            let record = supportURL.appendingPathComponent("org.example.books/migrations.json")
            #expect(FileManager.default.fileExists(atPath: record.path))
        }

        @Test("gets an error if its bundle's version is malformed")
        func malformedVersion() async throws {
            #expect(
                try await launch("2.x") == """
                    misuse: The main bundle's CFBundleShortVersionString is malformed: "2.x" is not an \
                    app version: expected a digit at offset 2, found "x". Fix it, or pass the app's version: \
                    MigrationManager(currentVersion: "2.0", …).

                    """)
        }

        @Test("gets an error if its folder cannot be created")
        func noFolder() async throws {
            try Data().write(to: supportURL)
            let output = try await launch()
            #expect(
                output.hasPrefix(
                    "misuse: The app's folder in Application Support cannot be created: "))
            #expect(
                output.hasSuffix(
                    "Pass a store in a folder that exists: store: .jsonFile(at: url).\n"), "\(output)")
        }

        private static let remedy =
            "Pass one: store: .jsonFile(at: url), or .inMemory() in tests and previews.\n"

        @Test(
            "has no default store in a test or a preview",
            arguments: [
                ("XCTestBundlePath", "/x", "tests must not touch the app's own store"),
                ("XCTestConfigurationFilePath", "/x", "tests must not touch the app's own store"),
                ("XCODE_RUNNING_FOR_PREVIEWS", "1", "a preview must not touch the app's own store"),
            ])
        func otherPurposes(variable: String, value: String, reason: String) async throws {
            #expect(
                try await launch(environment: [variable: value])
                    == "misuse: There is no default store here: \(reason). \(Self.remedy)")
        }

        @Test("has no default store in an app extension, or without a bundle identifier")
        func noPlace() async throws {
            #expect(
                try await launch(as: "Share.appex") == """
                    misuse: There is no default store here: an app extension shares its app's store, which \
                    cannot be guessed. \(Self.remedy)
                    """)
            #expect(
                try await launch(identifier: nil) == """
                    misuse: There is no default store here: the main bundle has no identifier. \(Self.remedy)
                    """)
        }
    }
#endif
