import AppMigrations

/// A shipped build of the journal.
///
/// A real app has no such type, because it is always its latest release. This sample plays all of its releases, so
/// its migrations check which one is running.
struct Release: Comparable, CustomStringConvertible {
    let version: AppVersion
    let build: Int

    static let first = Release(version: "1.0", build: 1)
    static let tags = Release(version: "1.1", build: 1)
    /// The app stayed at version 1.1, and adds the sub-migration 1.1-1.
    static let tagsFixed = Release(version: "1.1", build: 2)
    static let moods = Release(version: "2.0", build: 1)

    /// Search finds every form of a word, by an index that is filled after the launch.
    static let words = Release(version: "2.1", build: 1)
    /// The old index is gone.
    static let oneIndex = Release(version: "3.0", build: 1)

    static let all: [Release] = [first, tags, tagsFixed, moods, words, oneIndex]
    static let latest = oneIndex

    /// The latest schema migration that the build contains.
    var latestSchema: Int64 {
        if self >= .oneIndex { return 20241115090000000 }
        if self >= .words { return 20240902090000000 }
        if self >= .moods { return 20240612083000000 }
        if self >= .tags { return 20240305101500000 }
        return 20240110090000000
    }

    /// The new features; nil if users see no difference.
    var news: String? {
        switch self {
        case .tags: "tags, and themes"
        case .moods: "moods, search, and more than one reminder"
        case .words: "search that finds every form of a word"
        default: nil
        }
    }

    var description: String { build == 1 ? "\(version)" : "\(version) (build \(build))" }

    static func < (left: Release, right: Release) -> Bool {
        (left.version, left.build) < (right.version, right.build)
    }
}

extension Release {
    /// Finds a release.
    ///
    /// - Parameter text: The release's version.
    /// - Throws: An error if the version is malformed, ``UnknownRelease`` if there is no such release.
    init(_ text: String, build: Int) throws {
        let version = try AppVersion(parsing: text)
        guard let release = Self.all.first(where: { $0.version == version && $0.build == build }) else {
            throw UnknownRelease(version: version, build: build)
        }
        self = release
    }
}

/// There is no such release.
struct UnknownRelease: Error, CustomStringConvertible {
    let version: AppVersion
    let build: Int

    var description: String {
        if version.subMigration != nil {
            return """
                An app is never at \(version): that is a sub-migration, a step added while the app stayed \
                at \(version.release). Launch it with --as \(version.release) --build 2.
                """
        }
        let releases = Release.all.map(\.description).joined(separator: ", ")
        return "There is no release \(version), build \(build). The releases are \(releases)."
    }
}
