import SmallWorlds

extension KnownWorld {
    /// Worlds of which random ones find one in a million.
    static let rare = [
        KnownWorld(
            "a deferred step waits for one that a downgrade holds",
            SmallApp(
                steps: [
                    .init(20, .closure), .init(30, .closure, manager: 1),
                    .init(120, .rows, in: .database(0)),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [.launch(3, .whole, .postpones(20)), .twice(2, .replace(0)), .runDeferred()], endsWith: nil),
        KnownWorld(
            "a database that an import brings is no evidence of an old install",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0)), .init(21, .removal),
                    .init(30, .cursor, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init()]),
            [.oldInstall, .launch(2, .without(manager: 0)), .launch(3)]),
        KnownWorld(
            "an install with a database that was said to be at a version is not a new one",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1), .init(20, .imports, in: .database(1)),
                    .init(121, .cursor, in: .database(0)),
                ], managers: two),
            [
                .launch(3, .without(manager: 0)), .damage(.database(0)),
                .call(.replaceRecord(manager: 1, assuming: 10)), .launch(3),
            ]),
        KnownWorld(
            "a closure and a step of one version run once each, with their store in that database",
            SmallApp(
                steps: [.init(20, .closure), .init(120, .transaction, in: .database(0))],
                managers: [.init(adopting: .version)], storeInDatabase: true),
            [.oldInstall, .launch(2, .whole, .fails(120)), .launch(2), .launch(2)]),
        KnownWorld(
            "a release that has one of two steps of a version leaves it to the newer one that has both",
            SmallApp(
                steps: [.init(20, .closure, since: 3), .init(120, .transaction, in: .database(0))],
                storeInDatabase: true),
            [.launch(1), .write(.append), .launch(3, .whole, .postpones(120)), .launch(2), .launch(3)]),
        KnownWorld(
            "a step that is owed in the database of the store is not owed outside it",
            SmallApp(
                steps: [
                    .init(
                        30, .rows, in: .database(0), manager: 1, since: .secondBuild(of: 3),
                        onFreshInstall: .run),
                    .init(130, .closure, manager: 1),
                ], move: .init(30), managers: two, storeInDatabase: true),
            [.launch(3, .whole, .dies(before: 5)), .launch(.secondBuild(of: 3)), .launch(3)]),
        KnownWorld(
            "a step of an earlier build is not done because its counterpart is",
            SmallApp(
                steps: [
                    .init(30, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 3)),
                    .init(130, .closure, manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)], storeInDatabase: true),
            [
                .oldInstall, .launch(3, .without(manager: 1)),
                .call(.removeRecord(manager: 1), .dies(before: 1)),
                .launch(.secondBuild(of: 3), .whole, .dies(before: 3)), .call(.skip(.step(130))),
                .restore(.database(0), after: 4), .launch(3),
            ]),
        KnownWorld(
            "a step for new installs may run where a newer release may have held the launch back",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .only),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: two),
            [.launch(2, .without(manager: 0)), .launch(3, .without(manager: 0)), .twice(2, .lose(0))],
            endsWith: nil),
        KnownWorld(
            "a first launch that a visit of an older release has interrupted goes on in the databases",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(20, .imports, in: .database(1), manager: 1),
                    .init(120, .transaction, in: .database(0), manager: 1),
                ], move: .init(30), managers: [.init(adopting: .file), .init(adopting: .file)]),
            [.launch(3, .whole, .dies(before: 9)), .launch(2), .launch(3)]),
        KnownWorld(
            "a launch that a newer release may have held back may not be complete in its databases",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1)),
                    .init(20, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(adopting: .version), .init()], storeInDatabase: true),
            [.launch(3, .without(manager: 0)), .twice(2, .lose(0))], endsWith: nil),
        KnownWorld(
            "the version assumed for a damaged store goes for a database made anew",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1),
                    .init(20, .transaction, in: .database(1), manager: 1),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [
                .launch(2, .through(10)), .damage(.files), .twice(3, .lose(1)),
                .call(.replaceRecord(manager: 1, assuming: 30)), .launch(3),
            ]),
        KnownWorld(
            "a manager may have begun in an older release that knew no newer one",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1)),
                    .init(21, .transaction, in: .database(0), manager: 1, onFreshInstall: .run),
                ], managers: [.init(hasVersionChanges: true), .init()], storeInDatabase: true),
            [.launch(2), .launch(3, .whole, .dies(before: 2)), .twice(2, .lose(0)), .launch(3)]),
        KnownWorld(
            "an old install that one manager takes for a new one is one for the next, too",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1)), .init(21, .removal),
                    .init(30, .cursor, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init()]),
            [.oldInstall, .launch(2, .without(manager: 0)), .launch(3)], endsWith: nil),
        KnownWorld(
            "a new install whose first launch a later version has continued is none for the first version",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: two),
            [.launch(1, .whole, .dies(before: 3)), .launch(3, .whole, .fails(21)), .twice(1, .lose(0))],
            endsWith: nil),
        KnownWorld(
            "the version assumed for a damaged store goes before the record of a database",
            SmallApp(
                steps: [
                    .init(20, .closure), .init(21, .rows, in: .database(0), manager: 1),
                    .init(110, .rows, in: .database(0)),
                ], managers: two),
            [
                .launch(1), .write(.append), .damage(.files), .launch(3),
                .call(.replaceRecord(manager: 0, assuming: 30)), .launch(3),
            ]),
        KnownWorld(
            "a database that a visit has made, and that is lost, is no new install's",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .only)
                ], managers: two),
            [
                .launch(3, .without(manager: 0), .dies(before: 2)), .launch(2), .lose(.database(0)),
                .launch(3),
            ]),
        KnownWorld(
            "a step that was skipped in the store is skipped where an older build has it",
            SmallApp(
                steps: [
                    .init(20, .closure, manager: 1, since: .secondBuild(of: 2), onFreshInstall: .only),
                    .init(120, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(3, .whole, .cancels(before: 0)), .call(.skip(.step(20))), .twice(2, .replace(0)),
            ], endsWith: nil),
        KnownWorld(
            "a retry of another version's change forgets nothing of this one",
            SmallApp(
                steps: [.init(20, .deferredClosure, manager: 1)],
                managers: [.init(hasVersionChanges: true), .init()]),
            [
                .launch(2), .launch(3, .whole, .dies(before: 2)), .launch(3, .whole, .dies(before: 3)),
                .launch(3), .launch(1, .retrying(.versionChange(0))), .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "tables beside a replaced record may be old",
            SmallApp(
                steps: [.init(21, .transaction, in: .database(1), manager: 1)],
                managers: [.init(), .init(adopting: .tables, since: 3)], storeInDatabase: true),
            [
                .launch(2), .damage(.database(0)), .call(.replaceRecord(manager: 0, assuming: 10)),
                .call(.removeRecord(manager: 0)), .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "files whose import the app has skipped may be removed",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(adopting: .file), .init(adopting: .file)]),
            [.oldInstall, .launch(2, .whole, .dies(before: 3)), .call(.skip(.step(20))), .launch(2)]),
        KnownWorld(
            "a step waits for one in another database that a newer release holds",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .run),
                    .init(21, .transaction, in: .database(1)), .init(120, .closure),
                ], managers: [.init(adopting: .version)]),
            [
                .launch(3, .whole, .dies(before: 7)), .twice(1, .lose(1)), .write(.append), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "an install that a manager takes for a new one is one for it, whatever another one finds",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0)), .init(21, .removal),
                    .init(30, .rows, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .file)]),
            [
                .oldInstall, .launch(3, .whole, .dies(before: 1)), .launch(2),
                .restore(.files, after: 2), .launch(3),
            ]),
        KnownWorld(
            "a deferred run that is cancelled need not have done anything",
            SmallApp(
                steps: [.init(21, .cursor, in: .database(0), manager: 1)],
                managers: [.init(), .init(adopting: .version)]),
            [
                .launch(1), .write(.append), .launch(3), .runDeferred(batches: nil, .cancels(before: 1)),
            ], endsWith: nil),
        KnownWorld(
            "files that come back are not imported into a database that was made anew",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], move: .init(30), managers: [.init(adopting: .file), .init(adopting: .tables)]),
            [.oldInstall, .twice(2, .lose(1)), .restore(.files, after: 1), .launch(2)]),
        KnownWorld(
            "files that come back are not imported into a database that a later launch has made anew",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(adopting: .file), .init(adopting: .tables)]),
            [
                .oldInstall, .launch(2), .lose(.database(1)), .launch(2), .restore(.files, after: 1),
                .launch(2),
            ]),
        KnownWorld(
            "a call stops at damaged records beside the tables that tell the version of old data",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(30, .transaction, in: .database(1), since: .secondBuild(of: 3)),
                ], managers: [.init(adopting: .tables), .init(adopting: .version)]),
            [
                .twice(2, .lose(1)), .launch(.secondBuild(of: 3)), .launch(3, .through(10)),
                .restore(.database(1), after: 1), .damage(.database(0)),
                .launch(.secondBuild(of: 3), .without(manager: 1)), .call(.skip(.step(30))),
            ], endsWith: nil),
        KnownWorld(
            "files that come back beside a database that was made anew are as old as they are",
            SmallApp(
                steps: [.init(20, .transaction, in: .database(0)), .init(21, .closure)],
                managers: [.init(adopting: .version)]),
            [
                .oldInstall, .launch(2), .lose(.database(0)), .launch(2), .restore(.files, after: 1),
                .launch(2),
            ]),
        KnownWorld(
            "a step is rerun on request, though an older release has asked, and named a newer version for what was damaged",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)),
                    .init(21, .cursor, in: .database(0), manager: 1),
                ], managers: two),
            [
                .launch(3), .damage(.database(0)), .call(.replaceRecord(manager: 0, assuming: 30)),
                .launch(2), .call(.rerunAllSteps(manager: 0)), .launch(3),
            ]),
        KnownWorld(
            "a new database is not taken for another one that is made anew",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(20, .imports, in: .database(1), manager: 1),
                ], managers: two),
            [.launch(1), .write(.append), .damage(.database(0)), .twice(2, .lose(0))]),
        KnownWorld(
            "an older release lists a database in which a newer one has not come to its end",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1), manager: 1),
                    .init(20, .transaction, in: .database(1), manager: 1, since: 3),
                ], move: .init(30), managers: two),
            [
                .launch(1, .whole, .dies(before: 4)), .launch(3, .inTwo(through: 10), .dies(before: 12)),
                .twice(2, .lose(1)), .write(.insert), .launch(3),
            ]),
        KnownWorld(
            "files that come back are not imported into a database that may have been made anew for a new install",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], move: .init(20),
                managers: [.init(), .init(adopting: .tables, since: 2, hasOwnLine: true)]),
            [
                .launch(1), .write(.insert), .twice(2, .lose(1)), .restore(.files, after: 2), .launch(2),
            ]),
        KnownWorld(
            "files that come back from before a plug-in took an install for a new one keep their form",
            SmallApp(
                steps: [
                    .init(21, .rows, in: .database(0), manager: 1), .init(121, .closure, manager: 1),
                ], managers: [.init(), .init(since: 2, hasOwnLine: true)]),
            [
                .launch(1), .write(.insert), .twice(2, .lose(0)), .restore(.files, after: 2), .launch(2),
            ]),
        KnownWorld(
            "old data that one manager takes for a new install's, as the app has said, is new for the next one",
            SmallApp(
                steps: [
                    .init(20, .cursor, in: .database(0)),
                    .init(121, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(), .init(since: .secondBuild(of: 2))]),
            [
                .launch(2), .replace(.database(0)), .call(.removeRecord(manager: 0)),
                .launch(.secondBuild(of: 2)),
            ]),
        KnownWorld(
            "no database says that a lost store has been newer, if another one says that it has not",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), onFreshInstall: .only),
                    .init(20, .imports, in: .database(1)), .init(21, .removal),
                    .init(30, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 3)),
                ],
                managers: [
                    .init(adopting: .tables), .init(adopting: .version, since: 3, hasOwnLine: true),
                ]),
            [
                .twice(1, .lose(0)), .launch(3, .through(10), .dies(before: 3)), .twice(2, .lose(0)),
                .lose(.files), .launch(2, .inTwo(through: 10), .dies(before: 3)), .lose(.database(1)),
                .launch(.secondBuild(of: 3), .without(manager: 0)), .twice(2, .lose(0)),
            ], endsWith: nil),
        KnownWorld(
            "a retry that is cancelled before it begins forgets nothing",
            SmallApp(
                steps: [
                    .init(10, .closure), .init(20, .closure, onFreshInstall: .run),
                    .init(21, .rows, in: .database(0), manager: 1),
                ],
                managers: [
                    .init(adopting: .version), .init(or: .key, since: .secondBuild(of: 2)),
                ]),
            [
                .launch(3, .whole, .dies(before: 2)), .launch(3, .whole, .dies(before: 3)),
                .launch(3, .whole, .dies(before: 1)),
                .launch(.secondBuild(of: 2), .whole, .cancels(before: 1)), .launch(3),
                .launch(3, .retrying(.step(20)), .cancels(before: 0)), .launch(3, .without(manager: 1)),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a manager begins in its store where a downgraded app has begun it in a database, by evidence too",
            SmallApp(
                steps: [
                    .init(20, .closure, manager: 1), .init(120, .rows, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .tables)]),
            [.launch(3, .without(manager: 1)), .launch(2), .launch(3)]),
        KnownWorld(
            "a manager that a downgraded app has begun in a database is on no new install",
            SmallApp(
                steps: [
                    .init(20, .closure, onFreshInstall: .only), .init(21, .closure, manager: 1),
                    .init(120, .transaction, in: .database(0)),
                ], managers: [.init(), .init()]),
            [.launch(3, .without(manager: 0)), .launch(2), .launch(3)]),
        KnownWorld(
            "a manager begins in a new database where one that died in a downgrade has begun another",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(20, .imports, in: .database(1), manager: 1),
                ], move: .init(30), managers: [.init(), .init(or: .tables)]),
            [.launch(3, .whole, .dies(before: 2)), .launch(2, .whole, .dies(before: 3)), .launch(3)]),
        KnownWorld(
            "a database that a downgraded app has begun says how old a lost one is",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(), .init()]),
            [.launch(3, .without(manager: 0)), .launch(2), .twice(1, .lose(0)), .launch(3)]),
        KnownWorld(
            "an answer that another manager has given after newer releases were launched makes no downgraded one begin",
            SmallApp(
                steps: [
                    .init(10, .cursor, in: .database(1)),
                    .init(21, .cursor, in: .database(1), manager: 1, since: .secondBuild(of: 2)),
                ], managers: [.init(hasVersionChanges: true), .init(adopting: .version)],
                storeInDatabase: true),
            [.launch(2), .launch(3, .through(10)), .twice(1, .lose(0)), .launch(2)]),
    ]
}
