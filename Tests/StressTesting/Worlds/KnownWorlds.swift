import SmallWorlds

/// A world that a search need not find: one that has shown a fault, or that a mutant would not survive.
package struct KnownWorld: Sendable {
    private let app: SmallApp
    private let history: [SmallEvent]

    private init(_ app: SmallApp, _ history: [SmallEvent]) {
        self.app = app
        self.history = history
    }

    /// Returns the first promise that does not hold, and the event after which it does not.
    package func problem(inSQLite: Bool) throws -> String? {
        var world = try World(app, inSQLite: inSQLite)
        for event in history {
            if let problem = try world.play(event).problem {
                return "\(problem), after \(event) in \(app.code)"
            }
        }
        return nil
    }

    /// All of them.
    package static let all = [
        // The second manager took an old database for a new one, since the first one had adopted it.
        KnownWorld(
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(), .init()]),
            [.launch(1), .write(.append), .launch(2)]
        ),
        KnownWorld(
            SmallApp(
                steps: [
                    .init(20, .cursor, in: .database(0), manager: 1),
                    .init(
                        21, .transaction, in: .database(0), manager: 1, onFreshInstall: .run, finishes: 20),
                ], move: .init(30), managers: [.init(), .init()]),
            [.launch(1), .replace(.database(0)), .launch(3)]
        ),
        // A store in an old database believed another database about the age of its rows.
        KnownWorld(
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .transaction, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init()], storeInDatabase: true),
            [.launch(3, .through(20)), .replace(.database(0)), .launch(2, .through(20))]
        ),
        // These the promises have judged wrongly: what evidence says of a newer release, tables that a move has just made,
        // and values that an older release writes after a newer one.
        KnownWorld(
            SmallApp(
                steps: [.init(10, .closure, manager: 1)], move: .init(20),
                managers: [.init(adopting: .version), .init(hasOwnLine: true)], storeInDatabase: true),
            [.launch(2)]
        ),
        KnownWorld(
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(21, .closure)],
                managers: [.init(hasVersionChanges: true)]),
            [.launch(3, .inTwo(through: 10)), .lose(.files), .launch(1), .launch(2)]
        ),
        KnownWorld(
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1),
                    .init(20, .transaction, in: .database(0), onFreshInstall: .only),
                ], move: .init(20), managers: [.init(), .init()]),
            [.launch(3, .through(10)), .launch(2), .write(.append), .launch(3)]
        ),
        KnownWorld(
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .deferredClosure),
                    .init(30, .closure, onFreshInstall: .run, finishes: 21),
                ]),
            [.launch(3, .inTwo(through: 20), .dies(before: 3)), .launch(1), .write(.insert), .launch(3)]
        ),
        // A manager with versions of its own could not tell that an install was new.
        KnownWorld(
            SmallApp(
                steps: [.init(10, .rows, in: .database(0), manager: 1)], move: .init(30),
                managers: [.init(), .init(hasOwnLine: true)]),
            [.launch(3)]
        ),
        // A step in which the process has died once, and that has failed once, has not failed twice.
        KnownWorld(
            SmallApp(steps: [.init(20, .closure, givesUpAfter: 2)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .dies(before: 2)),
                .launch(2, .whole, .fails(20)), .launch(2),
            ]),
        KnownWorld(
            SmallApp(steps: [.init(20, .transaction, in: .database(0), givesUpAfter: 2)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .dies(before: 2)),
                .launch(2, .whole, .fails(20)), .launch(2),
            ]),
    ]
}
