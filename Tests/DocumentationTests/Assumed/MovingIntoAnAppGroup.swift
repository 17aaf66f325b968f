// What the snippets of MovingIntoAnAppGroup.md assume, beside Assumed.swift. Only compiled, and private to them.

private let oldFolder = url
private let sharedFolder = url
private var sharedDefaults: UserDefaults { .standard }
private let library = DatabaseFile(path: url.path)
private func show(_ databases: [FoundDatabase]) {}
