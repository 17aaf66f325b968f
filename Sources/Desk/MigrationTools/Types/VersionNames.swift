/// The names of the enumerations that hold the tables of a version.
///
/// A timestamp is named by its day, such as `v20240601`, if it is the only one of that day, and by as much of its
/// time as it needs otherwise. A name never comes to mean another version: a second migration of a day takes the
/// short name from the first, and code that uses it no longer compiles.
struct VersionNames {
    private let names: [String: String]

    /// Names versions.
    ///
    /// - Parameter all: every version of the migrations, oldest first, whether it has types or not.
    init(_ all: [String]) {
        var unique = UniqueNames()
        var names: [String: String] = [:]
        for version in all {
            let name = Self.shortest(version, among: all) ?? "v\(SwiftName.type(version, unnamed: ""))"
            names[version] = unique.add(Self.isNumber(version) ? name : Self.plain(version), ifTaken: "_")
        }
        self.names = names
    }

    func name(of version: String) -> String { names[version] ?? "v\(version)" }

    /// Returns the shortest name of a timestamp.
    private static func shortest(_ version: String, among all: [String]) -> String? {
        guard isNumber(version) else { return nil }
        guard [14, 17].contains(version.count) else { return "v\(version)" }
        for count in [8, 12, 14] where count < version.count {
            let prefix = version.prefix(count)
            if !all.contains(where: { $0 != version && $0.hasPrefix(prefix) }) { return "v\(prefix)" }
        }
        return "v\(version)"
    }

    /// Returns the name for an identifier of GRDB's, which is `v1` for `v1`.
    private static func plain(_ identifier: String) -> String {
        let name = SwiftName.property(identifier, unnamed: "v")
        return SwiftName.declared(name) == name ? name : "\(name)Version"
    }

    private static func isNumber(_ version: String) -> Bool {
        version.utf8.allSatisfy { (0x30...0x39).contains($0) } && !version.isEmpty
    }
}
