import Foundation
import MigrationDiagnostics

// A record that older versions of the app had elsewhere.
extension JSONStore {
    /// Settles which of two records the app goes on with; see ``MigrationStore/keep(_:settingAside:)``.
    static func keep(_ kept: URL, settingAside other: URL) throws {
        try StoreAccess.write.of(other.lastPathComponent, at: other.path) {
            let file = DurableFile(at: kept)
            let rival = DurableFile(at: other.resolvingSymlinksInPath())
            guard try file.exists(), !file.isSame(as: rival),
                kept.resolvingSymlinksInPath().path != rival.url.path
            else {
                throw MigrationError(
                    .misuse, "\(kept.path) does not exist, or is the file to set aside",
                    remedy: "Pass the file to go on with first, and then the other one. Nothing was changed.")
            }
            try rival.setAside()
        }
    }

    /// Moves the record here if it is still at an old place.
    ///
    /// The new file is on the disk before the old one goes. It remembers what it was made from: an old file with the
    /// same contents is what a crash has left, and one with others comes from an older version of the app that somebody
    /// has gone back to.
    func moveHere(from oldURLs: [URL]) throws {
        let old = oldURLs.map { DurableFile(at: $0.resolvingSymlinksInPath()) }.filter {
            $0.url != file.url && !$0.isSame(as: file)
        }
        // A record that was moved here is the app's, whatever stands at an old place, readable or not.
        if old.contains(where: \.mayExist),
            let origin = (try? file.contents()).flatMap(StoreState.origin(ofJSON:))
        {
            for old in old { removeLeftover(old, of: origin) }
            return
        }
        guard try old.contains(where: { try $0.readExistence() }) else { return }
        try withWriteLock(waitingUpTo: Self.defaultTimeout) {
            for old in try recordsFirst(old) {
                try FileLock.withLocks(
                    beside: old.url, except: writeLock, waitingFor: Self.defaultTimeout
                ) { try move(old) }
            }
        }
    }

    /// Returns the old files that exist, those with records first.
    ///
    /// - Throws: ``MigrationError`` with the code `twoPlaces`, if two of them hold different records, and neither comes from the
    ///   other's past.
    private func recordsFirst(_ old: [DurableFile]) throws -> [DurableFile] {
        var (records, unused): ([DurableFile], [DurableFile]) = ([], [])
        var first: Data?
        var wasMoved = false
        for file in old where try file.existsInItsFolder() {
            guard let contents = try file.readContents() else { continue }
            guard !isUnused(contents) else {
                unused.append(file)
                continue
            }
            // An older version of the app has made what is behind a record that was moved.
            if let first, !first.isSame(as: contents), !wasMoved { throw twoRecords(records[0], file) }
            first = first ?? contents
            wasMoved = wasMoved || StoreState.origin(ofJSON: contents) != nil
            records.append(file)
        }
        return records + unused
    }

    /// Removes the old file that a crash has kept after the record was moved; another one is left alone.
    private func removeLeftover(_ old: DurableFile, of origin: String) {
        guard let contents = try? old.contents(), Self.origin(contents) == origin else { return }
        try? remove(old)
    }

    static func origin(_ contents: Data) -> String {
        String(contents.fnv1a(after: FNV1a.start), radix: 16)
    }

    /// Returns true if nothing was ever recorded; false if that cannot be told.
    @inline(never)
    private func isUnused(_ contents: Data) -> Bool {
        (try? StoreState(json: contents).isUnused) ?? false
    }

    private func move(_ old: DurableFile) throws {
        guard let contents = try old.readContents() else { return }
        let origin = Self.origin(contents)
        // A damaged record moves as it is: what reads it says so.
        var moved = try? StoreState(json: contents)
        // The same contents are what a crash has left of a move.
        if let here = try file.readContents(), !here.isSame(as: contents) {
            if let known = StoreState.origin(ofJSON: here) {
                if known == origin { try remove(old) }
                return
            }
            if isUnused(contents) { return try old.setAside() }
            guard isUnused(here) else { throw twoRecords(file, old) }
            try file.setAside()
        }
        // A fixed permission from the first byte, and never more than the old file's.
        if let lines = try old.history.contents() {
            try file.history.replace(with: lines, permissions: old.history.permissions)
        }
        moved?.origin = origin
        try file.replace(with: moved?.json() ?? contents, permissions: old.permissions)
        try remove(old)
    }

    private func remove(_ old: DurableFile) throws {
        // Whoever gave the record its new name may not have put that on the disk: a process that has died, or one that is
        // moving it now.
        try file.syncName()
        // In this order: without its record, nothing looks for a history.
        if try old.history.existsInItsFolder() { try old.history.remove() }
        try old.remove()
    }

    private func twoRecords(_ one: DurableFile, _ other: DurableFile) -> MigrationError {
        func managers(_ file: DurableFile) -> String {
            let names = (try? file.contents()).flatMap { try? StoreState(json: $0).managerNames }
            return names.map { "managers: \($0.joined(separator: ", "))" } ?? "damaged"
        }
        return MigrationError(
            .twoPlaces,
            """
            the record is in two places: \(one.url.path) (\(managers(one))) and \(other.url.path) (\(managers(other)))
            """,
            remedy: """
                Nothing was changed. Find out which of them belongs to the data, and call \
                MigrationStore.keep(_:settingAside:): the other one stays where it is, under another name.
                """)
    }
}

extension DurableFile {
    /// The file beside a store's in which its history is.
    var history: DurableFile { DurableFile(at: url.appendingPathExtension("history")) }

    /// Gives a record another, dated name, after the word `aside`, and its history the name that belongs to it.
    fileprivate func setAside() throws {
        let aside = DurableFile(at: datedName(after: "aside"))
        // The history first: if it stayed, the next record would get it.
        if try history.exists() { try history.take(name: aside.history.url) }
        try take(name: aside.url)
    }

    // One of the places of a record: an error names this one.

    @inline(never)
    fileprivate func readContents() throws -> Data? {
        try StoreAccess.read.of(url.lastPathComponent, at: url.path) { try contents() }
    }

    fileprivate func readExistence() throws -> Bool {
        try StoreAccess.read.of(url.lastPathComponent, at: url.path) { try existsInItsFolder() }
    }

    /// True unless there is certainly nothing.
    fileprivate var mayExist: Bool { (try? existsInItsFolder()) ?? true }
}

extension StoreState {
    /// True if nothing was ever recorded.
    fileprivate var isUnused: Bool {
        get throws { try managerNames.isEmpty && seen.isEmpty && !isReplacement }
    }
}
