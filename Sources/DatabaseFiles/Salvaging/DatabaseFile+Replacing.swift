import AppMigrations
import Foundation
import SchemaMigrations

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

// How a new database takes the place of a damaged one, at every moment with one of both there.
extension DatabaseFile {
    /// The name of a database that is being made from a damaged one.
    func unfinishedSalvage() throws -> URL {
        let new = try newPlace()
        return new.deletingLastPathComponent().appendingPathComponent(".\(new.lastPathComponent).salvaging")
    }

    /// Removes what an attempt has left.
    func removeUnfinished(_ url: URL) {
        for end in [""] + Self.sideFileEnds { unlink(url.path + end) }
    }

    /// Puts a new database in the place of a damaged one, which keeps a second name.
    ///
    /// The damaged file has both names until the new one replaces it, in one step. Its journals go in between, because
    /// SQLite would take them for those of the new one (howtocorrupt.html, 1.4); they have second names, too, from which
    /// ``putJournalsBack(at:)`` restores them if the process dies there.
    ///
    /// - Returns: the second name.
    func replace(_ place: URL, by new: URL) throws -> URL {
        let aside = Self.damagedName(of: place)
        for end in ["-wal", "-journal", ""] {
            guard link(place.path + end, aside.path + end) != 0 else { continue }
            guard errno == ENOENT, !end.isEmpty else { throw POSIXError.current }
        }
        try DurableFile(at: aside).syncName()
        for end in Self.sideFileEnds {
            guard unlink(place.path + end) == 0 || errno == ENOENT else {
                let error = POSIXError.current
                try? putJournalsBack(at: place)
                throw error
            }
        }
        guard replaceName(new.path, place.path) == 0 else {
            let error = POSIXError.current
            try? putJournalsBack(at: place)
            throw error
        }
        try DurableFile(at: place).syncName()
        return aside
    }

    /// Undoes what an attempt has begun that died before the new database had its name.
    func putJournalsBack(at place: URL) throws {
        for aside in damagedFiles(of: place) where aside.isSameFile(as: place) {
            for end in ["-wal", "-journal"] {
                // A journal that is there already is a second name of the same file, or newer.
                if link(aside.path + end, place.path + end) == 0 || errno == EEXIST {
                    unlink(aside.path + end)
                } else if errno != ENOENT {
                    throw POSIXError.current
                }
            }
            guard unlink(aside.path) == 0 else { throw POSIXError.current }
        }
    }

    // MARK: Damaged files

    /// The damaged files that are kept, the oldest first.
    func damagedFiles(of place: URL) -> [URL] {
        let folder = place.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let beginning = Self.damagedBeginning(of: place)
        return names.filter { name in
            name.hasPrefix(beginning) && !Self.sideFileEnds.contains(where: name.hasSuffix)
        }.sorted().map(folder.appendingPathComponent)
    }

    /// Removes the oldest damaged files; a failure costs room alone.
    func removeDamagedFiles(of place: URL, except count: Int, latest: URL) {
        let others = damagedFiles(of: place).filter { $0.lastPathComponent != latest.lastPathComponent }
        for file in others.dropLast(max(count, 1) - 1) {
            for end in ["-wal", "-journal", ""] { unlink(file.path + end) }
        }
    }

    private static func damagedBeginning(of place: URL) -> String {
        place.lastPathComponent.shortenedFileName(leaving: 40) + ".damaged-"
    }

    private static func damagedName(of place: URL) -> URL {
        place.deletingLastPathComponent().appendingPathComponent(
            "\(damagedBeginning(of: place))\(Date().inFileName)-\(UUID().uuidString.prefix(4))")
    }
}

/// Calls rename(2), whose name a method of a database file has.
private func replaceName(_ old: String, _ new: String) -> Int32 { rename(old, new) }
