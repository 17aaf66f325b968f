import SmallWorlds
import StressTesting
import Testing

@Suite("Small worlds", .timed)
struct WorldsTests {
    /// Worlds that have shown a fault, as the search has printed them.
    static let found: [(app: SmallApp, history: [SmallEvent])] = [
        // The second manager took an old database for a new one, since the first one had adopted it.
        (
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(), .init()]),
            [.launch(1), .write(.append), .launch(2)]
        ),
        (
            SmallApp(
                steps: [
                    .init(20, .cursor, in: .database(0), manager: 1),
                    .init(
                        21, .transaction, in: .database(0), manager: 1, onFreshInstall: .run, finishes: 20),
                ], move: .init(30), managers: [.init(), .init()]),
            [.launch(1), .replace(.database(0)), .launch(3)]
        ),
        // A store in an old database believed another database about the age of its rows.
        (
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .transaction, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init()], storeInDatabase: true),
            [.launch(3, .through(20)), .replace(.database(0)), .launch(2, .through(20))]
        ),
        // These the promises have judged wrongly: what evidence says of a newer release, tables that a move has just made,
        // and values that an older release writes after a newer one.
        (
            SmallApp(
                steps: [.init(10, .closure, manager: 1)], move: .init(20),
                managers: [.init(adopting: .version), .init(hasOwnLine: true)], storeInDatabase: true),
            [.launch(2)]
        ),
        (
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(21, .closure)],
                managers: [.init(hasVersionChanges: true)]),
            [.launch(3, .inTwo(through: 10)), .lose(.files), .launch(1), .launch(2)]
        ),
        (
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1),
                    .init(20, .transaction, in: .database(0), onFreshInstall: .only),
                ], move: .init(20), managers: [.init(), .init()]),
            [.launch(3, .through(10)), .launch(2), .write(.append), .launch(3)]
        ),
        (
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .deferredClosure),
                    .init(30, .closure, onFreshInstall: .run, finishes: 21),
                ]),
            [.launch(3, .inTwo(through: 20), .dies(before: 3)), .launch(1), .write(.insert), .launch(3)]
        ),
        // A manager with versions of its own could not tell that an install was new.
        (
            SmallApp(
                steps: [.init(10, .rows, in: .database(0), manager: 1)], move: .init(30),
                managers: [.init(), .init(hasOwnLine: true)]),
            [.launch(3)]
        ),
    ]

    @Test("keep their promises where a fault was found", arguments: found.indices, [false, true])
    func regressions(_ index: Int, inSQLite: Bool) throws {
        let (app, history) = Self.found[index]
        var world = try World(app, inSQLite: inSQLite)
        for event in history {
            let problem = try world.play(event).problem
            #expect(problem == nil, "\(event)")
        }
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
                outcome.changed = [0: [.files, .database(0)]]
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
        let only = SmallApp(
            steps: [.init(20, .transaction, in: .database(0), onFreshInstall: .only)],
            managers: [.init(adopting: .version)])
        #expect(problem(of: only) { $1.values[10]?.trail = [] } == "20 has run on an install that is not new")
        #expect(problem(of: only, [.launch(2)]) { _, _ in } == nil)
        #expect(problem(of: only, [.launch(2)]) { $1.runs = [:] } == "20 has not run on a new install")
    }
}
