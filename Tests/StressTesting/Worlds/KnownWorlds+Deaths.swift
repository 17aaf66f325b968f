import SmallWorlds

// A death is found once, and never forgotten.
extension KnownWorld {
    static let deaths = [
        KnownWorld(
            "a deferred closure that dies in every run behind one that waits is given up",
            SmallApp(steps: [
                .init(20, .deferredClosure),
                .init(21, .deferredClosure, since: .secondBuild(of: 2)),
            ]),
            [
                .launch(1), .write(.append), .launch(2), .runDeferred(.postponesAlways(20)),
                .launch(.secondBuild(of: 2)), .runDeferred(.diesIn(21)),
                .launch(.secondBuild(of: 2)), .runDeferred(.diesIn(21)),
                .launch(.secondBuild(of: 2)), .runDeferred(),
            ]),
        KnownWorld(
            "a deferred step that dies beside one that keeps a row is given up",
            SmallApp(
                steps: [
                    .init(10, .transaction, in: .database(0)), .init(20, .rows, in: .database(0)),
                    .init(21, .rows, in: .database(0), since: .secondBuild(of: 2)),
                ], storeInDatabase: true),
            [
                .launch(1), .write(.append), .launch(2), .runDeferred(.failsAlways(20)),
                .launch(.secondBuild(of: 2)), .runDeferred(.diesIn(21)),
                .launch(.secondBuild(of: 2)), .runDeferred(.diesIn(21)),
                .launch(.secondBuild(of: 2)), .runDeferred(),
            ]),
        KnownWorld(
            "a death is not forgotten over a launch that is cancelled",
            SmallApp(steps: [.init(20, .closure)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)),
                .launch(2, .whole, .cancels(before: 0)), .launch(2, .whole, .diesIn(20)), .launch(2),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a death is not forgotten over a launch in which the step waits",
            SmallApp(steps: [.init(20, .closure)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)),
                .launch(2, .whole, .postpones(20)), .launch(2, .whole, .diesIn(20)), .launch(2),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a death is not forgotten over a launch that an earlier step stops",
            // The step that stops the launch is run again, so that it comes before the one that dies.
            SmallApp(steps: [.init(20, .closure), .init(21, .closure)]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(21)), .call(.rerun(.step(20))),
                .launch(2, .whole, .postpones(20)), .launch(2, .whole, .diesIn(21)), .launch(2),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "a death in a database is not forgotten over a launch of an older release",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(0)), .init(30, .transaction, in: .database(0)),
            ]),
            [
                .launch(2), .write(.append), .launch(3, .whole, .diesIn(30)), .launch(2),
                .launch(3, .whole, .diesIn(30)), .launch(3),
            ], endsWith: "gaveUp"),
        KnownWorld(
            "another build tries again what died in the last one",
            SmallApp(steps: [.init(20, .closure), .init(21, .closure, since: .secondBuild(of: 2))]),
            [
                .launch(1), .write(.append), .launch(2, .whole, .diesIn(20)), .launch(2, .whole, .diesIn(20)),
                .launch(2), .launch(.secondBuild(of: 2)),
            ]),
    ]
}
