import Foundation
import TestSupport
import Testing

@Suite("Several processes", .serialized)
struct SeveralProcessesTests {
    /// `APP_MIGRATIONS_ROUNDS=200 swift test --filter SeveralProcesses` is the long form.
    static let rounds = ProcessInfo.processInfo.environment["APP_MIGRATIONS_ROUNDS"].flatMap(Int.init) ?? 10

    /// Starts eight processes, lets them go at the same moment, and returns what they print.
    func eight(_ install: Install, _ version: String, _ steps: [String]) async throws -> [String] {
        let go = "go-\(version)"
        let processes = try (1...8).map { _ in
            try install.start(version, steps, ["--start", go, "--lock-timeout", "600"])
        }
        try await waitUntil("all are ready") { install.folder.lines("\(go).reached").count == 8 }
        try Data().write(to: install.folder.file(go))
        var outputs: [String] = []
        for process in processes {
            let result = try await process.result()
            #expect(result.status == 0, "\(result)")
            outputs.append(result.output)
        }
        return outputs.sorted()
    }

    @Test(
        "of eight that are launched at once one runs each step, once, and none fails",
        arguments: [Place.json, .sqlite])
    func eightAtOnce(place: Place) async throws {
        for round in 1...Self.rounds {
            let install = Install(in: try TemporaryFolder(), place)
            let fresh = try await eight(install, "1.0", ["1.0", "1.0-1:in"])
            #expect(
                Set(fresh).isSubset(of: [
                    "launch freshInstall\ncompleted []\n", "launch relaunch\ncompleted []\n",
                ]), "round \(round): \(fresh)")

            try install.createEffects()
            let upgrade = try await eight(install, "2.0", ["1.1", "1.2:in", "1.2-1", "1.3:in", "2.0"])
            #expect(
                upgrade.filter { $0 == "launch upgrade(from: 1.0)\ncompleted [1.1, 1.2, 1.2-1, 1.3, 2.0]\n" }
                    .count == 1,
                "round \(round): \(upgrade)")
            #expect(
                upgrade.filter { $0 == "launch relaunch\ncompleted []\n" }.count == 7,
                "round \(round): \(upgrade)")
            #expect(
                install.effects == ["1.1", "1.2", "1.2-1", "1.3", "2.0"].map { "\($0) attempt 1" },
                "round \(round)")
            #expect(try install.rows() == ["1.2", "1.3"], "round \(round)")
        }
    }

    /// Starts a launch, and waits until it is in the middle of its step.
    func inStep(_ install: Install, _ file: String = "go") async throws -> BuiltProcess {
        let process = try install.start("2.0", ["1.2:wait=\(file)"])
        try await waitUntil("the step waits") { !install.folder.lines("\(file).reached").isEmpty }
        return process
    }

    @Test(
        "a process that has been stopped is named to those that wait for it",
        arguments: [Place.json, .sqlite])
    func stopped(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        kill(holder.id, SIGSTOP)
        let waiter = try await install.launch("2.0", ["1.2"], ["--lock-timeout", "0.3"])
        #expect(waiter.status == 0)
        #expect(
            waiter.output == """
                locked: Library: process \(holder.id) is migrating, and has not finished within 0.3 seconds. Launch \
                again when it has, or allow more time with the option `lockTimeout`.

                """)
        kill(holder.id, SIGCONT)
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(try await install.launch("2.0", ["1.2"]).output == "launch relaunch\ncompleted []\n")
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test(
        "one that waits goes on when the other has finished, and runs nothing twice",
        arguments: [Place.json, .sqlite])
    func waiting(place: Place) async throws {
        let install = try await Install(place)
        let holder = try await inStep(install)
        let waiter = try install.start("2.0", ["1.2"], ["--lock-timeout", "600"])
        try Data().write(to: install.folder.file("go"))
        #expect(try await holder.result().output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(try await waiter.result().output == "launch relaunch\ncompleted []\n")
        #expect(install.effects == ["1.2 attempt 1"])
    }

    @Test("a lock dies with its process", arguments: [Place.json, .sqlite])
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
