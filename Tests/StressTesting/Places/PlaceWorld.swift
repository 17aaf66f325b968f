import AppMigrations
import DatabaseFiles
import Foundation
import GRDB
import SchemaMigrations
import TestSupport

/// Two paths of a database in a folder, with what has happened to them.
struct PlaceWorld {
    let folder: URL
    private(set) var history: [PlaceEvent] = []
    private let starts: [PlaceStart]
    private var promises: PlacePromises
    private var nextRow = 10
    private var signature: [PlaceFinding] = []

    private var new: String { folder.appendingPathComponent("new.sqlite").path }
    private var old: String { folder.appendingPathComponent("old.sqlite").path }

    var title: String { "\(starts.map(\.rawValue)), then \(history)" }

    init(_ start: PlaceStart, _ oldStart: PlaceStart, in folder: URL) throws {
        self.folder = folder
        starts = [start, oldStart]
        promises = PlacePromises(.nothing, .nothing)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.make(start, at: new, row: 1)
        try Self.make(oldStart, at: old, row: 2)
        signature = findings
        promises = PlacePromises(signature[0], signature[1])
    }

    private static func make(_ start: PlaceStart, at path: String, row: Int) throws {
        func database(_ sql: String) throws {
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
        }
        let rows = "CREATE TABLE note(id INTEGER PRIMARY KEY); INSERT INTO note VALUES (\(row));"
        switch start {
        case .nothing: break
        case .empty: try Data().write(to: URL(fileURLWithPath: path))
        case .tables: try database("CREATE TABLE note(id INTEGER PRIMARY KEY)")
        case .record: try database("CREATE TABLE app_migrations(part TEXT, name TEXT, value TEXT)")
        case .rows: try database(rows)
        case .marked:
            try database(
                rows + "CREATE TABLE app_migrations_moved(date TEXT NOT NULL, source TEXT);"
                    + "INSERT INTO app_migrations_moved VALUES ('2026-01-01T00:00:00Z', NULL)")
        case .half:
            try database(rows)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
        case .garbage:
            try Data("a text of some length, and no database".utf8).write(to: URL(fileURLWithPath: path))
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        case .journal, .log: try crash(start, at: path, rows)
        }
    }

    /// Leaves a transaction that a crash has interrupted, or a log that nobody has taken in.
    private static func crash(_ start: PlaceStart, at path: String, _ rows: String) throws {
        let other = path + ".crash"
        let queue = try DatabaseQueue(path: other)
        try queue.writeWithoutTransaction { db in
            if start == .log {
                try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
            }
            try db.execute(sql: rows)
            if start == .journal {
                try db.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN")
                try db.execute(
                    sql: """
                        CREATE TABLE big(x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60)
                        INSERT INTO big SELECT zeroblob(900) FROM n
                        """)
            }
            for end in ["", start == .log ? "-wal" : "-journal"] {
                try FileManager.default.copyItem(atPath: other + end, toPath: path + end)
            }
            if start == .journal { try db.execute(sql: "ROLLBACK") }
        }
        try queue.close()
        try FileManager.default.removeItem(atPath: other)
    }

    // MARK: Looking

