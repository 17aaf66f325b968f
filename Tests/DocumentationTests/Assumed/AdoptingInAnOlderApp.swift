// What the snippets of AdoptingInAnOlderApp.md assume, beside Assumed.swift. Only compiled, and private to them.

private let settingsFile = url
private struct Unreadable: Error {}
