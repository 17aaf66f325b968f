import AppMigrations
import Foundation
import MigrationTesting
import Testing

@testable import Journal

@Suite("A journal launched many times", .timed)
struct LaunchHistoryTests {
    /// Launches the last build of a version.
    private static func journal(_ folder: URL, _ version: AppVersion) throws {
        guard let release = Release.all.last(where: { $0.version == version }) else {
            throw UnknownRelease(version: version, build: 1)
        }
        try JournalApp(folder: DataFolder(url: folder), release: release).launch()
    }

    @Test("continues an upgrade that was killed, and loses no data")
    func killed() throws {
        let device = try SimulatedDevice(Self.journal)
        let data = DataFolder(url: device.folder)
        try device.launch(as: "1.0")
        let before = try Contents(of: data)
        try device.kill(during: "2.0")
        try device.launch(as: "2.0")
        #expect(try before.lost(in: Contents(of: data)) == [])
        try device.expectLog([
            """
            launch as 1.0: Settings: fresh install; Entries: fresh install, migrated entries.sqlite to \
            20240110090000000; Attachments: fresh install
            """,
            "launch as 2.0: Settings: upgrade from 1.0, ran 1.1 and 1.1-1, killed at 2.0",
            """
            launch as 2.0: Settings: upgrade from 1.0, ran 2.0; Entries: upgrade from 1.0, ran 1.1 and 2.0, \
            migrated entries.sqlite to 20240305101500000, migrated entries.sqlite to 20240612083000000; \
            Attachments: upgrade from 1.0, ran 1.1 and 2.0
            """,
        ])
    }

    @Test("has the schema of a fresh install after any history")
    func histories() throws {
        let versions = Release.all.map(\.version)
        let schemas = try Dictionary(
            versions.map { version in
                let device = try SimulatedDevice(Self.journal)
                try device.launch(as: version)
                return (version, try DataFolder(url: device.folder).schema())
            }, uniquingKeysWith: { first, _ in first })
        try SimulatedDevice.histories(count: 6, versions: Array(Set(versions)), app: Self.journal) {
            device, version in
            let data = DataFolder(url: device.folder)
            try #require(try data.schema() == schemas[version])
            try #require(try !Contents(of: data).entries.isEmpty)
        }
    }
}
