import Foundation

/// Information for a deferred closure about the run that it is in.
///
/// ```swift
/// manager.whenMigratingToVersion("2.1", deferred: .afterLaunch) { context in
///     let done = try context.lastCheckpoint(as: Int.self) ?? 0
///     for (index, file) in try imageFiles().enumerated().dropFirst(done) {
///         try await makeThumbnail(of: file)
///         try context.checkpoint(index + 1)
///     }
/// }
/// ```
public struct DeferredContext: Sendable {
    /// The manager's name.
    public let manager: String

    /// The version that the step is registered for.
    public let version: AppVersion

    /// The number of times that the step has been started since its last checkpoint, this time included.
    public let attempt: Int

    /// How far the step is.
    private let state: Locked<DeferredState>
    private let record: DeferredRecord
    private let isOver: @Sendable () -> Bool

    init(
        attempt: Int, _ state: DeferredState, _ record: DeferredRecord, isOver: @escaping @Sendable () -> Bool
    ) {
        (manager, version) = (record.request.manager, record.version)
        self.attempt = attempt
        self.state = Locked(state)
        self.record = record
        self.isOver = isOver
    }

    /// Returns the value that the last checkpoint saved, in this run or an earlier one; nil if there is none.
    ///
    /// - Throws: `DecodingError`, when the value is of another type.
    public func lastCheckpoint<Value: Decodable>(as type: Value.Type) throws -> Value? {
        try state.withLock { $0 }.cursor(as: type)
    }

    /// Saves where the step is, durably, so that the next run can continue there.
    ///
    /// - Throws: ``MigrationError``, when the store cannot be written; `CancellationError`, after saving, when the
    ///   time for the run is up: do not catch it.
    public func checkpoint(_ value: some Encodable) throws {
        let cursor = try JSONValue(encoding: value)
        try record.change { next in
            next.advance(to: cursor, done: 1)
            state.withLock { [next] in $0 = next }
        }
        if isOver() { throw CancellationError() }
    }
}

/// When a deferred closure runs.
public enum DeferredStart: Sendable {
    /// When the app calls ``MigrationManager/runDeferred(for:retrying:)`` after it has launched.
    case afterLaunch
}
