import SmallWorlds

// What the long form of the search has found: the lightest world of each kind.
extension KnownWorld {
    static let searched = judgedByThePackage + judgedByThePromises
    /// Worlds in which the package was wrong.
    private static let judgedByThePackage = [
        KnownWorld(
            "an old install that evidence tells is old, though another manager has just been called in this build",
            SmallApp(
                steps: [.init(20, .closure, manager: 1)], managers: [.init(), .init(adopting: .file)]),
            [.oldInstall, .launch(2)]),
        KnownWorld(
            "nothing is deleted before it is imported, though another manager was called first",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], move: .init(30), managers: [.init(), .init(adopting: .tables)]),
            [.oldInstall, .launch(2)]),
        KnownWorld(
            "a step runs in an old database that was put back, though a closure had its version in the store",
            SmallApp(
                steps: [
                    .init(30, .closure, manager: 1, since: .secondBuild(of: 3)),
                    .init(130, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [.launch(.secondBuild(of: 3)), .twice(3, .replace(0))]),
        KnownWorld(
            "a step for new installs waits for no deferred step",
            SmallApp(steps: [
                .init(20, .deferredClosure, onFreshInstall: .run), .init(21, .closure, finishes: 20),
                .init(30, .transaction, in: .database(0), onFreshInstall: .only),
            ]),
            [.launch(3)]),
        KnownWorld(
            "a version that the app has named for damaged data is known to the manager's store, too",
            SmallApp(
                steps: [.init(21, .rows, in: .database(0), manager: 1)], move: .init(30),
                managers: [.init(), .init(hasOwnLine: true)]),
            [
                .launch(3, .without(manager: 1)), .damage(.database(0)),
                .call(.replaceRecord(manager: 1, assuming: 30)),
                .call(.replaceRecord(manager: 0, assuming: 30)), .launch(3),
            ]),
        KnownWorld(
            "a manager whose records one of another line has replaced goes on from its own database",
            SmallApp(
                steps: [.init(20, .rows, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(), .init(hasOwnLine: true)]),
            [
                .launch(3), .damage(.files), .call(.replaceRecord(manager: 1, assuming: 10)),
                .call(.skip(.move)), .launch(3),
            ]),
        KnownWorld(
            "a death in a version change is not forgotten over a launch of an older release",
            SmallApp(
                steps: [.init(30, .deferredClosure, manager: 1)],
                managers: [.init(adopting: .version, hasVersionChanges: true), .init(adopting: .version)]),
            [
                .launch(3, .whole, .dies(before: 2)), .launch(1), .launch(3, .whole, .dies(before: 2)),
                .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a store that has lost its record does not go on without a database that cannot be read",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1)),
                    .init(21, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .tables)], storeInDatabase: true),
            [.launch(3), .damage(.database(1)), .lose(.database(0)), .launch(3)], endsWith: "damagedStore"),
    ]

    /// Worlds in which the promises asked for more than is promised, or saw something else than what had happened.
    private static let judgedByThePromises = [
        // It writes down that the launch has begun.
        KnownWorld(
            "a release that has only skipped work has been launched",
            SmallApp(
                steps: [.init(21, .cursor, in: .database(0))],
                managers: [.init(adopting: .tables, hasVersionChanges: true)]),
            [
                .launch(1), .launch(3, .whole, .dies(before: 1)),
                .call(.skip(.versionChange(0)), .dies(before: 2)), .launch(1, .fromExtension),
            ], endsWith: "newerThanThisProcess"),
        KnownWorld(
            "a release that has skipped a step of a record from a backup has been launched",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0))],
                managers: [.init(hasVersionChanges: true)], storeInDatabase: true),
            [
                .launch(1), .launch(2, .whole, .cancels(before: 0)), .call(.rerun(.step(10))), .launch(3),
                .restore(.database(0), after: 3), .call(.skip(.step(10))), .launch(2),
            ]),
        KnownWorld(
            "work that cannot be skipped has not been",
            SmallApp(
                steps: [
                    .init(20, .closure, manager: 1, onFreshInstall: .run), .init(21, .rows, in: .database(0)),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(3, .whole, .dies(before: 7)), .launch(2, .without(manager: 1)),
                .call(.skip(.step(20))), .launch(3),
            ]),
        KnownWorld(
            "a death after progress in a schema is not one without",
            SmallApp(move: .init(20)),
            [.launch(2, .whole, .dies(before: 4)), .launch(2, .whole, .dies(before: 3)), .launch(2)]),
        // It may have been written down, or not.
        KnownWorld(
            "a death behind the closures for a version change may count as one in them",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0), manager: 1)],
                managers: [.init(hasVersionChanges: true), .init()], storeInDatabase: true),
            [
                .launch(2), .launch(3, .whole, .dies(before: 2)), .launch(3, .whole, .dies(before: 4)),
                .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a step for new installs too in which the process dies too often is not tried again in that build",
            SmallApp(
                steps: [.init(30, .transaction, in: .database(0), manager: 1, onFreshInstall: .run)],
                managers: two),
            [
                .launch(3, .without(manager: 0), .dies(before: 3)), .launch(3, .whole, .dies(before: 4)),
                .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a launch runs a deferred step that must come first, also if all steps are to run again",
            SmallApp(
                steps: [.init(30, .transaction, in: .database(0)), .init(121, .deferredClosure)],
                move: .init(30, finishes: 21)),
            [.launch(3), .call(.rerunAllSteps(manager: 0)), .launch(3)]),
        KnownWorld(
            "a new database is no old one, though all steps of the manager run again",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(130, .rows, in: .database(0)),
                ], managers: [.init(adopting: .file), .init(adopting: .file)]),
            [.launch(3, .whole, .dies(before: 2)), .call(.rerunAllSteps(manager: 0)), .launch(3)]),
        KnownWorld(
            "managers of two lines each name a version for the damaged records of a place",
            SmallApp(
                steps: [.init(30, .deferredClosure, manager: 1)],
                managers: [.init(), .init(hasOwnLine: true)]
            ),
            [
                .launch(3), .damage(.files), .call(.replaceRecord(manager: 1, assuming: 10)),
                .call(.replaceRecord(manager: 0, assuming: 10)), .launch(3),
            ]),
        KnownWorld(
            "tables of a version that another database has named are not new with this build",
            SmallApp(
                steps: [.init(20, .imports, in: .database(1), manager: 1)],
                managers: [.init(adopting: .tables), .init(adopting: .tables)], storeInDatabase: true),
            [.twice(2, .lose(0)), .twice(2, .replace(1))]),
        KnownWorld(
            "a new database begins no more certainly than a store that was lost",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(20, .imports, in: .database(1), manager: 1),
                ], managers: [.init(), .init(since: 2)]),
            [
                .launch(3), .lose(.files), .launch(2), .restore(.files, after: 2), .twice(1, .lose(1)),
                .launch(2),
            ]),
        // What an older release writes after a newer one, a later step may destroy.
        KnownWorld(
            "a database that a newer release has used imports nothing that an older one writes",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0), manager: 1), .init(21, .removal, manager: 1),
                ], managers: two),
            [.launch(3), .lose(.files), .launch(1), .write(.append), .launch(2)]),
        KnownWorld(
            "a database may have noted that a launch was complete before the process died",
            SmallApp(
                steps: [
                    .init(30, .transaction, in: .database(0), manager: 1), .init(130, .closure, manager: 1),
                ],
                managers: [
                    .init(adopting: .version, hasVersionChanges: true),
                    .init(adopting: .version, hasOwnLine: true),
                ]),
            [.oldInstall, .launch(3, .whole, .dies(before: 10)), .restore(.files, after: 1), .launch(3)]),
        KnownWorld(
            "a death may not be counted where a release without that database is launched next",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0)), .init(21, .closure, manager: 1),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .version, since: .secondBuild(of: 2))]),
            [
                .launch(3, .whole, .dies(before: 10)), .launch(3, .whole, .dies(before: 3)),
                .launch(.secondBuild(of: 2)), .launch(3),
            ]),
        KnownWorld(
            "files that come back beside a database that was new in an old install are as old as that install",
            SmallApp(
                steps: [
                    .init(30, .rows, in: .database(0), manager: 1), .init(130, .closure, manager: 1),
                ], move: .init(20), managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .oldInstall, .launch(3, .whole, .dies(before: 6)), .launch(3), .restore(.files, after: 2),
                .launch(3),
            ]),
        KnownWorld(
            "a database of which a record may have been removed may not be listed in a downgrade",
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0), manager: 1)],
                managers: [.init(), .init(adopting: .version)]),
            [
                .launch(3, .whole, .dies(before: 4)),
                .call(.removeRecord(manager: 1), .dies(before: 2)), .twice(2, .lose(0)),
            ]),
        KnownWorld(
            "a deferred step visits rows that are written while it waits behind another one",
            SmallApp(
                steps: [
                    .init(30, .deferredClosure, manager: 1, since: .secondBuild(of: 3)),
                    .init(130, .rows, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(), .init(adopting: .tables, hasOwnLine: true)]),
            [.launch(.secondBuild(of: 3)), .write(.append), .runDeferred(batches: nil)]),
        KnownWorld(
            "files that come back from before the app took an install for a new one keep their form",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .closure),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: two),
            [.oldInstall, .twice(2, .lose(0)), .restore(.files, after: 1), .launch(2)]),
        KnownWorld(
            "a deferred step waits for one that another step has already finished elsewhere",
            SmallApp(
                steps: [
                    .init(20, .rows, in: .database(0), manager: 1),
                    .init(21, .transaction, in: .database(1), manager: 1, finishes: 20),
                    .init(30, .cursor, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .tables)]),
            [
                .launch(2), .twice(1, .replace(0)), .launch(3), .runDeferred(batches: nil, .postpones(20)),
            ]),
        KnownWorld(
            "a downgrade retries nothing, and forgets no death",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .only),
                    .init(30, .cursor, in: .database(0), manager: 1),
                ], managers: two),
            [
                .launch(3, .whole, .dies(before: 3)), .launch(3, .whole, .dies(before: 3)), .launch(3),
                .launch(2, .retrying(.step(10))), .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "an install that has lost its store and was new then imports no files",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1)), .init(21, .removal),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)], storeInDatabase: true),
            [
                .launch(1), .write(.insert), .lose(.database(0)), .launch(2), .twice(1, .lose(0)), .launch(3),
            ]),
        KnownWorld(
            "what a build has been answered for one manager is no evidence for another in its next launch",
            SmallApp(
                steps: [
                    .init(30, .closure, manager: 1), .init(130, .cursor, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .file)]),
            [
                .oldInstall, .launch(3), .restore(.files, after: 1), .launch(3, .whole, .dies(before: 2)),
                .launch(3),
            ]),
    ]
}
