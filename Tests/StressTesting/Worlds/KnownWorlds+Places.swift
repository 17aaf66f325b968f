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
    ]
}
