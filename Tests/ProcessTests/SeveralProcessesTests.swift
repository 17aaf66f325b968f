import Foundation
import TestSupport
import Testing

@Suite("Several processes", .timed, .serialized)
struct SeveralProcessesTests {
    /// Starts a launch, and waits until it is in the middle of its step.
    func inStep(
        _ install: Install, _ version: String = "2.0", _ step: String = "1.2", _ options: [String] = []
    ) async throws -> BuiltProcess {
        let process = try install.start(version, ["\(step):wait=go"], options)
        try await waitUntil("the step waits") { !install.folder.lines("go.reached").isEmpty }
        return process
    }

    @Test(
        "wait for each other, and run nothing twice",
        arguments: [Place.json, .sqlite])
    func waiting(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        let waiter = try install.start("2.0", ["1.2"], ["--lock-timeout", "600"])
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        let waited = try await waiter.result()
        #expect(waited.output == "launch relaunch\ncompleted []\n", "\(waited.errors)")
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test(
        "that may not wait get an error that names the holder of the lock, and run nothing",
        arguments: [Place.json, .sqlite])
    func notWaiting(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        let other = try await install.launch("2.0", ["1.2"], ["--lock-timeout", "0"])
        #expect(
            other.output.hasPrefix(
                "locked: Library: process \(holder.id) is migrating, and did not finish within "),
            "\(other.output)")
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().status == 0)
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test(
        "of a newer version wait before they take steps over from a manager that an older one migrates",
        arguments: [Place.json, .sqlite])
    func takingOver(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        let options = ["--named", "Photos", "--split-from", "Library", "--lock-timeout"]
        let early = try await install.launch("3.0", ["1.2"], options + ["0"])
        #expect(
            early.output == """
                locked: Photos: process \(holder.id) is migrating Library, whose steps come here, and did not finish \
                within 0.0 seconds. Launch again when it has finished, or raise the option `lockTimeout`.

                """)
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().status == 0)
        let later = try await install.launch("3.0", ["1.2"], options + ["600"])
        #expect(later.output == "launch upgrade(from: 2.0)\ncompleted []\n")
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test(
        "do not wait for a manager that has left its steps before", arguments: [Place.json, .sqlite])
    func longTakenOver(place: Place) async throws {
        let install = try await Install(place)
        try await install.launch("2.0", ["1.2"])
        let holder = try await inStep(install, "3.0", "2.9")
        let options = [
            "--named", "Photos", "--split-from", "Library", "--before", "2.0", "--lock-timeout", "0",
        ]
        let photos = try await install.launch("3.1", ["1.2", "3.1"], options)
        #expect(photos.output == "launch upgrade(from: 1.0)\ncompleted [3.1]\n")
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().output == "launch upgrade(from: 2.0)\ncompleted [2.9]\n")
    }

    @Test(
        "of an older version leave steps alone that have been taken over while they waited",
        arguments: [Place.json, .sqlite])
    func takenOver(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(
            install, "3.0", "1.2", ["--named", "Photos", "--split-from", "Library"])
        let older = try await install.launch("2.0", ["1.2"])
        #expect(older.output == "launch downgrade(from: 3.0)\ncompleted []\n", "\(older.errors)")
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test("release their lock when they die", arguments: [Place.json, .sqlite])
    func killed(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        kill(holder.id, SIGKILL)
        #expect(try await holder.result().signal == SIGKILL)
        let next = try await install.launch("2.0", ["1.2"], ["--lock-timeout", "0"])
        #expect(next.output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(install.effects == ["1.2 attempt 1", "1.2 attempt 2"])
    }
}
