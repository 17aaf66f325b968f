import AppMigrations
import Foundation

/// Prints what a launch did to the data that all accounts share.
func printLaunch(_ report: MigrationReport) {
    printLine("app", report, [])
}

/// Prints what opening an account did to its database, and who has written to it.
func printAccount(_ account: Account) throws {
    let senders = try account.senders()
    printLine(account.name, account.report, ["mail from \(list(senders))"])
}

/// Prints what the widget shows of an account.
func printWidget(_ open: () throws -> Account) throws {
    do {
        print("  widget  shows mail from \(list(try open().senders()))")
    } catch let error as MigrationError where error.code == .notYetMigrated {
        print("  widget  shows \"Open the app once\"")
    }
}

func printKeychain(_ keychain: Keychain) {
    print("  keychain: \(keychain.password ?? "empty")")
}

/// Prints why the favorites' manager failed; the launch goes on, and the next one tries again.
func printFailure(_ error: any Error) {
    print("  app     favorites not imported: \((error as? MigrationError)?.underlyingError ?? error)")
}

/// Gives the body an app with an empty container, and removes everything afterwards.
func withTemporaryApp(_ body: (MailApp) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("Accounts-\(UUID().uuidString)", isDirectory: true)
    let container = folder.appendingPathComponent("Container", isDirectory: true)
    try FileManager.default.createDirectory(at: container, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try body(
        MailApp(container: container, keychain: Keychain(url: folder.appendingPathComponent("keychain"))))
}

private func printLine(_ name: String, _ report: MigrationReport, _ more: [String]) {
    let parts = ["\(report.launch)", "steps \(list(report.completed.map(\.version)))"] + more
    print("  \(name.padding(toLength: 7, withPad: " ", startingAt: 0)) \(parts.joined(separator: "; "))")
}

private func list(_ items: [some CustomStringConvertible]) -> String {
    items.isEmpty ? "none" : items.map(\.description).joined(separator: ", ")
}
