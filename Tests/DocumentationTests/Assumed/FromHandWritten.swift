// What the snippets of FromHandWritten.md assume, beside Assumed.swift. Only compiled, and private to them.

private var defaults: UserDefaults { .standard }
private struct Unreadable: Error {}
private var adopting: Adoption { Adoption { "1.0" } }
private var newArchiveURL: URL { url }
