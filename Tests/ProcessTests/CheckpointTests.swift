import Foundation
import TestSupport
import Testing

@Suite("Checkpoints", .timed)
struct CheckpointTests {
    @Test("let a step die any number of times while it makes progress")
    func progress() async throws {
        let install = try await Install(.json)
        for _ in 1...5 {
            #expect(try await install.signal("2.0", ["1.2:checkpoint,kill"]) == SIGKILL)
        }
        #expect(
            try await install.launch("2.0", ["1.2"]).output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(
            install.effects == [1, 2, 2, 2, 2, 2].map { "1.2 attempt \($0)" },
            "attempts are counted from the last checkpoint")
    }

    @Test("say where the step is, wherever the process is killed", arguments: [Place.json, .sqlite])
    func position(place: Place) async throws {
        let install = try await Install(place)
        for _ in 1...3 {
            #expect(try await install.signal("2.0", ["1.2:portion,kill"]) == SIGKILL)
        }
        try await install.launch("2.0", ["1.2:portion"])
        #expect(
            install.effects.filter { $0.hasPrefix("portion") } == (1...4).map { "portion \($0)" })
    }

    @Test("start a new count of deaths", arguments: [Place.json, .sqlite])
    func afresh(place: Place) async throws {
        let install = try await Install(place)
        for action in ["kill", "kill", "checkpoint,kill", "kill", "kill"] {
            #expect(try await install.signal("2.0", ["1.2:\(action)"]) == SIGKILL)
        }
        #expect(try await install.launch("2.0", ["1.2"]).output == AttemptsTests.gaveUp("3 times"))
    }

    @Test("count even if the step throws afterwards")
    func thenFailure() async throws {
        let install = try await Install(.json)
        for action in ["kill", "kill", "checkpoint,fail", "kill", "kill"] {
            try await install.launch("2.0", ["1.2:\(action)"])
        }
        #expect(
            install.effects == [1, 2, 3, 1, 2].map { "1.2 attempt \($0)" },
            "the two deaths before the checkpoint are forgiven")
        try await install.launch("2.0", ["1.2:kill"])
        #expect(try await install.launch("2.0", ["1.2"]).output == AttemptsTests.gaveUp("3 times"))
    }

    @Test("are refused in a step that works in one transaction")
    func inDatabase() async throws {
        let install = try await Install(.own)
        let launch = try await install.launch("2.0", ["1.2:in,checkpoint"])
        #expect(
            launch.output == """
                stepFailed: Library: step 1.2 (Migrations.swift:7) failed: Library: step 1.2 (Migrations.swift:7) \
                cannot save a checkpoint, because it works in one transaction. Leave checkpoint() out, \
                or work in several transactions, in a step that is not given the database. Earlier steps \
                are complete. The next launch retries this one.

                """)
        #expect(try install.rows() == [])
    }
}
