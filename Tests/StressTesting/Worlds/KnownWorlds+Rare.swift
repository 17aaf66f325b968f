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
            "a retry that dies before its first change may have forgotten nothing",
            SmallApp(
                steps: [.init(30, .closure, manager: 1)],
                managers: [.init(adopting: .tables, hasVersionChanges: true), .init(adopting: .tables)],
                storeInDatabase: true),
            [
                .launch(1), .launch(2, .whole, .dies(before: 2)), .launch(2, .whole, .dies(before: 3)),
                .launch(2), .launch(3, .retrying(.versionChange(0)), .dies(before: 1)), .launch(2),
            ], endsWith: nil),
        KnownWorld(
            "a launch that a newer release may have held back may not be complete in its databases",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(1)),
                    .init(20, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(adopting: .version), .init()], storeInDatabase: true),
            [.launch(3, .without(manager: 0)), .twice(2, .lose(0))], endsWith: nil),
        KnownWorld(
            "a database's record says more of an install than the version assumed for a damaged store",
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
    ]

    private static let two = [SmallApp.Manager(), SmallApp.Manager()]
}
