import AppMigrations
package import Foundation

/// The attempt to bring a database to what an app needs, which may take several launches, each with a copy of its own.
///
/// The first of these copies is the one from before the update. Launches that fail copy what the ones before them have left
/// half-migrated, and must not push it out. So a file beside the copies names it until the attempt has succeeded, with a manager
/// until a launch is complete, and for as long as the same version of the app makes copies.
package struct BackupAttempt {
    private let file: DurableFile
    private let copies: URL
    private let copy: String

    /// Finds the attempt that a copy belongs to.
    ///
    /// - Returns: nil if the copy has no name of a copy.
    package init?(of copy: URL) {
        let name = copy.lastPathComponent
        guard let dash = name.lastIndex(of: "-"), name.hasSuffix(".backup") else { return nil }
        self.copy = name
        copies = copy.deletingLastPathComponent()
        file = DurableFile(at: copies.appendingPathComponent(".\(name[..<dash]).attempt"))
    }

    private struct Note: Codable {
        /// The name of the first copy.
        var first: String
        /// The name of the first copy that this version of the app has made.
        var firstOfApp: String?
        var app: String?
        var isFinished = false
    }

    private var note: Note? {
        guard let data = try? file.contents() else { return nil }
        return try? JSONDecoder().decode(Note.self, from: data)
    }

    /// Notes that the copy was made, before anything is changed.
    ///
    /// - Returns: the name of the attempt's first copy, and that of the first one since launches of this version began to fail: it is
    ///   the database as it was before the update, and this copy is not. An app that goes on after failures may have written much since
    ///   an older version's.
    func begin(by app: AppVersion?) throws -> (first: String, ofApp: String) {
        func exists(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: copies.appendingPathComponent(name).path)
        }
        var (first, firstOfApp) = (copy, copy)
        if let note, !note.isFinished || note.app != nil && note.app == app?.description {
            let known = note.firstOfApp ?? note.first
            if !note.isFinished, note.app == app?.description, exists(known) { firstOfApp = known }
            first = exists(note.first) ? note.first : firstOfApp
        }
        try write(Note(first: first, firstOfApp: firstOfApp, app: app?.description))
        return (first, firstOfApp)
    }

    /// Notes that everything was migrated.
    ///
    /// A failure costs a copy too many.
    func finish() {
        guard var note, !note.isFinished else { return }
        note.isFinished = true
        if note.app == nil { try? file.remove() } else { try? write(note) }
    }

    /// Notes that the database was replaced by the copy: what changes it from now on is another attempt, unless the copy is one of
    /// what this attempt has left half-migrated.
    package func end() {
        guard var note else { return }
        if copy <= note.first {
            try? file.remove()
        } else if let firstOfApp = note.firstOfApp, copy <= firstOfApp {
            // The one from before an earlier version stays.
            (note.app, note.firstOfApp, note.isFinished) = (nil, nil, false)
            try? write(note)
        }
    }

    private func write(_ note: Note) throws {
        try file.replace(with: JSONEncoder().encode(note), permissions: 0o600)
        try file.syncName()
    }
}
