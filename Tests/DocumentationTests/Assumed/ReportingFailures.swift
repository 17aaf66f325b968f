// What the snippets of ReportingFailures.md assume, beside Assumed.swift. Only compiled, and private to them.

private func alert(_ title: String, _ advice: String) {}
private func send(_ event: some Encodable) {}
private enum CrashReporter { static func record(_ error: any Error) {} }
