import AppMigrations
import CMigrationSystem
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
    /// Runs the body with the name of a database to make in the place of a damaged one, at which nothing is left before or after.
    func withUnfinishedFile<Value>(for place: URL, _ body: (URL) throws -> Value) rethrows -> Value {
        let new = place.deletingLastPathComponent()
            .appendingPathComponent(".\(place.lastPathComponent).salvaging")
        func remove() {
            for end in [""] + Self.sideFileEnds { unlink(new.path + end) }
        }
        defer { remove() }
        remove()
        do {
            return try body(new)
        } catch {
            // While it still takes the room.
            throw error.explained(beside: new)
        }
    }

    /// Gives a file the protection of those of a folder.
    func protect(_ file: URL, asIn folder: URL) throws {
        guard app_migrations_protect(file.path, folder.path) == 0 else { throw POSIXError.current }
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
        // After a power cut, the new name is there only if the journals are gone.
        try DurableFile(at: place).syncName()
        guard replaceName(new.path, place.path) == 0 else {
            let error = POSIXError.current
            try? putJournalsBack(at: place)
            throw error
        }
        try DurableFile(at: place).syncName()
        return aside
    }

    /// Undoes what an attempt has begun that died before the new database had its name.
    ///
    /// Opening does so, too: without its journals, the file would lack what was committed last.
    func putJournalsBack(at place: URL) throws {
        for aside in damagedFiles(of: place) where aside.isSameFile(as: place) {
            var isDone = true
            for end in ["-wal", "-journal"] where link(aside.path + end, place.path + end) != 0 {
                switch errno {
                case ENOENT: break
                // Another connection has made a journal since. Both are kept.
                case EEXIST:
                    isDone = isDone && aside.appending(end: end).isSameFile(as: place.appending(end: end))
                default: throw POSIXError.current
                }
            }
            guard isDone else { continue }
            try DurableFile(at: place).syncName()
            for end in ["-wal", "-journal", ""] {
                guard unlink(aside.path + end) == 0 || errno == ENOENT else { throw POSIXError.current }
            }
        }
        removeSecondNames(ofJournalsOf: place)
    }

    /// Removes second names that an attempt gave to journals before it died.
    private func removeSecondNames(ofJournalsOf place: URL) {
        let folder = place.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for end in ["-wal", "-journal"] {
            let journal = place.appending(end: end)
            for name in names where name.hasPrefix(Self.damagedBeginning(of: place)) && name.hasSuffix(end) {
                let second = folder.appendingPathComponent(name)
                if second.isSameFile(as: journal) { unlink(second.path) }
            }
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
