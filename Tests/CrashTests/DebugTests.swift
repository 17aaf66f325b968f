import SmallWorlds
import StressTesting
import Testing

@Test func debugJ() throws {
    var world = try World(
        SmallApp(steps: [.init(20, .transaction, in: .database(0), manager: 1)], move: .init(20), managers: [.init(adopting: .version), .init(adopting: .version)]), inSQLite: false)
    for e in [SmallEvent.launch(3, .without(manager: 1)), .launch(2), .launch(1), .lose(.database(0)), .launch(3)] {
        let (o, p) = try world.play(e)
        print("DEBUG", e.code, o.ran, o.entered, o.results, p ?? "ok", o.failed, o.postponed)
    }
}
