import SmallWorlds

// Where a manager begins.
extension KnownWorld {
    /// Nothing older than the earliest release that was launched is in the data, and nothing of the manager has run.
    static let beginnings = late + fresh + answers + databases + stores

    private static let late = [
        KnownWorld(
            "a manager that an earlier one kept from being reached at 2.0 runs 2.0 in the next release",
            SmallApp(
                steps: [
                    .init(20, .closure), .init(120, .closure, manager: 1), .init(30, .closure, manager: 1),
                ],
                managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(2, .whole, .fails(20)), .launch(3)]),
        KnownWorld(
            "a manager that is called first in a later release runs 2.0",
            SmallApp(
                steps: [
                    .init(10, .closure), .init(20, .closure, manager: 1), .init(30, .closure, manager: 1),
                ],
                managers: [.init(), .init(since: 3)]),
            [.launch(1), .write(.append), .launch(2), .launch(3)]),
        KnownWorld(
            "a manager that was not called at 2.0 runs 2.0",
            SmallApp(
                steps: [.init(10, .closure), .init(20, .closure, manager: 1)],
                managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(2, .without(manager: 1)), .launch(3)]),
        KnownWorld(
            "what a new install needs too runs in a manager that was not reached in its first launch",
            SmallApp(
                steps: [
                    .init(20, .closure, onFreshInstall: .run),
                    .init(120, .closure, manager: 1, onFreshInstall: .run),
                ], managers: two),
            [.launch(2, .whole, .fails(20)), .launch(3)]),
        KnownWorld(
            "a manager that comes while a newer release was tried begins before both",
            SmallApp(
                steps: [
                    .init(30, .closure), .init(120, .closure, manager: 1), .init(130, .closure, manager: 1),
                ], managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(3, .whole, .diesIn(30)), .launch(2), .launch(3)]),
        KnownWorld(
            "a visit of an older release is not where a manager begins",
            SmallApp(
                steps: [
                    .init(10, .closure), .init(20, .closure, manager: 1), .init(30, .closure, manager: 1),
                ],
                managers: [.init(), .init(since: 3)]),
            [.launch(2), .write(.append), .launch(1), .launch(3)]),
        KnownWorld(
            "a plug-in of its own line meets a database that is new in this upgrade",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0)), .init(120, .cursor, in: .database(0), manager: 1),
                ],
                managers: [.init(), .init(since: 2, hasOwnLine: true)]),
            [.launch(1), .launch(2)]),
    ]

    private static let fresh = [
        KnownWorld(
            "a first launch that was cut short is continued by the same build as that of a new install",
            SmallApp(
                steps: [.init(20, .closure, onFreshInstall: .run), .init(120, .closure, manager: 1)],
                managers: two),
            [.launch(2, .whole, .diesIn(20)), .launch(2)]),
        KnownWorld(
            "a first launch that was cut short is continued by another build as one that begins at that version",
            SmallApp(
                steps: [
                    .init(20, .closure, onFreshInstall: .run),
                    .init(120, .closure, manager: 1, onFreshInstall: .run),
                    .init(21, .closure, manager: 1, since: .secondBuild(of: 2)),
                ], managers: two),
            [.launch(2, .whole, .diesIn(20)), .launch(.secondBuild(of: 2))]),
        KnownWorld(
            "a step that a later build gives a manager in another manager's database runs on a new install",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(21, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 2)),
                ], managers: two),
            [.launch(2), .write(.append), .launch(.secondBuild(of: 2))]),
        KnownWorld(
            "a manager that a later build brings runs the sub-migration of that build",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(21, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 2)),
                ],
                managers: [.init(adopting: .tables), .init(adopting: .tables, since: .secondBuild(of: 2))]),
            [.launch(2), .write(.append), .launch(.secondBuild(of: 2))]),
        KnownWorld(
            "a late step for the version at which an install has begun is not needed there",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)), .init(20, .cursor, in: .database(0), since: 3),
                    .init(30, .transaction, in: .database(0), finishes: 20),
                ]),
            [.launch(2), .write(.append), .launch(3, .inTwo(through: 10))]),
        KnownWorld(
            "a database in which nothing has made tables is new for the plug-in that keeps its record there",
            SmallApp(
                steps: [
                    .init(10, .closure, manager: 1, onFreshInstall: .only),
                    .init(21, .cursor, in: .database(0)),
                    .init(30, .transaction, in: .database(1), onFreshInstall: .run, finishes: 21),
                ],
                managers: [.init(adopting: .version), .init(adopting: .tables, hasOwnLine: true)],
                storeInDatabase: true),
            [.launch(3, .inTwo(through: 10))]),
        KnownWorld(
            "a step over the rows of a table that is not there stops a manager",
            SmallApp(
                steps: [
                    .init(20, .rows, in: .database(0), manager: 1),
                    .init(21, .transaction, in: .database(0), manager: 1, finishes: 20),
                ], managers: [.init(adopting: .version), .init(adopting: .version)], storeInDatabase: true),
            // In memory, a table that is not there has no rows.
            [.launch(2)], endsWith: nil),
    ]

    private static let answers = [
        KnownWorld(
            "an exact answer stands, whatever was launched before",
            SmallApp(
                steps: [.init(10, .closure), .init(20, .closure, manager: 1)],
                managers: [.init(), .init(adopting: .version, since: 3)]),
            [.launch(2), .write(.append), .launch(3)]),
        KnownWorld(
            "an exact answer stands beside a bound, whatever was launched before",
            SmallApp(
                steps: [.init(10, .closure), .init(20, .closure, manager: 1)],
                managers: [.init(), .init(adopting: .file, or: .version, since: 3)]),
            [.launch(2), .write(.append), .launch(3)]),
        KnownWorld(
            "a bound means nothing older than what was launched first",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(20, .closure, manager: 1)],
                managers: [.init(), .init(adopting: .tables, since: 3)]),
            [.launch(2), .write(.append), .launch(3)]),
    ]

    private static let databases = [
        KnownWorld(
            "an import into a database that an upgrade brings runs, before its file is deleted",
            SmallApp(steps: [.init(20, .imports, in: .database(1)), .init(21, .removal)]),
            [.launch(1), .write(.append), .launch(2)]),
        KnownWorld(
            "an import runs on an install that a file tells to be old",
            SmallApp(
                steps: [.init(20, .imports, in: .database(1)), .init(21, .removal)],
                managers: [.init(adopting: .file)]),
            [.oldInstall, .launch(2)]),
        KnownWorld(
            "an import in which the process has died runs in the next launch",
            SmallApp(steps: [.init(20, .imports, in: .database(1)), .init(21, .removal)]),
            [.launch(1), .write(.append), .launch(2, .whole, .diesIn(20)), .launch(2)]),
        KnownWorld(
            "nothing is imported into a database that a later build brings to an install of the same version",
            SmallApp(steps: [
                .init(10, .closure), .init(21, .imports, in: .database(1), since: .secondBuild(of: 2)),
            ]),
            [.launch(2), .launch(.secondBuild(of: 2))]),
        KnownWorld(
            "a cache that was deleted and made anew is new",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(1)), .init(20, .transaction, in: .database(0)),
            ]),
            [.launch(1), .launch(2), .lose(.database(0)), .launch(2)]),
        KnownWorld(
            "a cache that was deleted and made anew is new in an upgrade, too",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(0)), .init(20, .closure),
                .init(30, .transaction, in: .database(0)),
            ]),
            [.launch(1), .launch(2), .lose(.database(0)), .launch(3)]),
        KnownWorld(
            "tables that another manager made a moment ago are as new as the install",
            SmallApp(
                steps: [.init(120, .transaction, in: .database(0), manager: 1, onFreshInstall: .only)],
                move: .init(20), managers: two),
            [.launch(1), .lose(.database(0)), .launch(2)]),
        KnownWorld(
            "the rows of a database that a backup has brought back are migrated",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(0)), .init(20, .transaction, in: .database(0)),
            ]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)),
                .restore(.database(0), after: 2), .launch(2),
            ]),
        KnownWorld(
            "what a new install needs too runs in a database that is erased between two calls of one manager",
            SmallApp(steps: [.init(20, .transaction, in: .database(0), onFreshInstall: .run)]),
            [.launch(2), .twice(2, .lose(0))]),
        KnownWorld(
            "an old database that takes the place of another between two calls of one manager is migrated",
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0))], managers: [.init(adopting: .version)]),
            [.twice(2, .replace(0))]),
    ]

    private static let stores = [
        KnownWorld(
            "a manager whose own database has completed nothing begins where that begins, if the store is lost",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(20, .transaction, in: .database(0), manager: 1), .init(21, .closure, manager: 1),
                ], managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(2, .whole, .fails(20)), .lose(.files), .launch(3)]),
        KnownWorld(
            "a manager whose own database has completed 2.0 begins there, if the store is lost",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(20, .transaction, in: .database(0), manager: 1), .init(30, .closure, manager: 1),
                ], managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(2), .lose(.files), .launch(3)]),
        KnownWorld(
            "files that a backup has brought back with their record get what they lack",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(20, .closure, manager: 1)],
                managers: [.init(), .init(since: 2)]),
            [.launch(1), .write(.append), .launch(2), .restore(.files, after: 2), .launch(2)]),
        KnownWorld(
            "deferred work outside databases is done, though the store is lost while it waits",
            SmallApp(steps: [.init(10, .transaction, in: .database(0)), .init(20, .deferredClosure)]),
            [.launch(1), .write(.append), .launch(2), .lose(.files), .launch(2), .runDeferred()]),
    ]
}
