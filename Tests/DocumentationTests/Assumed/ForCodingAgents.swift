// What the snippets of ForCodingAgents.md assume, beside Assumed.swift. Only compiled, and private to them.

import Testing

private func makeManager(in folder: URL, _ dbQueue: DatabaseQueue, version: AppVersion) throws
    -> MigrationManager
{ manager }
