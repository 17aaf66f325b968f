import Foundation
import TestSupport
import Testing

@Suite("A step in which the process dies", .timed)
struct AttemptsTests {
    /// The error of the launch that does not try the step again.
    static func gaveUp(_ deaths: String) -> String {
        """
        gaveUp: Library: step 1.2 (Migrations.swift:7) was not retried: the process died in it \(deaths). \
        A new build of the app retries it, as does migrate(retrying: error.work); skip(error.work) goes on without \
        it.

        """
    }

    /// An install in whose step 1.2 the app has died so often that it is not tried again.
    static func exhausted(_ place: Place) async throws -> Install {
        let install = try await Install(place)
        for _ in 1...3 {
            #expect(try await install.signal("2.0+417", [place.step("1.2", "kill")]) == SIGKILL)
        }
        return install
    }

    @Test(
        "runs again at the next launch, as attempt 2",
        arguments: Place.allCases)
    func secondAttempt(place: Place) async throws {
        let install = try await Install(place)
        #expect(try await install.signal("2.0", [place.step("1.2", "kill")]) == SIGKILL)
        let next = try await install.launch("2.0", [place.step("1.2")])
        #expect(next.output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(install.effects == ["1.2 attempt 1", "1.2 attempt 2"])
        let last = try await install.launch("2.0", [place.step("1.2")])
        #expect(last.output == "launch relaunch\ncompleted []\n")
        #expect(install.effects.count == 2)
    }

    @Test("works exactly once in a database, however often the process died in it")
    func exactlyOnce() async throws {
        let install = try await Self.exhausted(.own)
        #expect(try install.rows() == [])
        try await install.launch("2.0+418", [Place.own.step("1.2")])
        #expect(try install.rows() == ["1.2"])
        #expect(install.effects == (1...4).map { "1.2 attempt \($0)" })
    }

    @Test(
        "does not run after three deaths in one build, so that the process survives",
        arguments: Place.allCases)
    func gaveUp(place: Place) async throws {
        let install = try await Install(place)
        let steps = [place.step("1.1"), place.step("1.2", "kill"), place.step("2.0")]
        for _ in 1...3 { #expect(try await install.signal("2.0+417", steps) == SIGKILL) }
        for _ in 1...2 {
            let launch = try await install.launch("2.0+417", steps)
            #expect(launch.status == 0)
            #expect(launch.output == Self.gaveUp("3 times"))
        }
        #expect(
            install.effects == ["1.1 attempt 1", "1.2 attempt 1", "1.2 attempt 2", "1.2 attempt 3"],
            "what is below stays settled, what is above does not run")
    }

    @Test("runs again in a new build, and still counts its attempts", arguments: Place.allCases)
    func newBuild(place: Place) async throws {
        let install = try await Self.exhausted(place)
        for _ in 1...3 {
            #expect(try await install.signal("2.0+418", [place.step("1.2", "kill")]) == SIGKILL)
        }
        #expect(try await install.launch("2.0+418", [place.step("1.2")]).output == Self.gaveUp("3 times"))
        let fixed = try await install.launch("2.0+419", [place.step("1.2"), place.step("2.0")])
        #expect(fixed.output == "launch upgrade(from: 1.0)\ncompleted [1.2, 2.0]\n")
        #expect(install.effects == (1...7).map { "1.2 attempt \($0)" } + ["2.0 attempt 1"])
    }

    @Test("runs again with migrate(retrying:), which starts a new count", arguments: Place.allCases)
    func retrying(place: Place) async throws {
        let install = try await Self.exhausted(place)
        let dying = [place.step("1.2", "kill")]
        #expect(try await install.signal("2.0+417", dying, ["--retrying", "1.2"]) == SIGKILL)
        for _ in 1...2 { #expect(try await install.signal("2.0+417", dying) == SIGKILL) }
        #expect(try await install.launch("2.0+417", dying).output == Self.gaveUp("3 times"))
        let last = try await install.launch("2.0+417", [place.step("1.2")], ["--retrying", "1.2"])
        #expect(last.output == "launch upgrade(from: 1.0)\ncompleted [1.2]\n")
        #expect(install.effects == (1...7).map { "1.2 attempt \($0)" })
    }

    @Test("is left out by skip(_:)", arguments: Place.allCases)
    func skip(place: Place) async throws {
        let install = try await Self.exhausted(place)
        let steps = [place.step("1.2", "kill"), place.step("2.0")]
        let launch = try await install.launch("2.0+417", steps, ["--skip", "1.2"])
        #expect(launch.output == "launch upgrade(from: 1.0)\ncompleted [2.0]\n")
        #expect(install.effects == (1...3).map { "1.2 attempt \($0)" } + ["2.0 attempt 1"])
        #expect(try await install.launch("2.0+417", steps).output == "launch relaunch\ncompleted []\n")
    }

    @Test("may die as often as maximumAttempts says")
    func maximumAttempts() async throws {
        let install = try await Install(.json)
        let options = ["--maximum-attempts", "1"]
        #expect(try await install.signal("2.0", ["1.2:kill"], options) == SIGKILL)
        #expect(try await install.launch("2.0", ["1.2:kill"], options).output == Self.gaveUp("once"))
        let generous = ["--maximum-attempts", "5"]
        for _ in 2...5 {
            #expect(try await install.signal("2.0", ["1.2:kill"], generous) == SIGKILL)
        }
        #expect(try await install.launch("2.0", ["1.2"], generous).output == Self.gaveUp("5 times"))
    }

    @Test("has not died if it throws or is cancelled", arguments: ["fail", "cancel"])
    func notADeath(action: String) async throws {
        let install = try await Install(.json)
        let again = """
            It has failed in the same way before in this build, so retrying alone will not help: fix the cause, or settle \
            the step with skip(_:).
            """
        for number in 1...4 {
            let remedy = number > 1 ? again : "Earlier steps are complete. The next launch retries this one."
            let launch = try await install.launch("2.0", ["1.2:\(action)"])
            #expect(
                launch.output
                    == (action == "cancel"
                        ? "cancelled\n"
                        : "stepFailed: Library: step 1.2 (Migrations.swift:7) failed: told to fail. \(remedy)\n")
            )
        }
        #expect(install.effects == Array(repeating: "1.2 attempt 1", count: 4))
    }

