import SmallWorlds
import StressTesting
import Testing

@Suite("Small worlds", .timed)
struct WorldsTests {
    @Test("keep their promises where one was broken", arguments: KnownWorld.all.map(\.name), [false, true])
    func known(_ name: String, inSQLite: Bool) throws {
        let world = try #require(KnownWorld.all.first { $0.name == name })
        let problem = try world.problem(inSQLite: inSQLite)
        #expect(problem == nil)
    }

    @Test("have names of their own")
    func names() {
        #expect(Set(KnownWorld.all.map(\.name)).count == KnownWorld.all.count)
    }
}

@Suite("What is promised of an app's data", .timed)
struct PromisesTests {
    private static let app = SmallApp(
        steps: [.init(20, .transaction, in: .database(0)), .init(30, .transaction, in: .database(0))],
        managers: [.init(adopting: .version)])

    /// Plays launches of an old install as the package should, and returns the last problem.
    ///
    /// - Parameter change: changes what is seen of the last event.
    private func problem(
        of app: SmallApp = app, _ events: [SmallEvent] = [.oldInstall, .launch(2)],
        _ change: (inout SmallOutcome, inout SmallData) -> Void
    ) -> String? {
        var promises = Promises(app)
        var data = SmallData()
        for (index, event) in events.enumerated() {
            var outcome = SmallOutcome(managers: 1)
            switch event {
            case .oldInstall:
                data.values = [10: SmallValue(form: 1)]
                data.hasTables = true
            case .launch(let release, _, _):
                outcome.results = [.finished]
                outcome.changes = 1
                outcome.changed = [0: [.files: 1, .database(0): 1]]
                for step in app.steps(of: 0, in: release) where data.runs[step.version] == nil {
                    data.values[10]?.trail.append(.init(step: step.version, release: release))
                    data.runs[step.version] = 1
                    outcome.ran.append(step.version)
                }
            default: break
            }
            let isLast = index == events.count - 1
            if isLast { change(&outcome, &data) }
            let problem = promises.observe(event, outcome, [.files: SmallData(), .database(0): data])
            if isLast { return problem }
        }
        return nil
    }

    @Test("is kept when each step changes each value once")
    func kept() {
        #expect(problem { _, _ in } == nil)
        #expect(problem([.oldInstall, .launch(2), .launch(3)]) { _, _ in } == nil)
    }

    @Test("is broken by a value that is gone, has changed back, or has lost its old form or its child")
    func lost() {
        #expect(problem { $1.values = [:] } == "value 10 of database(0) is gone")
        #expect(
            problem { $1.values[10]?.isLost = true }
                == "value 10 of database(0) is gone, and its new form is missing")
        #expect(
            problem { $1.values[10]?.hasChild = false }
                == "value 10 of database(0) has lost the row that refers to it")
        #expect(
            problem([.oldInstall, .launch(2), .launch(3)]) { $1.values[10]?.trail = [] }
                == "value 10 of database(0) has changed back")
    }

    @Test("is broken by a step that has not run, has run twice, or too early")
    func steps() {
        #expect(
            problem { $1.values[10]?.trail = [] }
                == "value 10 of database(0) lacks 20, though release 2.0 goes on")
        #expect(
            problem { $1.values[10]?.trail.append(.init(step: 20, release: 2)) }
                == "value 10 of database(0) was changed 2 times by 20")
        #expect(
            problem([.oldInstall, .launch(3)]) { $1.values[10]?.trail.reverse() }
                == "value 10 of database(0) was changed by 30 before 20")
        #expect(
            problem([.oldInstall, .launch(3)]) { outcome, _ in outcome.ran.reverse() }
                == "30 has run before 20")
    }

    @Test("is broken by a launch that stops or writes for no reason")
    func reasons() {
        #expect(
            problem { outcome, _ in outcome.results = [.stopped("gaveUp")] }
                == "stops with gaveUp, and nothing is the matter")
        #expect(
            problem([.oldInstall, .launch(2), .launch(2)]) { _, _ in }
                == "a launch with nothing to do has written 1 times")
        #expect(
            problem([.oldInstall, .launch(2), .launch(2, .fromExtension)]) { _, _ in }
                == "an extension has changed a place")
    }

    @Test("is broken by a step for new installs that runs on an old one, or not on a new one")
    func newInstalls() {
        let steps = [SmallApp.Step(20, .transaction, in: .database(0), onFreshInstall: .only)]
        let old = SmallApp(steps: steps, managers: [.init(adopting: .version)])
        let only = SmallApp(steps: steps)
        #expect(problem(of: old) { $1.values[10]?.trail = [] } == "20 has run on an install that is not new")
        #expect(problem(of: only, [.launch(2)]) { _, _ in } == nil)
        #expect(problem(of: only, [.launch(2)]) { $1.runs = [:] } == "20 has not run on a new install")
    }
}
