import AppMigrations

/// A build of the journal that was shipped.
///
/// A real app is always its latest release, and has no such type. This sample plays all of its releases, so
/// its migrations ask which one they are in.
struct Release: Comparable, CustomStringConvertible {
    let version: AppVersion
    let build: Int

    static let first = Release(version: "1.0", build: 1)
    static let tags = Release(version: "1.1", build: 1)
    /// The app's version stayed 1.1: its users had to get the sub-migration 1.1-1 as well.
    static let tagsMended = Release(version: "1.1", build: 2)
    static let moods = Release(version: "2.0", build: 1)

    static let all: [Release] = [first, tags, tagsMended, moods]
    static let latest = moods

    /// The latest migration of the entries' schema that the build was shipped with.
    var latestSchema: Int64 {
        if self >= .moods { return 20240612083000000 }
        if self >= .tags { return 20240305101500000 }
        return 20240110090000000
    }

    /// What people can do with it that they could not do before; nil when they would see no difference.
    var news: String? {
        switch self {
        case .tags: "tags, and themes"
        case .moods: "moods, search, and more than one reminder"
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
    /// - Parameter text: its version.
    /// - Throws: `AppVersion.ParsingError` for what is no version, ``UnknownRelease`` for one that never was.
    init(_ text: String, build: Int) throws {
        let version = try AppVersion(parsing: text)
        guard let release = Self.all.first(where: { $0.version == version && $0.build == build }) else {
            throw UnknownRelease(version: version, build: build)
        }
        self = release
    }
}

/// There never was such a release.
struct UnknownRelease: Error, CustomStringConvertible {
    let version: AppVersion
    let build: Int

    var description: String {
        if version.subMigration != nil {
            return """
                An app is never at \(version): that is a sub-migration, a step that was added while the app stayed \
                at \(version.release). Launch it with --as \(version.release) --build 2.
                """
        }
        let releases = Release.all.map(\.description).joined(separator: ", ")
        return "The journal was never released as \(version), build \(build). Its releases: \(releases)."
    }
}
