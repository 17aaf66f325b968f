/// A release of a small app: 1.0, 2.0 or 3.0, in its first build or in a later one.
///
/// The second build of a release is at the same version, and may bring a step or a manager that the first one lacks.
package struct SmallRelease: RawRepresentable, Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral {
    /// One number, as a database can keep it.
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package init(_ number: Int, build: Int = 1) { rawValue = number + (build - 1) * 10 }

    package init(integerLiteral number: Int) { rawValue = number }

    /// The second build of a release.
    package static func secondBuild(of number: Int) -> Self { Self(number, build: 2) }

    /// 2 for 2.0.
    package var number: Int { rawValue % 10 }
    package var build: Int { rawValue / 10 + 1 }

    /// The version of the app: 20 for 2.0.
    package var version: Int { number * 10 }
    /// Above the last sub-migration of the version.
    package var ceiling: Int { number * 10 + 9 }

    package static func < (one: Self, other: Self) -> Bool {
        (one.number, one.build) < (other.number, other.build)
    }

    /// The release as Swift code.
    package var code: String { build == 1 ? "\(number)" : ".secondBuild(of: \(number))" }
}

extension SmallRelease: CustomStringConvertible {
    package var description: String { build == 1 ? "\(number).0" : "build \(build) of \(number).0" }
}
