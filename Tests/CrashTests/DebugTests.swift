import SmallWorlds
import StressTesting
import Testing

@Test func debugJ() throws {
    var world = try World(
        SmallApp(steps: [.init(20, .cursor, in: .database(0)), .init(30, .transaction, in: .database(0), since: .secondBuild(of: 3), givesUpAfter: 2, finishes: 20)], move: .init(20)), inSQLite: false)
    for e in [SmallEvent.twice(1, .replace(0)), .launch(.secondBuild(of: 3))] {
        let (o, p) = try world.play(e)
        print("DEBUG", e.code, o.ran, o.entered, o.results, p ?? "ok", o.failed, o.postponed)
    }
}
@Test func debugN() throws {
    var world = try World(
        SmallApp(steps: [.init(10, .rows, in: .database(1)), .init(20, .deferredClosure, manager: 1)], managers: [.init(adopting: .version), .init(adopting: .version)], storeInDatabase: true), inSQLite: false)
    for e in [SmallEvent.launch(2), .twice(1, .lose(0)), .launch(1), .launch(1)] {
        let (o, p) = try world.play(e)
        print("DEBUG", e.code, o.ran, o.changed, o.results, p ?? "ok")
    }
}
