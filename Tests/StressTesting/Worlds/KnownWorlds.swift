import SmallWorlds

/// A world that a search need not find: one that has shown a fault, or that a mutant would not survive.
package struct KnownWorld: Sendable {
    /// What is right in it.
    package let name: String
    private let app: SmallApp
    private let history: [SmallEvent]

    /// How the calls of the last event end; nil for the worlds in which that is not what matters.
    private let ending: String?

    init(_ name: String, _ app: SmallApp, _ history: [SmallEvent], endsWith ending: String? = "finished") {
        self.name = name
        self.app = app
        self.history = history
        self.ending = ending
    }

    /// Returns the first promise that does not hold, and the event after which it does not.
    package func problem(inSQLite: Bool) throws -> String? {
        var world = try World(app, inSQLite: inSQLite)
        for (index, event) in history.enumerated() {
            let (outcome, problem) = try world.play(event)
            if let problem { return "\(name): \(problem), after event \(index + 1), \(event.code)" }
            guard index == history.count - 1, let ending else { continue }
            let results = outcome.results.compactMap { $0 }.map { result in
                if case .stopped(let code) = result { code } else { "finished" }
            }
            let isRight =
                ending == "finished" ? results.allSatisfy { $0 == ending } : results.contains(ending)
            if !isRight { return "\(name): ends with \(results) instead of \(ending)" }
        }
        return nil
    }

    /// The managers of most worlds.
    static let two = [SmallApp.Manager(), SmallApp.Manager()]

    /// All of them.
    package static let all =
        found + beginnings + lives + deaths + cutShort + repairs + searched + searchedAgain + waiting + rare
        + places

    /// Worlds in which the package, or the promises, were wrong once.
    private static let found = [
        // The second manager took an old database for a new one, since the first one had adopted it.
        KnownWorld(
            "a second manager takes no old database for a new one, because the first one has adopted it",
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(), .init()]),
            [.launch(1), .write(.append), .launch(2)], endsWith: nil),
        KnownWorld(
            "a second manager takes no database that was replaced for a new one",
            SmallApp(
                steps: [
                    .init(20, .cursor, in: .database(0), manager: 1),
                    .init(
                        21, .transaction, in: .database(0), manager: 1, onFreshInstall: .run, finishes: 20),
                ], move: .init(30), managers: [.init(), .init()]),
            [.launch(1), .replace(.database(0)), .launch(3)], endsWith: nil),
        // A store in an old database believed another database about the age of its rows.
        KnownWorld(
            "a store in an old database does not believe another database about the age of its rows",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .transaction, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init()], storeInDatabase: true),
            [.launch(3, .through(20)), .replace(.database(0)), .launch(2, .through(20))], endsWith: nil),
        // These the promises have judged wrongly: what evidence says of a newer release, tables that a move has just made,
        // and values that an older release writes after a newer one.
        KnownWorld(
            "what evidence says of a newer release is no launch of it",
            SmallApp(
                steps: [.init(10, .closure, manager: 1)], move: .init(20),
                managers: [.init(adopting: .version), .init(hasOwnLine: true)], storeInDatabase: true),
            [.launch(2)], endsWith: nil),
        KnownWorld(
            "tables that a move has just made are not old",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(21, .closure)],
                managers: [.init(hasVersionChanges: true)]),
            [.launch(3, .inTwo(through: 10)), .lose(.files), .launch(1), .launch(2)], endsWith: nil),
        KnownWorld(
            "a value that an older release writes after a newer one may stay as it is",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1),
                    .init(20, .transaction, in: .database(0), onFreshInstall: .only),
                ], move: .init(20), managers: [.init(), .init()]),
            [.launch(3, .through(10)), .launch(2), .write(.append), .launch(3)], endsWith: nil),
        KnownWorld(
            "a process that dies between two managers leaves both right",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .deferredClosure),
                    .init(30, .closure, onFreshInstall: .run, finishes: 21),
                ]),
            [.launch(3, .inTwo(through: 20), .dies(before: 3)), .launch(1), .write(.insert), .launch(3)],
            endsWith: nil),
        // A manager with versions of its own could not tell that an install was new.
        KnownWorld(
            "a manager with versions of its own can tell that an install is new",
            SmallApp(
                steps: [.init(10, .rows, in: .database(0), manager: 1)], move: .init(30),
                managers: [.init(), .init(hasOwnLine: true)]),
            [.launch(3)], endsWith: nil),
        // A step in which the process has died once, and that has failed once, was taken for one that had failed twice.
        KnownWorld(
            "a closure in which the process has died once, and that has failed once, is tried again",
            SmallApp(steps: [.init(20, .closure)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .dies(before: 2)),
                .launch(2, .whole, .fails(20)), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "a step in which the process has died once, and that has failed once, is tried again",
            SmallApp(steps: [.init(20, .transaction, in: .database(0))]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .dies(before: 2)),
                .launch(2, .whole, .fails(20)), .launch(2),
            ], endsWith: nil),
        // A start that another build had written, and then not made, forgave the death.
        KnownWorld(
            "two deaths in a build count, though another build was cancelled between them",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .run),
                    .init(30, .closure, manager: 1, since: .secondBuild(of: 3)),
                ],
                managers: [.init(adopting: .version, hasVersionChanges: true), .init(adopting: .version)]),
            [
                .launch(.secondBuild(of: 3), .whole, .dies(before: 5)),
                .launch(3, .whole, .cancels(before: 2)),
                .launch(.secondBuild(of: 3), .whole, .dies(before: 2)), .launch(.secondBuild(of: 3)),
            ], endsWith: nil),
    ]
}
