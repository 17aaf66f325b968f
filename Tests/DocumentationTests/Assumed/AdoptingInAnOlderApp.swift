// What the snippets of AdoptingInAnOlderApp.md assume, beside Assumed.swift. Only compiled, and private to them.

private let settingsFile = url
private func register(_ manager: MigrationManager) {}
private struct Unreadable: Error {}
