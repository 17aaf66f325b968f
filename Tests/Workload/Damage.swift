import Foundation

/// The damage of the database that a launch salvages: the bytes that say what kind of file it is are zeros.
///
/// All rows are still there, some of them only in the write-ahead log. So the launch must end as one of an intact database
/// does, and damage that is still there can be undone in a copy, to look at the rows.
struct Damage {
    private static let magic = Data("SQLite format 3\0".utf8)

    let folder: String
    private var path: String { "\(folder)/library.sqlite" }

    /// Puts rows into an intact database, and damages it.
    func make() throws {
        let whole = "\(folder)/whole"
        try FileManager.default.createDirectory(atPath: whole, withIntermediateDirectories: true)
        do {
            let db = try PlainDatabase(path)
            _ = try db.rows("PRAGMA wal_autocheckpoint = 0")
            try db.execute("\(Schema.rows); UPDATE book SET title = 'not ' || title")
            _ = try db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            // Whoever loses the log has other titles.
            try db.execute("UPDATE book SET title = substr(title, 5)")
            // The end of the last connection would remove the log.
            for name in Self.names where exists("\(folder)/\(name)") {
                try FileManager.default.copyItem(atPath: "\(folder)/\(name)", toPath: "\(whole)/\(name)")
            }
            withExtendedLifetime(db) {}
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasPrefix("library.sqlite") {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        for name in Self.names where exists("\(whole)/\(name)") {
            try FileManager.default.moveItem(atPath: "\(whole)/\(name)", toPath: "\(folder)/\(name)")
        }
        try FileManager.default.removeItem(atPath: whole)
        try write(Data(count: Self.magic.count), to: path)
    }

    /// Undoes the damage in a copy of the folder, as the next opening would: with the journal that an unfinished salvage has
    /// taken from it.
    ///
    /// - Returns: the file that was set aside, undamaged; nil if there is none.
    func undo() throws -> String? {
        let asides = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasPrefix("library.sqlite.damaged-") && !$0.hasSuffix("-wal") }
            .map { "\(folder)/\($0)" }
        let isDamaged = try isDamaged(path)
        for aside in asides where isDamaged && exists("\(aside)-wal") && !exists("\(path)-wal") {
            try FileManager.default.copyItem(atPath: "\(aside)-wal", toPath: "\(path)-wal")
        }
        for file in [path] + asides where try self.isDamaged(file) { try write(Self.magic, to: file) }
        // Until the new database has its name, what is set aside is a second name of the damaged one.
        return isDamaged ? nil : asides.first
    }

    private static let names = ["library.sqlite", "library.sqlite-wal"]

    private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func isDamaged(_ path: String) throws -> Bool {
        guard exists(path) else { return false }
        return try Data(contentsOf: URL(fileURLWithPath: path)).prefix(Self.magic.count)
            == Data(count: Self.magic.count)
    }

    private func write(_ bytes: Data, to path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
