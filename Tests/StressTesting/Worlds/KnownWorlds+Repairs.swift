import SmallWorlds

// What an app repairs stays repaired, and nothing else is touched.
extension KnownWorld {
    static let repairs = [
        KnownWorld(
            "all managers of a place whose record was damaged begin at the version that the app names",
            SmallApp(
                steps: [.init(20, .closure), .init(120, .closure, manager: 1)],
                managers: [.init(adopting: .version), .init(adopting: .version)]),
            [
                .launch(2), .write(.append), .damage(.files),
                .call(.replaceRecord(manager: 0, assuming: 20)), .launch(2),
            ]),
        KnownWorld(
            "a healthy store is not replaced with a database's damaged record",
            SmallApp(steps: [.init(20, .transaction, in: .database(0))]),
            [.launch(2), .damage(.database(0)), .call(.replaceRecord(manager: 0, assuming: 20)), .launch(2)]),
        KnownWorld(
            "a database's healthy record is not replaced with the store's damaged one",
            SmallApp(steps: [.init(20, .transaction, in: .database(0)), .init(30, .closure)]),
            [
                .launch(2), .write(.append), .damage(.files),
                .call(.replaceRecord(manager: 0, assuming: 20)), .launch(3),
            ]),
        KnownWorld(
            "a record that can be read is not replaced",
            SmallApp(
                steps: [.init(20, .closure), .init(120, .closure, manager: 1)],
                managers: [.init(), .init()]),
            [.launch(2), .write(.append), .call(.replaceRecord(manager: 0, assuming: 10)), .launch(2)]),
        KnownWorld(
            "a manager whose record was removed is new",
            SmallApp(
                steps: [.init(20, .closure), .init(120, .transaction, in: .database(0))],
                managers: [.init(adopting: .version)]),
            [.oldInstall, .launch(2), .call(.removeRecord(manager: 0)), .launch(2)]),
        KnownWorld(
            "a manager whose record is removed is new, though the process dies in that",
            SmallApp(
                steps: [.init(10, .transaction, in: .database(0)), .init(20, .transaction, in: .database(0))]
            ),
            [
                .launch(1), .write(.append), .launch(2), .call(.removeRecord(manager: 0), .dies(before: 2)),
                .launch(2),
            ]),
        KnownWorld(
            "a launch goes on in no place whose record is damaged",
            SmallApp(steps: [.init(10, .closure), .init(20, .closure)]),
            [.launch(1), .write(.append), .damage(.files), .launch(2)], endsWith: "damagedStore"),
        KnownWorld(
            "all steps run again when the app asks for that",
            SmallApp(steps: [
                .init(10, .transaction, in: .database(0)), .init(20, .closure),
                .init(120, .transaction, in: .database(0)),
            ]),
            [.launch(1), .write(.append), .launch(2), .call(.rerunAllSteps(manager: 0)), .launch(2)]),
    ]
}
