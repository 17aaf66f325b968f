import Foundation

/// The algorithm of MFMigrationManager, written afresh from its description.
///
/// At each registration it reads the version's parts by a regular expression, compares numerically with the current
/// version and the one of the last launch, and runs what lies in between at once. `UserDefaults` hold the record.
struct MFMigrationManager {
    /// When the regular expression is compiled.
    enum Expression {
        /// At each registration, as the description has it.
        case each
        /// Once for a process, as a careful developer would.
        case once

        private static let pattern = #"^(\d+(?:\.\d+)*)(?:-(\d+))?$"#
        private static let compiled = Result { try NSRegularExpression(pattern: pattern) }

        fileprivate func get() throws -> NSRegularExpression {
            switch self {
            case .each: try NSRegularExpression(pattern: Self.pattern)
            case .once: try Self.compiled.get()
            }
        }
    }

    private let name: String
    private let current: String
    private let defaults: UserDefaults
    private let expression: Expression

    init(name: String, current: String, defaults: UserDefaults, expression: Expression) {
        self.expression = expression
        self.name = name
        self.current = current
        self.defaults = defaults
    }

    func whenMigrating(to version: String, run body: () -> Void) throws {
        let parts = try Self.parts(of: version, expression)
        guard Self.isAscendingOrSame(parts.release, current) else { return }
        let last = defaults.string(forKey: "\(name).lastVersion") ?? "0"
        guard last.compare(parts.release, options: .numeric) != .orderedDescending else { return }
        let lastSub = defaults.integer(forKey: "\(name).lastSubMigration")
        guard last.compare(parts.release, options: .numeric) == .orderedAscending || parts.sub > lastSub
        else { return }
        body()
        defaults.set(parts.release, forKey: "\(name).lastVersion")
        defaults.set(parts.sub, forKey: "\(name).lastSubMigration")
    }

    /// Reads a version, and compares it with another one.
    static func isAtMost(_ version: String, _ other: String, _ expression: Expression) throws -> Bool {
        isAscendingOrSame(try parts(of: version, expression).release, other)
    }

    private static func isAscendingOrSame(_ version: String, _ other: String) -> Bool {
        version.compare(other, options: .numeric) != .orderedDescending
    }

    private static func parts(
        of version: String, _ expression: Expression
    ) throws -> (release: String, sub: Int) {
        let range = NSRange(version.startIndex..., in: version)
        guard let match = try expression.get().firstMatch(in: version, range: range),
            let release = Range(match.range(at: 1), in: version)
        else { throw CocoaError(.formatting) }
        let sub = Range(match.range(at: 2), in: version).flatMap { Int(version[$0]) } ?? 0
        return (String(version[release]), sub)
    }

    /// Keeps the defaults of this process away from the user's.
    static func keepDefaults(in folder: URL) {
        setenv("CFFIXED_USER_HOME", folder.path, 1)
    }
}
