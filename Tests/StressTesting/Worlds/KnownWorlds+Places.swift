import SmallWorlds

extension KnownWorld {
    /// Worlds in which a manager begins, that were wrong while file names and dates stood in for what can be known.
    static let places = [
        KnownWorld(
            "a database that is erased while it is open is known when the manager has been there again",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1)),
                    .init(21, .rows, in: .database(0), manager: 1),
                ], move: .init(30), managers: two),
            [.twice(3, .lose(0)), .launch(3)]),
        KnownWorld(
            "a visit is none of the versions that a lost store can be as old as",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: two, storeInDatabase: true),
            [.launch(3), .twice(2, .lose(0)), .launch(3)]),
        // The fifth round's four.
        KnownWorld(
            "a first launch that a visit has interrupted twice is still the first",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(20, .imports, in: .database(1), manager: 1),
                ], move: .init(30),
                managers: [.init(adopting: .file), .init(adopting: .file, hasOwnLine: true)],
                storeInDatabase: true),
            [
                .launch(3, .whole, .dies(before: 4)), .launch(2, .whole, .dies(before: 2)),
                .twice(3, .lose(0)),
            ],
            endsWith: nil),
        KnownWorld(
            "a store that is lost in a downgrade, and all of whose steps are to run again, begins where its database does",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1), .init(20, .imports, in: .database(1)),
                    .init(21, .removal),
                ], managers: two, storeInDatabase: true),
            [.launch(3), .twice(2, .lose(0)), .call(.rerunAllSteps(manager: 0)), .launch(3)], endsWith: nil),
        KnownWorld(
            "what is imported is deleted once it is there",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(), .init(since: 2, hasOwnLine: true)], storeInDatabase: true),
            [
                .launch(1), .write(.append), .launch(3),
                .call(.removeRecord(manager: 1), .dies(before: 2)), .twice(2, .lose(0)),
            ], endsWith: nil),
        KnownWorld(
            "a deferred step that a later release registers does not keep an old database from its steps",
            SmallApp(
                steps: [
                    .init(20, .deferredClosure, manager: 1, since: 3),
                    .init(21, .transaction, in: .database(0), manager: 1, onFreshInstall: .only),
                    .init(120, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: two),
            [.launch(3, .whole, .failsAlways(21)), .twice(2, .replace(0))], endsWith: nil),
        // Of 11,321,209 worlds with seeds that nobody had seen.
        KnownWorld(
            "the second of two deferred steps over rows visits the rows that there are when its turn has come",
            SmallApp(
                steps: [.init(20, .rows, in: .database(0)), .init(121, .rows, in: .database(0))],
                managers: [.init(adopting: .file)]), [.oldInstall, .launch(3), .runDeferred(batches: nil)],
            endsWith: nil),
        KnownWorld(
            "a deferred step that comes behind another one visits the rows of a database that was replaced",
            SmallApp(
                steps: [
                    .init(21, .cursor, in: .database(0)),
                    .init(30, .rows, in: .database(0), since: .secondBuild(of: 3)),
                ], managers: [.init(adopting: .tables)]),
            [.twice(3, .replace(0)), .launch(.secondBuild(of: 3)), .runDeferred(batches: nil)], endsWith: nil),
        KnownWorld(
            "what a second manager was answered does not make a lost store older than the database that it kept",
            SmallApp(
                steps: [.init(21, .closure, manager: 1), .init(30, .rows, in: .database(0), manager: 1)],
                managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [.oldInstall, .launch(3), .restore(.files, after: 1), .launch(3)], endsWith: nil),
        KnownWorld(
            "versions of another database do not make a replaced one younger",
            SmallApp(
                steps: [
                    .init(20, .rows, in: .database(1), manager: 1),
                    .init(21, .transaction, in: .database(1), manager: 1, finishes: 20),
                ], managers: [.init(), .init(adopting: .tables)], storeInDatabase: true),
            [.launch(2), .twice(3, .replace(1))], endsWith: nil),
        KnownWorld(
            "a database that has come back without the record of a manager is no new one",
            SmallApp(
                steps: [.init(21, .transaction, in: .database(0), manager: 1)], move: .init(20),
                managers: [.init(adopting: .version), .init(adopting: .version, hasOwnLine: true)]),
            [.launch(3, .without(manager: 1)), .launch(2), .restore(.database(0), after: 1), .launch(3)],
            endsWith: nil),
        KnownWorld(
            "an answer about the rows of a store's own database counts for a manager that has lost its record there",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)], storeInDatabase: true),
            [.twice(3, .replace(0))], endsWith: nil),
        KnownWorld(
            "a step that finishes a deferred one destroys no row that this has not visited",
            SmallApp(
                steps: [
                    .init(21, .deferredClosure, manager: 1),
                    .init(30, .transaction, in: .database(0), manager: 1, finishes: 21),
                    .init(121, .rows, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .file, since: .secondBuild(of: 2))]),
            [.oldInstall, .launch(.secondBuild(of: 2)), .launch(3)], endsWith: nil),
        KnownWorld(
            "a deferred step is done before a closure that finishes it, though another one came before",
            SmallApp(
                steps: [
                    .init(20, .deferredClosure, manager: 1), .init(21, .rows, in: .database(0), manager: 1),
                    .init(30, .closure, manager: 1, since: .secondBuild(of: 3), finishes: 21),
                ], managers: [.init(), .init(adopting: .file)]),
            [.oldInstall, .launch(3), .launch(.secondBuild(of: 3))], endsWith: nil),
        KnownWorld(
            "a deferred step of a later build is done before a closure that finishes it",
            SmallApp(
                steps: [
                    .init(20, .cursor, in: .database(0)),
                    .init(21, .rows, in: .database(0), since: .secondBuild(of: 2)),
                    .init(30, .closure, finishes: 21),
                ], managers: [.init(adopting: .version)]),
            [.oldInstall, .launch(.secondBuild(of: 2)), .launch(3)], endsWith: nil),
        KnownWorld(
            "versions of another database do not make an old one younger in a later build",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0), manager: 1),
                    .init(30, .transaction, in: .database(1), since: .secondBuild(of: 3)),
                ], managers: [.init(adopting: .tables), .init(adopting: .file)]),
            [.twice(3, .replace(1)), .launch(.secondBuild(of: 3))], endsWith: nil),
        KnownWorld(
            "what a new install did not need is not needed when its store is lost",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(), .init(since: 2, hasOwnLine: true)]),
            [.launch(1), .write(.append), .launch(2), .lose(.files), .launch(2)], endsWith: nil),
        KnownWorld(
            "what a new install did not need is not needed when the database with its store is lost",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(), .init(since: 2, hasOwnLine: true)], storeInDatabase: true),
            [.launch(1), .write(.append), .launch(2, .without(manager: 0)), .twice(2, .lose(0))],
            endsWith: nil),
        KnownWorld(
            "rows of a table that the app makes when its manager has finished may be visited",
            SmallApp(
                steps: [.init(120, .rows, in: .database(0), manager: 1)],
                managers: [.init(adopting: .version), .init(adopting: .version)]),
            [.launch(3), .write(.append), .runDeferred()], endsWith: nil),
        KnownWorld(
            "a database is new to a manager that has not begun in its store when it was there",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1),
                    .init(21, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(2, .without(manager: 1)), .launch(1, .without(manager: 0)),
                .launch(3, .whole, .failsAlways(21)), .twice(2, .lose(0)),
            ], endsWith: nil),
        KnownWorld(
            "a database that comes back is new to a manager that has met it in downgrades alone",
            SmallApp(
                steps: [
                    .init(20, .transaction, in: .database(0)), .init(21, .rows, in: .database(0), manager: 1),
                ],
                managers: [.init(adopting: .tables, hasVersionChanges: true), .init(adopting: .tables)]),
            [
                .launch(3, .without(manager: 0)), .twice(2, .lose(0)), .twice(1, .replace(0)),
                .launch(3, .whole, .cancels(before: 1)), .restore(.database(0), after: 1), .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "files of an install that was taken for a new one are not imported when its database comes back",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(), .init(adopting: .tables)], storeInDatabase: true),
            [
                .oldInstall, .twice(2, .lose(0)), .twice(2, .replace(0)), .launch(3, .without(manager: 0)),
            ], endsWith: nil),
        KnownWorld(
            "a closure for new installs alone comes first, also on values that were there",
            SmallApp(
                steps: [
                    .init(20, .closure, manager: 1, onFreshInstall: .run),
                    .init(21, .closure, manager: 1, onFreshInstall: .only),
                ], managers: two),
            [.oldInstall, .launch(3)], endsWith: nil),
    ]
}
