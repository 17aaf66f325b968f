// What the snippets of RowsThatArriveLate.md assume, beside Assumed.swift. Only compiled, and private to them.

private func launchApp(in folder: URL, as version: AppVersion) throws {}
