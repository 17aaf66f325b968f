// What the snippets of OlderBuilds.md assume, beside Assumed.swift. Only compiled, and private to them.

private var defaults: UserDefaults { .standard }
