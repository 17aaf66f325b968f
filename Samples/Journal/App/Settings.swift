import AppMigrations
import Foundation

/// The settings, in a JSON file.
///
/// Migrations read files that old releases wrote. They read keys and values, never a type of today's app, which
/// the next release may change.
struct Settings {
    typealias Values = [String: Any]

    let file: URL

    func read() throws -> Values {
        guard FileManager.default.fileExists(atPath: file.path) else { return [:] }
        return try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? Values ?? [:]
    }

    func write(_ values: Values) throws {
        let data = try JSONSerialization.data(withJSONObject: values, options: [.prettyPrinted, .sortedKeys])
        try data.write(to: file, options: .atomic)
    }

    func change(_ body: (inout Values) -> Void) throws {
        var values = try read()
        body(&values)
        try write(values)
    }
}

extension Settings {
    /// Registers the steps that change the settings.
    ///
    /// They are plain closures, which run at least once. That is enough, because a step leaves a file alone that it
    /// has already changed.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1") {
            try change { values in
                values.rename("colour", to: "theme")
                if let points = values.removeValue(forKey: "fontSize") as? NSNumber {
                    // A mistake: 100 times what the app expects. It has shipped, so it stays, and 1.1-1
                    // fixes it.
                    values["textScale"] = points.doubleValue / 12 * 100
                }
            }
            notes.did("renamed colour to theme, fontSize to textScale")
        }

        guard release >= .tagsFixed else { return }
        manager.whenMigratingToVersion("1.1-1") {
            try change { values in
                // Nobody scales text by more than 10, so the value must be the mistake of 1.1.
                if let scale = values["textScale"] as? NSNumber, scale.doubleValue > 10 {
                    values["textScale"] = scale.doubleValue / 100
                }
            }
            notes.did("fixed the textScale that 1.1 wrote")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0") {
            try change { values in
                if let time = values.removeValue(forKey: "reminder") { values["reminders"] = [time] }
            }
            notes.did("turned the reminder into a list of reminders")
        }
    }
}

extension Settings.Values {
    fileprivate mutating func rename(_ old: String, to new: String) {
        if let value = removeValue(forKey: old) { self[new] = value }
    }
}
