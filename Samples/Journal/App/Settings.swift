import AppMigrations
import Foundation

/// The settings, in a JSON file.
///
/// A migration meets files that releases wrote long ago. It reads them as they are, as keys and values, and
/// never through a type of today's app, which the next release may change.
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
    /// Registers what has to happen to the settings.
    ///
    /// The steps are plain closures: at least once is enough for them, because each does nothing to a file
    /// that it has changed already.
    func registerMigrations(with manager: MigrationManager, of release: Release, notes: StepNotes) {
        guard release >= .tags else { return }
        manager.whenMigratingToVersion("1.1") {
            try change { values in
                values.rename("colour", to: "theme")
                if let points = values.removeValue(forKey: "fontSize") as? NSNumber {
                    // Wrong: it is 100 times what the app wants. Users have it, so it stays, and 1.1-1
                    // mends it.
                    values["textScale"] = points.doubleValue / 12 * 100
                }
            }
            notes.did("colour is now theme, fontSize is textScale")
        }

        guard release >= .tagsMended else { return }
        manager.whenMigratingToVersion("1.1-1") {
            try change { values in
                // Nobody reads at ten times the size: such a value can only be the mistake of 1.1.
                if let scale = values["textScale"] as? NSNumber, scale.doubleValue > 10 {
                    values["textScale"] = scale.doubleValue / 100
                }
            }
            notes.did("mended the textScale that 1.1 wrote")
        }

        guard release >= .moods else { return }
        manager.whenMigratingToVersion("2.0") {
            try change { values in
                if let time = values.removeValue(forKey: "reminder") { values["reminders"] = [time] }
            }
            notes.did("one reminder is now a list of them")
        }
    }
}

extension Settings.Values {
    fileprivate mutating func rename(_ old: String, to new: String) {
        if let value = removeValue(forKey: old) { self[new] = value }
    }
}
