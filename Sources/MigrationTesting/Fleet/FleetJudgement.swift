import GRDB

/// Judges a fleet in which all devices have the last release, and have exchanged everything.
struct FleetJudgement {
    private let release: FleetRelease
    private let devices: [FleetDevice]
    private let server: FleetEdits
    private let forms: [String: String]

    init(
        _ release: FleetRelease, _ devices: [FleetDevice], _ server: FleetEdits, _ forms: [String: String]
    ) {
        (self.release, self.devices, self.server, self.forms) = (release, devices, server, forms)
    }

    /// Returns what is wrong; nil if nothing is.
    func problem(_ check: SimulatedFleet.Check?) throws -> String? {
        for device in devices {
            if let problem = try oldRow(on: device) ?? lostEdit(on: device) { return problem }
            do {
                try device.open().read { try check?($0) }
            } catch {
                return "\(device.name): \(error)"
            }
        }
        return try difference()
    }

    private func oldRow(on device: FleetDevice) throws -> String? {
        try device.open().read { db in
            for table in release.tables {
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT * FROM \(table.name.quotedDatabaseIdentifier)
                        WHERE NOT coalesce((\(forms[table.name] ?? "true")), false)
                        """)
                guard let row else { continue }
                let values = row.map { "\($0.0) \($0.1.words)" }.joined(separator: ", ")
                return "\(device.name) keeps a row in the old form in \(table.name): \(values)."
            }
            return nil
        }
    }

    private func lostEdit(on device: FleetDevice) throws -> String? {
        let contents = try device.contents()
        for (field, edit) in server.sorted(by: {
            ($0.value.time, $0.key.column) < ($1.value.time, $1.key.column)
        }) {
            let found = contents[field]
            if let found, found == edit.value || isMigrated(field, edit, into: found) { continue }
            let place = found.map { "has \($0.words) instead" } ?? "has no such field"
            return """
                \(device.name) has lost an edit of \(field.words): device \(edit.device) has written \
                \(edit.value.words) with \(edit.version), and it \(place).
                """
        }
        return nil
    }

    /// Returns whether migrations have made a value of what an older release has written.
    private func isMigrated(_ field: FleetField, _ edit: FleetEdit, into value: DatabaseValue) -> Bool {
        // What the last release writes is in the new form, unless another column of the row was edited since.
        let isFinal = edit.version == release.version
        guard !isFinal || server.contains(where: { $0.key.key == field.key && $0.value.time > edit.time })
        else { return false }
        var reached: Set = [edit.value]
        while true {
            let more = devices.reduce(into: reached) { all, device in
                for old in reached { all.formUnion(device.migrated[field]?[old] ?? []) }
            }
            guard more.count > reached.count else { return reached.contains(value) }
            reached = more
        }
    }

    private func difference() throws -> String? {
        guard let first = devices.first else { return nil }
        let expected = try first.contents()
        for device in devices.dropFirst() {
            let found = try device.contents()
            let fields = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }
            guard let field = fields.min(by: { $0.words < $1.words }) else { continue }
            func words(_ value: DatabaseValue?) -> String { value?.words ?? "no such row" }
            return """
                \(first.name) and \(device.name.lowercased()) differ in \(field.words): \
                \(words(expected[field])) and \(words(found[field])).
                """
        }
        return nil
    }
}
