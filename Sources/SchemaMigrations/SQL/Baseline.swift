/// The header of a file into which older migrations were squashed: the migrations that it stands for.
///
///     -- replaces: 20240110090000000 create_books
///     -- replaces: 20240203181500000 add_author
///     -- last release: 2.4
///
/// A new database runs the file. One that has had these migrations skips it.
package struct Baseline: Sendable {
    /// The beginning of a line that names a migration.
    package static let header = "-- replaces: "
    /// The beginning of the line that names a release.
    package static let releaseHeader = "-- last release: "

    /// The version and the name of each migration, as the file has them.
    package let lines: [String]
    /// The versions of the migrations, that of the file among them.
    package let versions: Set<SchemaVersion>
    /// The last release of the app that had these migrations, and so can migrate older databases; nil if unknown.
    package let lastRelease: String?

    /// Reads the comments at the beginning of a file.
    ///
    /// - Returns: nil, if the file stands for no other migrations.
    package init?(_ text: String) {
        var (lines, versions): ([String], Set<SchemaVersion>) = ([], [])
        var release: String?
        // An editor may have begun the file with a byte order mark.
        var rest = text.drop { $0 == "\u{FEFF}" }
        // The statements that follow may be long, and every launch may ask.
        while rest.hasPrefix("--") {
            let line = rest.prefix { !$0.isNewline }
            rest = rest[line.endIndex...].dropFirst()
            if line.hasPrefix(Self.header) {
                let migration = line.dropFirst(Self.header.count)
                lines.append(String(migration))
                let version = migration.split(separator: " ").first
                if let version = version.flatMap({ SchemaVersion($0) }) { versions.insert(version) }
            } else if line.hasPrefix(Self.releaseHeader) {
                release = String(line.dropFirst(Self.releaseHeader.count))
            }
        }
        guard !versions.isEmpty else { return nil }
        self.lines = lines
        self.versions = versions
        lastRelease = release
    }
}
