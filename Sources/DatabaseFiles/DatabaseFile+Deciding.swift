import AppMigrations
import Foundation
import GRDB
import SchemaMigrations

extension DatabaseFile {
    /// Returns the files at the database's path and its old paths that exist, with what they hold.
    ///
    /// For the app's recovery screen, after the error `MigrationError.Code.twoPlaces`. Changes nothing. A file that
    /// cannot be read is among them, with its ``FoundDatabase/problem``.
    ///
    /// - Throws: `MigrationError`, when one of them is locked by another process, for instance.
    public func foundDatabases() throws -> [FoundDatabase] {
        try mappingErrors { try places().map { try found($0) } }
    }

    /// Settles which of several databases the app goes on with.
    ///
    /// The others stay where they are, under a dated name, with what they hold. The next call of ``openQueue()`` or
    /// ``openPool()`` opens the one that is kept, and moves it here if it is at an old path. If it is here, others that cannot get
    /// another name are ignored from then on.
    ///
    /// - Parameter kept: the path of one of the ``foundDatabases()``.
    /// - Throws: `MigrationError`, when there is no such database, or another one cannot be set aside.
    public func keep(_ kept: String) throws {
        try moving { interrupter in
            let places = places()
            guard let kept = DatabasePlace(kept), places.contains(where: { $0.url.path == kept.url.path })
            else {
                throw MigrationError(
                    .misuse, "\(kept) is not one of the places where this database has a file",
                    remedy: "Pass the path of one of the foundDatabases().")
            }
            let isHere = try kept.url.path == newPlace().path && mark(kept)
            for other in places where other.url.path != kept.url.path {
                do {
                    try setAside(other, interrupter)
                } catch let error as MigrationError where isHere && error.code != .locked {
                    onEvent?(.ignored(other.url.path))
                }
            }
        }
    }

    /// Notes in the database that it is where it belongs, so that what stands elsewhere cannot stop a launch.
    ///
    /// - Returns: false if that cannot be written there, and the others have to give way.
    private func mark(_ place: DatabasePlace) throws -> Bool {
        try at(place.url) {
            do {
                if let obstruction = place.obstruction { throw obstruction }
                let queue = try DatabaseQueue(path: place.url.path, configuration: configuration.forCopying())
                defer { try? queue.close() }
                try queue.withDurableCommits(waitingUpTo: limit) {
                    try queue.write { try MoveMark.write(movedTo: place.url, $0) }
                }
                return true
            } catch let error where Obstacle(error) != .inUse && !(error is CancellationError) {
                return false
            }
        }
    }

    /// Brings the database here if it is still at an old path.
    ///
    /// Nearly always there is nothing at the old paths: then it looks at nothing else.
    func moveHere() throws {
        guard hasOldFile, try !isHere() else { return }
        try moving { interrupter in
            try? FileManager.default.removeItem(at: try unfinishedCopy())
            let deadline = ContinuousClock.now + limit
            var attempts = 0
            while true {
                do {
                    return try decideAndMove(interrupter)
                } catch let change as ChangedMeanwhile {
                    // A slow device may take all the time for one attempt, and the next one decides anew.
                    attempts += 1
                    guard attempts < 3 || ContinuousClock.now < deadline else { throw change.inUse }
                }
            }
        }
    }

    /// Returns true if the file here carries the mark: then nothing at an old path can stop a launch.
    private func isHere() throws -> Bool {
        let places = places()
        guard let here = places.first, here.url.path == DatabasePlace(path)?.url.path else { return false }
        let look = try look(at: places)
        guard [.moved, .marked, .markedEmpty].contains(look[0].state) else { return false }
        removeSecondNames(of: places)
        finish(MoveDecision(look.map(\.state)), places)
        return true
    }

    private func decideAndMove(_ interrupter: Interrupter) throws {
        let places = places()
        removeSecondNames(of: places)
        let look = try look(at: places)
        let decision = MoveDecision(look.map(\.state))
        switch decision {
        case .none: break
        case .two(let indices): throw twoDatabases(try indices.map { try found(places[$0]) })
        case .unreadable(let indices):
            throw try unreadable(indices.map { (places[$0], look[$0].problem) }, places)
        case .keep(let kept, let empty, _, _):
            for index in empty { try setAside(places[index], interrupter, if: look[index].state) }
            let new = try newPlace()
            if places[kept].url.path != new.path {
                let old = places[kept].url
                // No manager of an older version migrates it meanwhile.
                try FileLock.withLocks(beside: old, except: moveLock(), waitingFor: limit) {
                    try move(old, to: new, interrupter)
                }
            }
            finish(decision, places)
        }
    }

    /// Removes and ignores what the mark rules out, none of which can stop a launch any more.
    private func finish(_ decision: MoveDecision, _ places: [DatabasePlace]) {
        guard case .keep(_, _, let leftovers, let ignored) = decision else { return }
        // A process that has renamed the copy may have died before its name was on the disk.
        if !leftovers.isEmpty, (try? DurableFile(at: newPlace()).syncName()) != nil {
            for index in leftovers { try? remove(places[index].url) }
        }
        for place in (leftovers + ignored).sorted().map({ places[$0] })
        where DatabasePlace(place.url.path) != nil {
            onEvent?(.ignored(place.url.path))
        }
    }
}

/// A process has made a file at one of the places, or written to it, since it was looked at.
struct ChangedMeanwhile: Error {
    /// The error if that goes on and on.
    var inUse: DatabaseError {
        DatabaseError(resultCode: .SQLITE_BUSY, message: "another process is making databases at its places")
    }
}
