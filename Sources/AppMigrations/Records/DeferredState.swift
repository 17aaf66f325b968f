import Foundation

/// How far a deferred step is, in the record of its place.
package struct DeferredState: Sendable, Hashable {
    /// Where the next batch begins, as the step keeps it; nil before the first.
    var cursor: JSONValue?

    /// The rows that are done; for other steps, the batches or checkpoints.
    package var done = 0

    /// The rows that there were at the start; nil where nobody can tell.
    package var total: Int?

    /// The number of runs in which a batch threw.
    package var failures = 0

    /// The batch that was started last, at ``done``; nil when the last run has come to its end.
    package var running: MigrationRecord.Running?

    package init() {}

    /// Notes that a batch is being started.
    ///
    /// - Parameter isRetried: whether the deaths so far do not count.
    mutating func start(_ work: MigrationRecord.Running, isRetried: Bool) {
        if isRetried, let died = running { running?.forgiven = died.attempt }
        running = work.after(running)
    }

    /// Decodes the cursor; nil before the first batch.
    package func cursor<Cursor: Decodable>(as type: Cursor.Type) throws -> Cursor? {
        try cursor.map { try JSONDecoder().decode(type, from: $0.text()) }
    }

    /// Moves the cursor, and notes what has been done.
    package mutating func advance(to cursor: some Encodable, done count: Int) throws {
        advance(to: try JSONValue(encoding: cursor), done: count)
    }

    mutating func advance(to cursor: JSONValue, done count: Int) {
        self.cursor = cursor
        done += count
        // What dies from here on dies in another batch.
        running?.remaining = done
        running?.attempt = 1
        running?.forgiven = 0
    }
}

extension JSONValue {
    init(encoding value: some Encodable) throws {
        self = try JSONValue(parsing: JSONEncoder().encode(value))
    }
}

extension DeferredState {
    /// Far above any real count, and far below where arithmetic overflows, in the 32 bits of watchOS too.
    private static let maximumCount = Int.max / 2

    init(_ field: JSONField) throws {
        cursor = try field.field("cursor").value
        done = try field.field("done").count(upTo: Self.maximumCount)
        total = try field.field("total").ifPresent?.count(upTo: Self.maximumCount)
        failures = try field.field("failures").ifPresent?.count(upTo: MigrationRecord.maximumFailures) ?? 0
        running = try field.field("running").ifPresent.flatMap(MigrationRecord.Running.init)
    }

    func json(replacing old: [String: JSONValue]) -> [String: JSONValue] {
        var fields = old
        fields["cursor"] = cursor
        fields["done"] = .integer(Int64(done))
        fields["total"] = total.map { .integer(Int64($0)) }
        fields["failures"] = failures == 0 ? nil : .integer(Int64(failures))
        fields["running"] = running.map { .object($0.json(replacing: [:])) }
        return fields
    }
}
