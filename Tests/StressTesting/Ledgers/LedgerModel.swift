/// A migration of a small history, as files that do something visible: each adds a row to a log, and most make a table.
///
/// One that is alone runs without a transaction, and may run twice: it does nothing that lasts.
struct LedgerFile: Hashable, Sendable {
    enum Kind: CaseIterable, Sendable {
        case plain, compatible, reversible, compatibleReversible, code, alone
    }

    let version: Int64
    let kind: Kind

    var hasEffect: Bool { kind != .alone }
    /// True if an older build can undo it by the ledger alone.
    var isReversible: Bool { kind == .reversible || kind == .compatibleReversible }
    var isCompatible: Bool { kind == .compatible || kind == .compatibleReversible }
}

/// What a build of the app does with the migrations that it has.
struct LedgerBuild: Hashable, Sendable {
    enum Newer: CaseIterable, Sendable { case refuse, rollBack, allow }

    /// Every file that the build has had, ascending, squashed ones among them.
    let files: [LedgerFile]
    /// The version up to which files were squashed into a baseline of that version; nil if none was.
    let squashed: Int64?
    let newer: Newer
    /// True if new databases begin with a snapshot.
    var hasSnapshot = false

    var replaced: [LedgerFile] { files.filter { $0.version <= squashed ?? .min } }
    var rest: [LedgerFile] { files.filter { $0.version > squashed ?? .min } }
    /// The versions that the build still has files of.
    var versions: Set<Int64> {
        Set(rest.map(\.version)).union(squashed.map { [$0] } ?? [])
    }
}

/// What is promised of a database that builds of several branches migrate: by value, from the files plainly run one by one.
///
/// - A database has the effect of every file of the build that migrates it, once; those below where it began excepted.
/// - It is refused as too old exactly if it lacks a file that was squashed, and as newer exactly if it has had one that the
///   build does not know, and that is neither compatible nor undone.
/// - A refused database stays as it is.
struct LedgerModel: Hashable, Sendable {
    /// An entry of the ledger.
    struct Entry: Hashable, Sendable {
        var isCompatible: Bool
        var isReversible: Bool
    }

    /// The versions whose effects are in the database.
    private(set) var effects: Set<Int64> = []
    private(set) var entries: [Int64: Entry] = [:]
    /// The version with which the database began, below which nothing is run; nil if it began with nothing.
    private(set) var floor: Int64?

    enum Outcome: Hashable, Sendable {
        case migrated
        case refused(String)
    }

    /// Plays a launch of a build, and returns how it ends.
    mutating func launch(_ build: LedgerBuild) -> Outcome {
        let replaced = Set(build.replaced.map(\.version))
        let known = replaced.union(build.versions)
        guard !entries.isEmpty else {
            begin(with: build)
            return .migrated
        }
        let ledger = Set(entries.keys)
        // A build that had squashed all that this one knows began the database.
        let isFromNewer = floor.map { $0 > known.max() ?? .max } ?? false
        if !isFromNewer, ledger.isDisjoint(with: known) { return .refused("differentSchema") }
        if replaced.contains(where: { !ledger.contains($0) && $0 > floor ?? .min }) {
            return .refused("tooOld")
        }
        let unknown = ledger.subtracting(known).filter { $0 > known.min() ?? .min }
        let isUndone =
            build.newer == .rollBack && !isFromNewer
            && unknown.allSatisfy { entries[$0]?.isReversible == true }
        if isUndone {
            for version in unknown {
                entries[version] = nil
                effects.remove(version)
                // It can come back; what was below it cannot.
                floor = floor.map { min($0, version - 1) }
            }
        } else if build.newer != .allow, unknown.contains(where: { entries[$0]?.isCompatible != true }) {
            return .refused("newerThanThisProcess")
        }
        for file in build.rest where entries[file.version] == nil && file.version > floor ?? .min {
            add(file)
        }
        return .migrated
    }

    private mutating func begin(with build: LedgerBuild) {
        if let squashed = build.squashed {
            effects.formUnion(build.replaced.filter(\.hasEffect).map(\.version))
            entries[squashed] = Entry(isCompatible: false, isReversible: false)
            floor = squashed
        } else if build.hasSnapshot {
            floor = build.rest.first?.version
        }
        for file in build.rest { add(file) }
    }

    private mutating func add(_ file: LedgerFile) {
        if file.hasEffect { effects.insert(file.version) }
        entries[file.version] = Entry(isCompatible: file.isCompatible, isReversible: file.isReversible)
    }
}
