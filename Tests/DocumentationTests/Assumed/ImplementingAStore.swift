// What the snippets of ImplementingAStore.md assume, beside Assumed.swift. Only compiled, and private to them.

private struct Transaction {
    func get(_ key: String) -> Data? { nil }
    func set(_ key: String, _ data: Data) {}
}
private struct Backend: Sendable {
    struct Lock { var release: @Sendable () -> Void }
    func transaction<Value>(_ body: (Transaction) throws -> Value) throws -> Value { try body(Transaction()) }
    func tryLock(_ name: String) throws -> Lock? { nil }
}