    /// What is at the new path, at the old one, and in the files set aside.
    private var findings: [PlaceFinding] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let asides = names.filter { $0.contains(".aside-") && !Self.isSideFile($0) }.sorted()
        return [new, old].map(Self.look) + asides.map { Self.look(folder.appendingPathComponent($0).path) }
    }

    private static func isSideFile(_ name: String) -> Bool {
        ["-wal", "-shm", "-journal"].contains { name.hasSuffix($0) }
    }

    /// Looks at a copy, since looking at a database may change it.
    private static func look(_ path: String) -> PlaceFinding {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return .nothing }
        if isFolder.boolValue { return .unreadable }
        let copy = path + ".look"
        defer { for end in ["", "-wal", "-shm", "-journal"] { unlink(copy + end) } }
        for end in ["", "-wal", "-journal"] {
            try? FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
        }
        do {
            let queue = try DatabaseQueue(path: copy)
            defer { try? queue.close() }
            return try queue.writeWithoutTransaction { db in
                let names = try String.fetchSet(db, sql: "SELECT tbl_name FROM sqlite_master")
                let hasNotes = names.contains("note")
                return .database(
                    rows: hasNotes ? try Int.fetchSet(db, sql: "SELECT id FROM note") : [],
                    hasTables: !names.subtracting(["app_migrations_moved"]).isEmpty,
                    isMarked: names.contains("app_migrations_moved"))
            }
        } catch {
            return .unreadable
        }
    }

    // MARK: Playing

    /// Returns the world in another folder, for the next event.
    func copied(to other: URL) throws -> PlaceWorld {
        let source = try? Self.source(at: new)
        let isSource = source != nil && source == Self.identity(old)
        try FileManager.default.copyItem(at: folder, to: other)
        var copy = PlaceWorld(copying: self, in: other)
        // A copied file is another file: the note of what it was made from has to say so.
        if isSource, let identity = Self.identity(copy.old) {
            let queue = try DatabaseQueue(path: copy.new)
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE app_migrations_moved SET source = ?", arguments: [identity])
            }
            try queue.close()
        }
        copy.signature = signature
        return copy
    }

    private init(copying other: PlaceWorld, in folder: URL) {
        self.folder = folder
        (history, starts, promises, nextRow) = (other.history, other.starts, other.promises, other.nextRow)
    }

    private static func source(at path: String) throws -> String? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: "SELECT source FROM app_migrations_moved") }
    }

    private static func identity(_ path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return "\(status.st_ino) \(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    /// Plays an event.
    ///
    /// - Returns: the first promise that does not hold, and whether the world goes on otherwise than before.
    mutating func play(_ event: PlaceEvent) throws -> (problem: String?, isOther: Bool) {
        let before = (signature, promises)
        history.append(event)
        let reported = Locked<Set<String>>([])
        let names = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
        let unreadable = signature.count { $0 == .unreadable }
        var problem: String?
        switch event {
        case .open, .openByCopy, .crash, .openBesideWriter, .openBesideMaker:
            problem = try launch(event, reported)
        case .olderBuild:
            if Self.write(nextRow, at: old) { promises.noteRow(nextRow, atNew: false) }
        case .extensionOpens:
            if signature[0] == .nothing { try Data().write(to: URL(fileURLWithPath: new)) }
        case .extensionWrites:
            if Self.write(nextRow, at: new) { promises.noteRow(nextRow, atNew: true) }
        case .deletion:
            guard promises.isOpened, signature[0].hasData else { break }
            promises.noteDeletion(of: signature[0].rows)
            let queue = try DatabaseQueue(path: new)
            try queue.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM note") }
            try queue.close()
        case .keepNew, .keepOld:
            let kept = event == .keepNew ? new : old
            do {
                try file(reported).keep(kept)
                promises.noteChoice()
            } catch let error as MigrationError where error.code == .misuse {
                if signature[event == .keepNew ? 0 : 1] != .nothing { problem = "finds nothing to keep" }
            }
        }
        nextRow += 1
        signature = findings
        problem = problem ?? promises.afterwards(signature, unreadableBefore: unreadable)
        let asides = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(names)
            .filter { $0.contains(".aside-") && !Self.isSideFile($0) }
        let unnamed = asides.subtracting(reported.withLock { $0 })
        if problem == nil, let name = unnamed.first { problem = "\(name) is not in the report" }
        return (problem, signature != before.0 || promises != before.1)
    }

    private func file(_ reported: Locked<Set<String>>) -> DatabaseFile {
        DatabaseFile(path: new, movedFrom: [old], waitingFor: .milliseconds(200)) { event in
            guard case .setAside(_, let name) = event else { return }
            reported.withLock { _ = $0.insert(URL(fileURLWithPath: name).lastPathComponent) }
        }
    }

    private struct Dead: Error {}

    private mutating func launch(_ event: PlaceEvent, _ reported: Locked<Set<String>>) throws -> String? {
        var file = file(reported)
        file.copiesAlways = event.copies
        var (found, row) = (signature, nextRow)
        var (writer, keepsLog): (DatabaseQueue?, Bool) = (nil, false)
        let isWritten = Locked(false)
        switch event {
        case .crash(let change): file.willChange = { if $0 == change { throw Dead() } }
        case .openBesideWriter(let atNew):
            guard Self.canWrite(found[atNew ? 0 : 1]) else {
                row = 0
                break
            }
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let queue = try DatabaseQueue(path: atNew ? new : old, configuration: configuration)
            try queue.inDatabase { db in
                try db.execute(
                    sql: "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS note(id INTEGER PRIMARY KEY)")
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [row])
            }
            writer = queue
            keepsLog = try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA journal_mode") == "wal" }
            let end: @Sendable () throws -> Void = {
                guard !isWritten.withLock({ $0 }) else { return }
                isWritten.withLock { $0 = true }
                try queue.inDatabase { try $0.execute(sql: "COMMIT") }
            }
            file.willChange = { _ in try end() }
        case .openBesideMaker(let change):
            let (path, number) = (new, row)
            file.willChange = { next in
                guard next == change, !isWritten.withLock({ $0 }), Self.write(number, at: path) else {
                    return
                }
                isWritten.withLock { $0 = true }
            }
        default: break
        }
        let result = Result { try file.openQueue() }
        if let writer {
            // A launch that had nothing to change did not wait for it.
            if !isWritten.withLock({ $0 }) {
                try? writer.inDatabase { try $0.execute(sql: "ROLLBACK") }
                row = 0
            }
            try writer.close()
        }
        let wrote = isWritten.withLock { $0 } && row != 0
        let isAtNew = if case .openBesideWriter(false) = event { false } else { true }
        if wrote {
            promises.noteRow(row, atNew: isAtNew)
            // By then it is too late for a launch that looks first to see it in its place.
            let place = isAtNew ? 0 : 1
            found[place] = .database(
                rows: found[place].rows.union([row]), hasTables: true, isMarked: found[place].isMarked)
        }
        switch result {
        case .success(let queue):
            defer { try? queue.close() }
            let rows = try queue.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS note(id INTEGER PRIMARY KEY)")
                return try Int.fetchSet(db, sql: "SELECT id FROM note")
            }
            return promises.launch(.success(rows), found[0], found[1])
        case .failure(is Dead): return nil
        case .failure(let error as MigrationError):
            // While another process is in a transaction, or has a log open, waiting is right.
            if error.code == .locked, writer != nil, !wrote || keepsLog { return nil }
            return promises.launch(.failure(PlaceError(code: error.code.description)), found[0], found[1])
        case .failure(let error): return "throws \(error)"
        }
    }

    private static func canWrite(_ place: PlaceFinding) -> Bool { place != .unreadable }

    /// Writes a row as a build without this package does.
    private static func write(_ row: Int, at path: String) -> Bool {
        guard let queue = try? DatabaseQueue(path: path) else { return false }
        defer { try? queue.close() }
        do {
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE IF NOT EXISTS note(id INTEGER PRIMARY KEY)")
                try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: [row])
            }
            return true
        } catch {
            return false
        }
    }
}
