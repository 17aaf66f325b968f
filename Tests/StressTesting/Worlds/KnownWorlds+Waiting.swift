import SmallWorlds

/// Worlds in which something waits for another place, or is known in one place alone.
extension KnownWorld {
    static let waiting = [
        // The files were deleted, and what was in them had not been imported.
        KnownWorld(
            "what comes after a step in a database that a newer release has used waits for it",
            importing,
            [
                .launch(1), .write(.insert), .launch(3, .through(10)), .restore(.files, after: 2), .launch(2),
            ], endsWith: "newerThanThisProcess"),
        KnownWorld(
            "what has waited runs when the newer release is back",
            importing,
            [
                .launch(1), .write(.insert), .launch(3, .through(10)), .restore(.files, after: 2), .launch(2),
                .launch(3),
            ]),
        KnownWorld(
            "an older release may delete files that a newer one had nothing to import of",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0)), .init(21, .removal),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], managers: two),
            [
                .launch(1), .lose(.files), .launch(3), .restore(.files, after: 2), .launch(1),
                .write(.insert), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "an older build with a step in another place takes it to have run there",
            SmallApp(
                steps: [
                    .init(30, .closure, manager: 1, since: .secondBuild(of: 3)),
                    .init(130, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(2), .launch(.secondBuild(of: 3), .whole, .failsAlways(130)), .replace(.database(0)),
                .launch(3),
            ], endsWith: nil),
        // The launch in between had nothing to do, and named no database.
        KnownWorld(
            "a database is known though the process has died before the store could name it",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(1), manager: 1, since: .secondBuild(of: 1)),
                    .init(21, .transaction, in: .database(1), manager: 1),
                    .init(110, .rows, in: .database(0), manager: 1),
                ], managers: [.init(), .init(adopting: .tables)]),
            [
                .launch(1), .launch(.secondBuild(of: 1), .whole, .dies(before: 2)),
                .launch(.secondBuild(of: 1)), .damage(.database(1)), .twice(3, .lose(1)),
            ], endsWith: nil),
        // The removal was to run again, and the import was not.
        KnownWorld(
            "an import is to run again before the removal of its files is",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(0), manager: 1), .init(21, .removal, manager: 1),
                ], managers: [.init(), .init(since: 2, hasOwnLine: true)]),
            [
                .launch(1), .write(.insert), .launch(3),
                .call(.rerunAllSteps(manager: 1), .dies(before: 2)), .launch(3),
            ]),
        KnownWorld(
            "files that come back are not imported where the app has removed the record with its data",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                ], move: .init(30), managers: [.init(), .init(adopting: .tables)]),
            [
                .oldInstall, .launch(2), .restore(.database(1), after: 1), .call(.removeRecord(manager: 1)),
                .restore(.files, after: 1), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "a step waits for a schema step in another database that a newer release holds",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(20, .transaction, in: .database(1), onFreshInstall: .run),
                ], move: .init(20), managers: two),
            [.launch(3, .without(manager: 0)), .launch(2)], endsWith: nil),
        KnownWorld(
            "a launch is not complete while a newer release holds a closure that may have run",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
                    .init(120, .cursor, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(), .init(adopting: .version)]),
            [.launch(3, .whole, .dies(before: 14)), .twice(1, .lose(1)), .twice(2, .lose(1))],
            endsWith: nil),
        KnownWorld(
            "a database is not named while a newer release holds all that the store has to do",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1), .init(20, .imports, in: .database(1)),
                    .init(21, .removal),
                ],
                managers: [.init(adopting: .version, hasVersionChanges: true), .init(adopting: .tables)]),
            [
                .launch(3, .without(manager: 0)), .launch(2), .twice(1, .lose(1)),
                .launch(3, .whole, .cancels(before: 7)), .twice(2, .lose(1)),
            ], endsWith: nil),
        // The database was taken for a new install's: the import was not needed, and 3.0 deleted the files.
        KnownWorld(
            "files are imported before they are deleted though a newer release has not reached the manager",
            SmallApp(
                steps: [.init(20, .imports, in: .database(1)), .init(21, .removal)],
                managers: [.init(adopting: .version), .init()]),
            [.oldInstall, .launch(3, .without(manager: 0)), .launch(2), .launch(3)]),
        KnownWorld(
            "a release that does not have a step cannot have it tried again",
            SmallApp(
                steps: [.init(20, .closure, manager: 1)],
                managers: [.init(adopting: .version), .init(adopting: .version)]),
            [
                .launch(2, .whole, .dies(before: 3)), .launch(2, .whole, .dies(before: 4)), .launch(2),
                .launch(1, .retrying(.step(20))), .launch(2),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a step that is to run again waits for one that a newer release holds",
            SmallApp(
                steps: [
                    .init(21, .transaction, in: .database(0), manager: 1, since: .secondBuild(of: 2)),
                    .init(120, .closure, manager: 1),
                ], managers: [.init(), .init(adopting: .version)]),
            [
                .launch(3), .twice(2, .lose(0)), .launch(.secondBuild(of: 2)),
                .call(.rerunAllSteps(manager: 1)), .launch(.secondBuild(of: 2)),
            ], endsWith: "newerThanThisProcess"),
        KnownWorld(
            "a database may have completed a launch of one manager alone when the process dies",
            SmallApp(
                steps: [
                    .init(21, .transaction, in: .database(0), manager: 1), .init(30, .closure, manager: 1),
                    .init(120, .closure, manager: 1),
                ], move: .init(30), managers: [.init(), .init(adopting: .file)]),
            [
                .oldInstall, .launch(3), .call(.skip(.step(21))),
                .launch(3, .without(manager: 0), .dies(before: 6)), .restore(.files, after: 1), .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "what a database may have completed is no certain beginning for a second manager",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(1)),
                    .init(21, .transaction, in: .database(0), manager: 1),
                ], managers: [.init(adopting: .version, hasVersionChanges: true), .init()],
                storeInDatabase: true),
            [
                .launch(3, .whole, .dies(before: 4)), .lose(.database(0)), .launch(2), .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "a database that takes the place of another knows later of a release than one that was there",
            SmallApp(
                steps: [
                    .init(20, .imports, in: .database(1)),
                    .init(30, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(hasVersionChanges: true), .init()]),
            [.twice(3, .replace(0)), .lose(.files), .launch(2), .launch(3)], endsWith: nil),
        KnownWorld(
            "rows that come between the launch and the first batch are in the new form already",
            SmallApp(
                steps: [.init(20, .rows, in: .database(0))], move: .init(10),
                managers: [.init(adopting: .version)]),
            [.launch(1), .write(.append), .launch(2), .write(.append), .runDeferred()]),
        KnownWorld(
            "a finishing step does not run after the deferred one has failed",
            SmallApp(
                steps: [
                    .init(20, .rows, in: .database(0)),
                    .init(30, .transaction, in: .database(0), finishes: 20),
                ], move: .init(10), managers: [.init(adopting: .version)]),
            [.launch(1), .write(.append), .launch(2), .launch(3, .whole, .failsAlways(20))],
            endsWith: "stepFailed"),
    ]

    private static let importing = SmallApp(
        steps: [
            .init(10, .transaction, in: .database(0), manager: 1),
            .init(20, .imports, in: .database(1), manager: 1), .init(21, .removal, manager: 1),
        ], managers: [.init(adopting: .version), .init(adopting: .version)])
}
