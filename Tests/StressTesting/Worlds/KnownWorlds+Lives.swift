import SmallWorlds

// What becomes of a piece of work, and of no other.
extension KnownWorld {
    static let lives = skipped + finishing + others

    private static let skipped = [
        KnownWorld(
            "a schema step cannot be skipped, and takes no closure of its version along",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(20, .closure)], move: .init(20)),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(1)), .launch(2, .whole, .diesIn(1)),
                .launch(2), .call(.skip(.move)), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "a version change that is skipped takes no deferred step of its version along",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(20, .cursor, in: .database(0))],
                managers: [.init(hasVersionChanges: true)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(-1)), .launch(2, .whole, .diesIn(-1)),
                .launch(2), .call(.skip(.versionChange(0))), .launch(2), .runDeferred(),
            ]),
        KnownWorld(
            "a step that is skipped in one database runs in another",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(0)), .init(110, .transaction, in: .database(1)),
                .init(20, .transaction, in: .database(0)), .init(120, .transaction, in: .database(1)),
            ]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)), .launch(2, .whole, .diesIn(20)),
                .launch(2), .call(.skip(.step(20))), .launch(2),
            ]),
        KnownWorld(
            "a step that runs again in a database runs no other of its version",
            SmallApp(
                steps: [
                    .init(10, .closure, onFreshInstall: .only), .init(110, .transaction, in: .database(0)),
                ], managers: [.init(adopting: .version)]),
            [.oldInstall, .launch(2), .call(.rerun(.step(110))), .launch(2)]),
        KnownWorld(
            "a step for new installs does not run again",
            SmallApp(
                steps: [.init(20, .closure, onFreshInstall: .only)], managers: [.init(adopting: .version)]),
            [.oldInstall, .launch(2), .call(.rerun(.step(20))), .launch(2)]),
        KnownWorld(
            "work that is retried begins again",
            SmallApp(steps: [.init(20, .closure)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)), .launch(2, .whole, .diesIn(20)),
                .launch(2), .launch(2, .retrying(.step(20))), .launch(2),
            ]),
    ]

    private static let finishing = [
        KnownWorld(
            "a database that comes back from a backup has its deferred step done before what finishes it",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)), .init(20, .rows, in: .database(0)),
                    .init(30, .closure, finishes: 20),
                ], move: .init(30)),
            [
                .launch(1), .write(.append), .launch(2), .launch(3), .restore(.database(0), after: 3),
                .launch(3),
            ]),
        KnownWorld(
            "a schema step waits for a deferred step that the closure of its version finishes",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)), .init(20, .cursor, in: .database(0)),
                    .init(30, .closure, finishes: 20),
                ], move: .init(30)),
            [.launch(1), .write(.append), .launch(3)]),
    ]

    private static let others = [
        KnownWorld(
            "a launch that stops at 1.0 runs no later step for new installs",
            SmallApp(
                steps: [
                    .init(10, .closure, onFreshInstall: .run),
                    .init(21, .transaction, in: .database(0), onFreshInstall: .only),
                ]),
            [.launch(3, .through(10))])
    ]
}
