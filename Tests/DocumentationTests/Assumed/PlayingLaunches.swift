// What the snippets of PlayingLaunches.md assume, beside Assumed.swift. Only compiled, and private to them.

private var device: SimulatedDevice { fatalError("only compiled") }
