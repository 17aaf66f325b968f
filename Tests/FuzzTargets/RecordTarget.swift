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
            "highest":"2.0","downgradedTo":"1.1","failures":{"1.2":3},"givenUp":["1.3"],
            "positions":{"2.0":{"cursor":{"next":3},"done":2,"total":5,"x":1}},
            "attempts":{"2.0":{"attempt":2,"forgiven":1,"build":"2.0 (417)","since":"2026-03-02T18:04:11Z",
            "x":null},"move 2.0":{"attempt":1,"remaining":3,"build":"","since":"2026-03-02T18:04:11Z"},
            "versionChange 2.0":{"attempt":1,"build":"","since":"2026-03-02T18:04:11Z"},"y 2":[]}}}}
            """,
            #"{"format":"2.0"}"#,
            #"{"format":"1.0","managers":{"Library":{"settled":["x"],"owed":{}}},"seen":[]}"#,
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
        let decoded = try JSONDecoder().decode(StoreState.self, from: JSONEncoder().encode(again))
        try expect(
            try decoded.contents == again.contents, "\(bytes.text.debugDescription) differs by Codable")
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
