// What the snippets of AppExtensions.md assume, beside Assumed.swift. Only compiled, and private to them.

private let recordFile = url
private let oldSettingsFile = url
private func register(_ manager: MigrationManager) {}
private func showPlaceholder() {}
private func showContents() {}
