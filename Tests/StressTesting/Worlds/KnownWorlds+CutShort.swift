import SmallWorlds

// What a launch or a call that died has left, and what another one makes of it.
extension KnownWorld {
    static let cutShort = [
        KnownWorld(
            "a manager that is adopted by tables may be undecided where only a death was noted beside them",
            SmallApp(
                steps: [.init(21, .cursor, in: .database(1), manager: 1)], move: .init(20),
                managers: [.init(), .init(adopting: .tables)]),
            [
                .launch(3, .whole, .dies(before: 5)), .launch(2, .whole, .dies(before: 2)), .launch(1),
                .launch(3),
            ], endsWith: nil),
        KnownWorld(
            "a removal that was cut short may have left a database what it knows",
            SmallApp(
                steps: [
                    .init(20, .closure, onFreshInstall: .only),
                    .init(21, .transaction, in: .database(0), manager: 1),
                ], move: .init(20), managers: [.init(adopting: .file), .init(adopting: .file)]),
            [
                .launch(3, .whole, .dies(before: 8)), .call(.removeRecord(manager: 0), .dies(before: 2)),
                .lose(.files), .launch(3),
            ]),
        KnownWorld(
            "what a removal that was cut short has left may be found in a later release, too",
            SmallApp(
                steps: [
                    .init(10, .closure, manager: 1, onFreshInstall: .only),
                    .init(20, .transaction, in: .database(0), onFreshInstall: .run),
                ], managers: two),
            [
                .launch(2, .whole, .dies(before: 3)), .call(.removeRecord(manager: 0), .dies(before: 2)),
                .lose(.files), .launch(3),
            ]),
        KnownWorld(
            "a store that is lost after such a removal is no more certain than the database",
            SmallApp(
                steps: [
                    .init(10, .rows, in: .database(0), manager: 1), .init(20, .closure),
                    .init(21, .transaction, in: .database(1)),
                ], managers: [.init(adopting: .version), .init(adopting: .version)],
                storeInDatabase: true),
            [
                .launch(2, .whole, .failsAlways(21)), .launch(2, .whole, .dies(before: 2)),
                .call(.removeRecord(manager: 0), .dies(before: 2)), .twice(2, .lose(0)),
            ], endsWith: nil),
        KnownWorld(
            "deaths need not count once another build has begun the work",
            SmallApp(
                steps: [
                    .init(21, .closure, manager: 1),
                    .init(30, .cursor, in: .database(0), manager: 1, since: .secondBuild(of: 3)),
                ], managers: [.init(adopting: .version), .init(adopting: .version)]),
            [
                .launch(.secondBuild(of: 3), .whole, .dies(before: 4)), .launch(3, .whole, .fails(21)),
                .launch(.secondBuild(of: 3), .whole, .dies(before: 2)), .launch(.secondBuild(of: 3)),
            ], endsWith: nil),
        KnownWorld(
            "what a removal that was cut short has left may be found for another manager",
            SmallApp(
                steps: [.init(20, .closure, manager: 1, onFreshInstall: .only)], move: .init(20),
                managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(3, .whole, .dies(before: 3)), .call(.removeRecord(manager: 0), .dies(before: 2)),
                .lose(.files), .launch(3),
            ]),
        KnownWorld(
            "a launch that has only found a death leaves no version by which tables are old",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0), manager: 1),
                    .init(30, .transaction, in: .database(1), manager: 1, onFreshInstall: .only),
                ], move: .init(20), managers: [.init(adopting: .tables), .init(adopting: .tables)]),
            [
                .launch(3, .whole, .dies(before: 3)), .launch(2, .whole, .dies(before: 2)),
                .launch(3, .whole, .dies(before: 8)), .launch(3),
            ]),
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
            "an older release that has only found a death, and died, ends no first launch",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0), manager: 1, onFreshInstall: .run)],
                move: .init(20), managers: [.init(), .init(hasOwnLine: true)], storeInDatabase: true),
            [
                .launch(2, .whole, .dies(before: 2)), .launch(3, .whole, .dies(before: 2)),
                .launch(2, .whole, .dies(before: 7)), .launch(3),
            ], endsWith: nil),
    ]
}
