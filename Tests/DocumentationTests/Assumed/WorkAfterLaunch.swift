// What the snippets of WorkAfterLaunch.md assume, beside Assumed.swift. Only compiled, and private to them.

private var libraryPath: String { "" }
private func makeManager(_ dbQueue: DatabaseQueue) throws -> MigrationManager { manager }
private enum Phase { case ready(DatabaseQueue) }
private var phase: Phase {
    get { fatalError("only compiled") }
    set {}
}
