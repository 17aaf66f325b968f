extension SeenVersion {
    /// Returns true if another build was the first with this version; false if unknown.
    func isEarlierBuild(than number: String?) -> Bool {
        guard let build, let number else { return false }
        return build != number
    }

    /// Returns true if this build of the app has answered with the version; false if unknown.
    fileprivate func isAdopted(by number: String?) -> Bool {
        isAdopted && build != nil && build == number
    }
}

extension [SeenVersion] {
    /// Returns true if one build of a version was launched, and nothing else is known.
    package func areOnly(_ version: AppVersion, build number: String?) -> Bool {
        !isEmpty
            && allSatisfy { !$0.isAdopted && $0.version == version && !$0.isEarlierBuild(than: number) }
    }

    /// The versions that were not launched after a higher one.
    package var withoutVisits: [SeenVersion] {
        var highest = AppVersion.zero
        return filter { seen in
            defer { highest = Swift.max(highest, seen.version) }
            return seen.isAdopted || seen.version >= highest
        }
    }

    /// Returns the earliest version before a build that was no visit.
    package func earliest(before current: AppVersion, build number: String?) -> AppVersion? {
        let older = withoutVisits.filter {
            $0.version < current
                || $0.version == current && ($0.isAdopted || $0.isEarlierBuild(than: number))
        }
        return older.map(\.version).min()
    }

    /// Returns those without what a build has been answered for other managers, which is no evidence: managers are asked in any order.
    ///
    /// Where builds have no numbers, as those of a program outside a bundle, those of one version count as one.
    func withoutAnswers(of current: AppVersion, build number: String?) -> [SeenVersion] {
        let areUnnumbered =
            number == nil && allSatisfy { $0.build == nil && ($0.isAdopted || $0.version == current) }
        return filter { !$0.isAdopted(by: number) && !($0.isAdopted && areUnnumbered) }
    }

    /// Returns the latest version below another one that was no visit.
    func latest(before end: AppVersion) -> AppVersion? {
        withoutVisits.map(\.version).filter { $0.reach < end }.max()
    }
}

extension AppVersion {
    /// Below every version that an app has ever had: that of data of which nothing says how old it is.
    package static let zero: AppVersion = "0"

    /// The version whose steps an app of this version has run: a pre-release runs those of its release.
    var reach: AppVersion { max(self, release) }
}
