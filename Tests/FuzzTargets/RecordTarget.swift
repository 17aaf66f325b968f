import AppMigrations
import Foundation

extension FuzzTarget {
    /// The record's JSON: it is refused, or written back as it was understood.
    static let records = FuzzTarget(
        name: "records",
        seeds: [
            #"{"format":"1.0","seen":{},"managers":{}}"#,
            """
            {"format":"1.2","new":[1],"seen":{"app":[{"version":"1.0","first":"2026-01-07T09:30:00Z"}]},
            "managers":{"Library":{"floor":"1.0","settled":["1.1","1.1-1"],"owed":[],"completed":"1.1",
            "highest":"2.0","running":{"version":"2.0","attempt":2,"forgiven":1,"build":"2.0 (417)",
            "since":"2026-03-02T18:04:11Z","x":null}}}}
            """,
            #"{"format":"2.0"}"#,
            #"{"format":"1.0","managers":{"Library":{"settled":["x"],"owed":{}}},"seen":[]}"#,
            "[]", "{", "",
        ]
    ) { bytes in
        let state: StoreState
        var document: RecordDocument
        do {
            document = try RecordDocument(Data(bytes), place: "file")
            state = try document.state(of: "Library")
        } catch is MigrationError {
            return
        }
        try document.replaceState(of: "Library", with: state)
        let again = try RecordDocument(document.data(), place: "file").state(of: "Library")
        try expect(
            again.withoutDates == state.withoutDates, "\(bytes.text.debugDescription) is written otherwise")
        let pieces = try RecordDocument(rows: document.rows(of: "Library"), place: "file").state(
            of: "Library")
        try expect(pieces == again, "\(bytes.text.debugDescription) is otherwise in rows")
    }
}

extension StoreState {
    /// The state as far as it must come back: dates are written to the second.
    fileprivate var withoutDates: StoreState {
        var state = self
        state.record?.running?.since = .distantPast
        state.seen = seen.mapValues { $0.map { SeenVersion(version: $0.version, first: .distantPast) } }
        return state
    }
}
