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
            "managers":{"Library":{"start":"1.0","completed":"1.1","highest":"2.0","downgradedTo":"1.1",
            "fresh":"1.0 (3)","inOldInstall":true,"databases":["a.sqlite"],
            "done":["1.1","x 1"],"notNeeded":["1.1-1"],"skipped":["1.4"],"open":{"0.9":{"owed":true},
            "1.2":{"failures":3},
            "2.0":{"position":{"cursor":"{\\"next\\":3}","done":2,"total":5,"setAside":[["42"]],"x":1},
            "running":{"build":"2.0","since":"2026-03-02T18:04:11Z","deferred":true,"x":1},
            "deaths":2,"forgiven":1,"build":"2.0 (417)","x":null},
            "schema step 2.0":{"remaining":3,"running":{"build":"","since":"2026-03-02T18:04:11Z"}},
            "version change 2.0":{"deaths":1,"build":""},"y 2":[]}}}}
            """,
            #"{"format":"2.0"}"#,
            #"{"format":"1.0","managers":{"Library":{"start":7,"done":{}}},"seen":[]}"#,
            "[]", "{", "",
        ]
    ) { bytes in
        var state: StoreState
        let record: MigrationRecord?
        do {
            state = try StoreState(json: Data(bytes))
            record = try state.record(of: "Library")
        } catch is MigrationError {
            return
        }
        try state.setRecord(record, of: "Library")
        let again = try StoreState(json: state.json())
        try expect(
            try again.contents == state.contents,
            "\(bytes.text.debugDescription) is not written as it was read")
        let rows = try StoreState(rows: again.rows(of: "Library"))
        try expect(try rows.contents == again.contents, "\(bytes.text.debugDescription) differs in rows")
    }
}

extension StoreState {
    /// The part that must survive being written: dates are written to the second.
    fileprivate var contents: Contents {
        get throws {
            var record = try record(of: "Library")
            for id in record?.work.keys.map(\.self) ?? [] {
                record?.changeOpen(id) { open in
                    guard let start = open.running else { return }
                    open.running = OpenWork.Start(
                        build: start.build, since: .distantPast, isDeferred: start.isDeferred)
                }
            }
            return Contents(record: record, seen: seen.mapValues { $0.map(\.version) })
        }
    }

    fileprivate struct Contents: Equatable {
        let record: MigrationRecord?
        let seen: [String: [AppVersion]]
    }
}
