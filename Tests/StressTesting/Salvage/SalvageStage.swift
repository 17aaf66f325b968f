import Foundation
import GRDB
import MigrationTesting
import MigrationTools

/// A copy of a template that a connection writes to, while its files are copied.
struct SalvageStage {
    let template: SalvageTemplate
    let file: URL
    let queue: DatabaseQueue
    private var writer: SalvageWriter
    var past: SalvagePast
    /// The rows after each transaction, from those of the template on.
    private(set) var states: [SalvageSnapshot]

    /// Copies a template and opens the copy.
    init(_ template: SalvageTemplate, at file: URL, _ random: inout RandomNumbers) throws {
        (self.template, self.file) = (template, file)
        try FileManager.default.copyItem(at: template.file, to: file)
        queue = try SalvageConnection.open(file)
        writer = SalvageWriter(
            shape: template.shape, tables: template.tables, random: RandomNumbers(seed: random.next()),
            version: template.version, nextID: template.nextID)
        past = template.past
        states = [template.rows]
    }

    /// Closes the connection, and removes the files.
    func close() {
        try? queue.close()
        SalvageFiles.remove(file)
    }

    // MARK: Writing

    func execute(_ sql: String) throws {
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Commits a change.
    mutating func commit(_ change: (inout SalvageWriter, Database) throws -> Void) throws {
        var writer = writer
        try queue.write { try change(&writer, $0) }
        self.writer = writer
        note(try queue.read(rows))
    }

    /// Adds a state that was committed.
    mutating func note(_ state: SalvageSnapshot) {
        states.append(state)
        past.add(state)
    }

    /// The rows that there are now.
    func rows(_ db: Database) throws -> SalvageSnapshot {
        try SalvageSnapshot(db, template.tables, at: template.version)
    }

    /// The files as they are.
    func files() throws -> SalvageFiles { try SalvageFiles(at: file) }

    /// Returns the files in the middle of a transaction, which is rolled back.
    ///
    /// - Parameter isSpilling: true to write changed pages before the end.
    mutating func filesOfOpenTransaction(
        isSpilling: Bool = true, _ change: (inout SalvageWriter, Database) throws -> Void
    ) throws -> SalvageFiles {
        // pragma.html: a full cache writes to the file, or to the log, before the commit.
        if isSpilling { try execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1") }
        var writer = writer
        let (files, open) = try queue.inDatabase { db -> (SalvageFiles, SalvageSnapshot) in
            try db.beginTransaction(.immediate)
            defer { try? db.rollback() }
            try change(&writer, db)
            return try (self.files(), rows(db))
        }
        self.writer = writer
        past.add(open, as: .uncommitted)
        return files
    }

    // MARK: What SQLite makes of files

    /// Lets SQLite read files.
    func look(at files: SalvageFiles, _ version: Int? = nil) throws -> SQLiteLook {
        try SQLiteLook(
            at: files, template.tables, at: version ?? template.version,
            scratch: file.appendingPathExtension("look"))
    }

    /// Returns files that SQLite reads with their journals, which is one of the states.
    ///
    /// - Throws: an error if SQLite makes something else of them: then the truth would not be known.
    func input(_ files: SalvageFiles) throws -> SalvageInput {
        let look = try look(at: files)
        guard look.isIntact, let index = states.lastIndex(of: look.rows) else {
            throw UnknownState(what: look.isIntact ? "in another state" : "damaged")
        }
        var input = input(files, look)
        for state in states[(index + 1)...] { input.truth.past.add(state, as: .lost) }
        return input
    }

    /// Returns files that SQLite reads, with what it reads as the truth.
    func input(_ files: SalvageFiles, _ look: SQLiteLook) -> SalvageInput {
        var input = SalvageInput(
            files: files, truth: SalvageTruth(rows: look.rows, past: past), version: template.version)
        let map = PageMap(look.image, template.shape, roots: look.roots)
        input.map = map
        input.sequences = look.sequences
        input.overlaid = map.differences(look.image, files.main)
        return input
    }

    /// Returns files of which SQLite may make no intact database, because pages of several states are mixed in them.
    func mixture(_ files: SalvageFiles) throws -> SalvageInput {
        let look = try look(at: files)
        // An old journal that SQLite follows takes back what was committed since: once a page is lost, either state will do.
        if look.isIntact, look.rows == states.last { return input(files, look) }
        return SalvageInput(
            files: files,
            truth: SalvageTruth(rows: states[states.count - 1], past: past, earlier: past.committed),
            version: template.version)
    }

    /// Returns files with the journal of another database, which does not count unless SQLite reads it without a fault.
    func inputIgnoringJournal(_ files: SalvageFiles) throws -> SalvageInput {
        let look = try look(at: files)
        if look.isIntact { return input(files, look) }
        var input = try input(SalvageFiles(main: files.main))
        input.files = files
        return input
    }

    private struct UnknownState: Error, CustomStringConvertible {
        let what: String
        var description: String { "before any page was damaged, SQLite found the database \(what)" }
    }
}