    @Test("counts its deaths before and after an error together")
    func deathsAroundAFailure() async throws {
        let install = try await Install(.json)
        for action in ["kill", "kill", "fail", "kill"] { try await install.launch("2.0", ["1.2:\(action)"]) }
        #expect(try await install.launch("2.0", ["1.2"]).output == Self.gaveUp("3 times"))
        #expect(install.effects.map { $0.suffix(1) } == ["1", "2", "3", "3"])
    }

    @Test("A schema step in which the process died three times is given up, and a new build retries it")
    func schemaStep() async throws {
        let install = try await Install(.json)
        for _ in 1...3 { #expect(try await install.signal("2.0+417", ["2.0:move,kill"]) == SIGKILL) }
        let given = try await install.launch("2.0+417", ["2.0:move,kill"])
        #expect(
            given.output == """
                gaveUp: Library: schema step 2.0 (Migrations.swift:7) was not retried: the process died in it 3 times, \
                and migration `1` is not applied. A new build of the app retries it, as does migrate(retrying: error.work).

                """)
        let retried = try await install.launch("2.0+417", ["2.0:move"], ["--retrying", "2.0"])
        #expect(retried.output == "launch upgrade(from: 1.0)\ncompleted []\n")
        #expect(install.effects == ["2.0", "2.0", "2.0", "2.0"])

        let other = try await Install(.json)
        for _ in 1...3 { #expect(try await other.signal("2.0+417", ["2.0:move,kill"]) == SIGKILL) }
        let next = try await other.launch("2.0+418", ["2.0:move"])
        #expect(next.output == "launch upgrade(from: 1.0)\ncompleted []\n")
    }

    @Test(
        "A closure for a version change in which the process died three times is given up, and can be skipped"
    )
    func versionChange() async throws {
        let install = try await Install(.json)
        for _ in 1...3 { #expect(try await install.signal("2.0+417", ["2.0:change,kill"]) == SIGKILL) }
        let given = try await install.launch("2.0+417", ["2.0:change,kill"])
        #expect(
            given.output == """
                gaveUp: Library: a closure for a version change was not retried: the process died in it 3 times. A new \
                build of the app retries it, as does migrate(retrying: error.work); skip(error.work) goes on without it.

                """)
        let skipped = try await install.launch("2.0+417", ["2.0:change"], ["--skip", "2.0"])
        #expect(skipped.output == "launch upgrade(from: 1.0)\ncompleted []\n")
        #expect(install.effects == ["2.0", "2.0", "2.0"])
    }

    @Test("A deferred batch in which the process died is done exactly once, or given up in that build")
    func deferred() async throws {
        let install = try await Install(.own)
        for _ in 1...2 { #expect(try await install.signal("2.0+417", ["2.0:rows,kill"]) == SIGKILL) }
        #expect(
            try install.rows().count == 8,
            "the second launch has done the last row before that in which both died")
        let next = try await install.launch("2.0+417", ["2.0:rows"])
        #expect(next.output.hasSuffix("deferred [2.0], failed []\n"), "\(next.output)")
        #expect(try install.rows() == (0...99).map { "\($0)" })

        let other = try await Install(.own)
        // The second launch gets further than the first.
        for _ in 1...4 { #expect(try await other.signal("2.0+417", ["2.0:rows,kill"]) == SIGKILL) }
        let given = try await other.launch("2.0+417", ["2.0:rows,kill"])
        #expect(
            given.output.hasSuffix(
                """
                deferred [], failed ["Library: deferred step 2.0 (Migrations.swift:7) was not retried: the process died in \
                it 3 times. A new build of the app retries it, as does runDeferred(retrying: error.work); skip(error.work) goes on \
                without it."]

                """), "\(given.output)")
        #expect(try await other.launch("2.0+418", ["2.0:rows"]).output.contains("deferred [2.0], failed []"))
        #expect(try other.rows() == (0...99).map { "\($0)" })
    }
}
