import SmallWorlds

// What the second long search has found: the lightest world of each kind.
extension KnownWorld {
    static let searchedAgain = judgedByThePackageAgain + judgedByThePromisesAgain
    private static let plugIn = [SmallApp.Manager(), SmallApp.Manager(hasOwnLine: true)]

    /// Worlds in which the package was wrong.
    private static let judgedByThePackageAgain = [
        // The store named a database that had no record yet, and took it for one made anew.
        KnownWorld(
            "a database of which the process died before it was written is not one made anew",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(20, .transaction, in: .database(0), manager: 1),
                    .init(30, .transaction, in: .database(0), since: .secondBuild(of: 3)),
                ], managers: two),
            [
                .launch(2, .whole, .dies(before: 2)), .launch(3), .write(.insert),
                .launch(.secondBuild(of: 3)),
            ]),
        // In SQLite, where both databases are in memory and have one name.
        KnownWorld(
            "a new database is not one made anew because another one has its name",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(20, .imports, in: .database(1), manager: 1),
                ], managers: two),
            [.launch(1), .write(.insert), .launch(2)]),
        KnownWorld(
            "a database is one made anew although another one, in which no launch was completed, has its name",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1), .init(20, .imports, in: .database(1)),
                ], move: .init(30),
                managers: [.init(adopting: .file, hasVersionChanges: true), .init(adopting: .file)]),
            [
                .launch(1), .launch(3, .whole, .dies(before: 10)), .restore(.database(1), after: 1),
                .launch(2), .restore(.database(1), after: 1), .launch(3),
            ]),
        // Build 1 of 2.0 was taken for build 1 of 3.0.
        KnownWorld(
            "builds of two versions are two builds, also for a manager with versions of its own",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(21, .rows, in: .database(0)),
                ],
                managers: [
                    .init(),
                    .init(adopting: .version, since: .secondBuild(of: 2), hasOwnLine: true),
                ]),
            [
                .launch(.secondBuild(of: 2)), .call(.removeRecord(manager: 1)), .twice(2, .lose(0)),
                .launch(3, .without(manager: 0)),
            ]),
        KnownWorld(
            "tables that a plug-in has made in this build are new",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0), manager: 1, onFreshInstall: .run),
                    .init(30, .transaction, in: .database(0)),
                ], managers: plugIn),
            [
                .launch(2, .without(manager: 1)), .launch(3, .without(manager: 0)),
                .call(.skip(.step(30))), .launch(3),
            ]),
        KnownWorld(
            "a database in which this build of a plug-in has been begins as the store stands",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0), manager: 1),
                    .init(21, .cursor, in: .database(0)),
                ], managers: [.init(adopting: .file), .init(adopting: .file, hasOwnLine: true)]),
            [.launch(3, .without(manager: 0)), .launch(1), .launch(3)]),
        KnownWorld(
            "a database in which this build of a plug-in has been stops no manager that comes later",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), since: .secondBuild(of: 1)),
                    .init(20, .rows, in: .database(0), manager: 1),
                ], managers: plugIn),
            [.launch(2, .without(manager: 0)), .launch(1), .launch(2)]),
        KnownWorld(
            "a database in which this build of a plug-in has been is no old one",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), since: 2),
                    .init(21, .rows, in: .database(0), manager: 1),
                ], managers: plugIn),
            [.launch(3, .without(manager: 0)), .launch(1), .launch(3)]),
        KnownWorld(
            "a launch that was cut short before a release came back leaves the import to that",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [.oldInstall, .launch(3, .whole, .dies(before: 3)), .launch(2), .launch(3)]),
        KnownWorld(
            "a database that is lost before its import was complete is imported anew, after a release came back",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: two),
            [
                .launch(1), .write(.insert), .launch(3, .through(20)), .twice(1, .lose(1)), .launch(2),
                .launch(3),
            ]),
        KnownWorld(
            "a store that knows this launch alone does not go on without a database that cannot be read",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .run),
                    .init(20, .transaction, in: .database(1), manager: 1),
                ], managers: two, storeInDatabase: true),
            [.launch(3), .damage(.database(1)), .lose(.database(0)), .launch(2)],
            endsWith: "damagedStore"),
        KnownWorld(
            "a ledger says nothing of a plug-in whose records the app has replaced",
            SmallApp(
                steps: [.init(20, .imports, in: .database(1), manager: 1)], move: .init(30),
                managers: [.init(adopting: .version), .init(hasOwnLine: true)], storeInDatabase: true),
            [
                .launch(3), .damage(.database(0)), .call(.replaceRecord(manager: 0, assuming: 10)),
                .launch(3, .without(manager: 0)),
            ], endsWith: "damagedStore"),
        KnownWorld(
            "a store that knows this launch and a visit does not go on without a database that cannot be read",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(1), manager: 1),
                    .init(120, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .tables)], storeInDatabase: true),
            [
                .launch(3), .damage(.database(1)), .twice(3, .lose(0)), .launch(1), .launch(3),
            ], endsWith: "damagedStore"),
        KnownWorld(
            "an install with a database that the app has said to be at a version is not new",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 1)),
                    .init(30, .closure, manager: 1, onFreshInstall: .only),
                ], managers: two),
            [
                .launch(3, .whole, .dies(before: 2)), .launch(.secondBuild(of: 1)), .damage(.database(0)),
                .call(.replaceRecord(manager: 1, assuming: 10)), .launch(3),
            ]),
    ]

    /// Worlds in which the promises asked for more than is promised, or saw something else than what had happened.
    private static let judgedByThePromisesAgain = [
        // The app's mistake: the documentation of `newApp` warns of it.
        KnownWorld(
            "files that an app takes for those of a new install need no import",
            SmallApp(steps: [.init(20, .imports, in: .database(0)), .init(21, .removal)]),
            [.oldInstall, .launch(2), .lose(.files), .launch(2)]),
        KnownWorld(
            "files that an app takes for those of a new install, put back from a backup, need none either",
            SmallApp(steps: [.init(20, .imports, in: .database(0)), .init(21, .removal)]),
            [.oldInstall, .launch(2), .restore(.files, after: 1), .launch(2)]),
        // Whether the database noted that the launch was complete, nobody knows; so nor where the second manager begins.
        KnownWorld(
            "a manager begins no more certainly than what another one has kept",
            SmallApp(
                steps: [.init(120, .transaction, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(adopting: .version), .init(adopting: .file)]),
            [.launch(3, .whole, .dies(before: 5)), .lose(.files), .launch(3)]),
        // Only the steps that are registered run again.
        KnownWorld(
            "a step of a version at which a database has begun is not needed, though the others ran again",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0), since: .secondBuild(of: 1))],
                storeInDatabase: true),
            [.launch(1), .call(.rerunAllSteps(manager: 0)), .launch(1), .write(.append), .launch(3)]),
        KnownWorld(
            "a closure of a version at which the store has begun is not needed, though the others ran again",
            SmallApp(
                steps: [
                    .init(10, .closure, since: 2), .init(21, .transaction, in: .database(0), manager: 1),
                ],
                managers: two),
            [.launch(1), .call(.rerunAllSteps(manager: 0)), .launch(1), .write(.append), .launch(3)],
            endsWith: nil),
        KnownWorld(
            "a closure of a later build is not needed where this version began, though the others ran again",
            SmallApp(
                steps: [
                    .init(20, .closure, since: .secondBuild(of: 2)),
                    .init(21, .rows, in: .database(0), manager: 1),
                ], managers: two),
            [
                .launch(2), .write(.insert), .call(.rerunAllSteps(manager: 0)),
                .launch(.secondBuild(of: 2)),
            ]),
        KnownWorld(
            "a deferred closure that is not needed holds up no step, though the others ran again",
            SmallApp(
                steps: [
                    .init(20, .deferredClosure, manager: 1, since: .secondBuild(of: 2)),
                    .init(21, .transaction, in: .database(0), manager: 1, since: 3, finishes: 20),
                ], managers: [.init(), .init(adopting: .file)]),
            [
                .oldInstall, .launch(3), .call(.removeRecord(manager: 1), .dies(before: 2)), .launch(2),
                .call(.rerunAllSteps(manager: 1)), .launch(3),
            ]),
        KnownWorld(
            "deaths in a step for new installs alone stay, when the others are to run again",
            SmallApp(
                steps: [
                    .init(10, .closure, manager: 1, onFreshInstall: .only),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(hasVersionChanges: true), .init()]),
            [
                .launch(3, .whole, .dies(before: 4)), .call(.rerunAllSteps(manager: 1)), .launch(1),
                .launch(3, .whole, .dies(before: 5)), .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "deaths in a schema step may not be counted over a release without it",
            SmallApp(
                steps: [.init(30, .transaction, in: .database(0), manager: 1)], move: .init(30), managers: two
            ),
            [
                .launch(3, .whole, .dies(before: 3)), .launch(3, .whole, .dies(before: 3)), .launch(2),
                .launch(3),
            ]),
        KnownWorld(
            "deaths in a version change go with the record",
            SmallApp(
                steps: [.init(20, .rows, in: .database(0), manager: 1)],
                managers: [.init(adopting: .version, hasVersionChanges: true), .init(adopting: .version)]),
            [
                .launch(3, .whole, .dies(before: 2)), .launch(3, .whole, .dies(before: 3)),
                .call(.removeRecord(manager: 0)), .launch(2), .launch(3),
            ]),
        // A call that was cut short may have found a death, and nothing else.
        KnownWorld(
            "deaths in a schema step may stay when the process dies in the removal of the record",
            SmallApp(steps: [.init(21, .deferredClosure, manager: 1)], move: .init(20), managers: two),
            [
                .launch(3, .whole, .dies(before: 3)), .launch(3, .whole, .dies(before: 3)),
                .call(.removeRecord(manager: 0), .dies(before: 3)), .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "deaths in a step may stay when the process dies while it is skipped",
            SmallApp(steps: [.init(20, .imports, in: .database(0)), .init(21, .removal)]),
            [
                .launch(2), .call(.rerun(.step(21))), .launch(3, .whole, .dies(before: 3)),
                .launch(3, .whole, .dies(before: 4)), .call(.skip(.step(21)), .dies(before: 2)),
                .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "a database that is lost after a visit of another release may not be a new install's",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .only), .init(20, .closure),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: two),
            [.launch(3, .whole, .failsAlways(10)), .launch(2, .through(10)), .twice(3, .lose(0))],
            endsWith: nil),
        KnownWorld(
            "only the first build of a version is noted",
            SmallApp(
                steps: [
                    .init(20, .closure, manager: 1),
                    .init(30, .transaction, in: .database(1), since: .secondBuild(of: 3)),
                ], managers: [.init(adopting: .tables), .init(adopting: .file)], storeInDatabase: true),
            [
                .launch(.secondBuild(of: 3), .through(20)), .twice(3, .lose(1)),
                .launch(.secondBuild(of: 3)),
            ], endsWith: "undecided"),
        KnownWorld(
            "where a launch is later than the bound that the app gives, it has named no version",
            SmallApp(
                steps: [
                    .init(30, .rows, in: .database(1), manager: 1, since: .secondBuild(of: 3)),
                    .init(130, .cursor, in: .database(0), manager: 1),
                ], move: .init(30), managers: [.init(), .init(adopting: .tables)]),
            [
                .launch(.secondBuild(of: 3), .whole, .dies(before: 3)), .launch(3),
                .launch(.secondBuild(of: 3)),
            ], endsWith: "undecided"),
        KnownWorld(
            "a new database begins no more certainly than a store that was lost before",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1), manager: 1, onFreshInstall: .run),
                    .init(20, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [
                .launch(2, .inTwo(through: 10), .dies(before: 8)), .lose(.files),
                .launch(3, .whole, .failsAlways(20)), .lose(.database(0)), .launch(3),
            ], endsWith: "stepFailed"),
        KnownWorld(
            "a schema step has got further when the app has made its tables",
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0), manager: 1)], move: .init(30),
                managers: two,
                storeInDatabase: true),
            [
                .launch(3, .whole, .dies(before: 2)), .launch(2), .launch(3, .whole, .dies(before: 2)),
                .launch(3),
            ]),
        KnownWorld(
            "a deferred closure may have been waiting when the store was lost",
            SmallApp(
                steps: [
                    .init(10, .deferredClosure, manager: 1),
                    .init(
                        21, .transaction, in: .database(1), manager: 1, onFreshInstall: .run, finishes: 10),
                ], managers: two, storeInDatabase: true),
            [.launch(3), .write(.append), .twice(3, .lose(0)), .twice(3, .lose(1))], endsWith: nil),
        KnownWorld(
            "files are removed once they are in the database that imports them, whichever that is",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [.oldInstall, .launch(3)]),
        KnownWorld(
            "a store that knows nothing hears from its databases what was launched first",
            SmallApp(
                steps: [
                    .init(10, .cursor, in: .database(1)),
                    .init(130, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(hasVersionChanges: true), .init()]),
            [.launch(3), .twice(2, .lose(0)), .lose(.files), .launch(2), .launch(3)], endsWith: nil),
        KnownWorld(
            "a version change that is cancelled behind its closures is done",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(30, .rows, in: .database(0), since: .secondBuild(of: 3)),
                ], move: .init(20), managers: [.init(hasVersionChanges: true), .init()]),
            [
                .launch(3, .inTwo(through: 10), .cancels(before: 1)), .launch(2),
                .launch(.secondBuild(of: 3), .whole, .dies(before: 5)),
                .launch(.secondBuild(of: 3), .whole, .cancels(before: 3)),
                .launch(.secondBuild(of: 3), .whole, .dies(before: 2)), .launch(.secondBuild(of: 3)),
            ], endsWith: nil),
        KnownWorld(
            "files that come back from a backup are not imported again",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [.oldInstall, .twice(2, .replace(1)), .restore(.files, after: 1), .launch(3)]),
        KnownWorld(
            "an extension does not know that tables are new with this build",
            SmallApp(
                steps: [
                    .init(21, .transaction, in: .database(0), manager: 1), .init(30, .rows, in: .database(0)),
                ], managers: [.init(), .init(since: 3, hasOwnLine: true)]),
            [.launch(3, .without(manager: 0)), .launch(2), .launch(3, .fromExtension)],
            endsWith: "undecided"),
        // It has found the death, and stopped at what cannot be read.
        KnownWorld(
            "what could not be skipped, because a database is damaged, runs",
            SmallApp(
                steps: [
                    .init(10, .cursor, in: .database(0), manager: 1),
                    .init(20, .closure, manager: 1, onFreshInstall: .run),
                ], managers: two),
            [
                .launch(2, .whole, .dies(before: 4)), .damage(.database(0)), .call(.skip(.step(20))),
                .lose(.database(0)), .launch(2),
            ]),
        // It has found the death of the one before.
        KnownWorld(
            "a release that has died at its first change may not have been launched",
            SmallApp(
                steps: [.init(10, .rows, in: .database(1), manager: 1)], move: .init(30), managers: plugIn,
                storeInDatabase: true),
            [.launch(3, .whole, .dies(before: 2)), .launch(2, .whole, .dies(before: 2)), .launch(3)]),
        KnownWorld(
            "a bound gives way to a release that a database has seen, where the store has lost all",
            SmallApp(
                steps: [
                    .init(30, .rows, in: .database(0), manager: 1, since: .secondBuild(of: 3))
                ], move: .init(30),
                managers: [.init(adopting: .tables, hasVersionChanges: true), .init(adopting: .tables)]),
            [
                .launch(3), .lose(.files), .launch(.secondBuild(of: 3), .without(manager: 0)), .launch(1),
                .launch(3),
            ]),
    ]
}
