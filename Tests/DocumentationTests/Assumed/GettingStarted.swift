// What the snippets of GettingStarted.md assume, beside Assumed.swift. Only compiled, and private to them.

private func showUpdateAlert() {}
