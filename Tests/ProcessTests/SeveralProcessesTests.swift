import Foundation
import TestSupport
import Testing

@Suite("Several processes", .timed, .serialized)
struct SeveralProcessesTests {
    /// Starts a launch, and waits until it is in the middle of its step.
    func inStep(_ install: Install, _ file: String = "go") async throws -> BuiltProcess {
        let process = try install.start("2.0", ["1.2:wait=\(file)"])
        try await waitUntil("the step waits") { !install.folder.lines("\(file).reached").isEmpty }
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
