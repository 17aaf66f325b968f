import AppMigrations
import Foundation
import MigrationDiagnostics
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

// Where the database and its files are.
extension DatabaseFile {
    var hasOldFile: Bool {
        let new = URL(fileURLWithPath: path)
        return oldPaths.contains { old in
            guard let place = DatabasePlace(old) else { return false }
            // Two names of one file: nothing has to be moved, unless a power cut has left both.
            return !place.url.isSameFile(as: new) || (try? place.url.status().st_nlink) ?? 1 > 1
        }
    }

    /// Throws if an old path is written as in a URL, so that nothing is there: `URL.path()` writes `%20` for a space.
    func checkOldPaths() throws {
        for old in oldPaths where old.contains("%") && DatabasePlace(old) == nil {
            guard let path = old.removingPercentEncoding, DatabasePlace(path) != nil else { continue }
            throw MigrationError(
                .misuse, at: .file(old), "is not the path of the old database, which is \(path)",
                remedy: "Pass `url.path(percentEncoded: false)`. Nothing was changed.")
        }
    }

    /// The places at which there is something, without a second name of the same file.
    func places() -> [DatabasePlace] {
        var places: [DatabasePlace] = []
        for place in ([path] + oldPaths).compactMap(DatabasePlace.init) {
            DatabaseFileLock.release(place)
            if !places.contains(where: { $0.url.isSameFile(as: place.url) }) { places.append(place) }
        }
        return places
    }

    /// Returns the states of places, the first of which is where the database belongs only if there is a file.
    ///
    /// What stands after a place with the mark is not opened.
    func look(at places: [DatabasePlace]) throws -> [(state: PlaceState, problem: (any Error)?)] {
        var mark: MoveMark?
        let look: [(state: PlaceState, problem: (any Error)?)] = try places.map { place in
            if mark != nil { return (place.isSource(of: mark) ? .leftover : .ignored, nil) }
            let look = try at(place.url) { try place.state(configuration, waitingFor: limit) }
            mark = look.mark
            return (look.state, look.problem)
        }
        return zip(places, look).map { place, look in
            let isOlder = look.state == .data && mark?.came(from: place.url) == true
            return isOlder ? (.older, nil) : look
        }
    }

    func found(_ place: DatabasePlace) throws -> FoundDatabase {
        try at(place.url) { try FoundDatabase(at: place, configuration, waitingFor: limit) }
    }

    /// Removes the old names of a file that has two: the power failed while it was renamed, and both were kept.
    func removeSecondNames(of places: [DatabasePlace]) {
        for path in oldPaths {
            guard let place = DatabasePlace(path),
                let same = places.first(where: { $0.url.isSameFile(as: place.url) }),
                same.url.path != place.url.path, (try? place.url.status().st_nlink) ?? 1 > 1
            else { continue }
            try? DurableFile(at: place.url).remove()
        }
    }

    /// Where the database belongs, as SQLite names it: with the links in its path resolved.
    func newPlace() throws -> URL {
        if let place = DatabasePlace(path), place.obstruction == nil { return place.url }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        guard DatabasePlace(folder.path) != nil else {
            throw MigrationError(
                .databaseFailed, at: .file(URL(fileURLWithPath: path).lastPathComponent),
                "the folder \(folder.path) does not exist",
                remedy: "Create the folder before opening the database. Nothing was changed.")
        }
        return Self.place(path)
    }

    /// A place as SQLite names it, also while there is no file.
    static func place(_ path: String) -> URL {
        let url = URL(fileURLWithPath: path)
        guard let folder = DatabasePlace(url.deletingLastPathComponent().path)?.url else { return url }
        return folder.appendingPathComponent(url.lastPathComponent)
    }

    /// The name of a copy on its way here.
    func unfinishedCopy() throws -> URL {
        let new = try newPlace()
        return new.deletingLastPathComponent().appendingPathComponent(".\(new.lastPathComponent).moving")
    }
}
