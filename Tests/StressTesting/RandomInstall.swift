import Foundation
import MigrationTools
import TestSupport

/// An install with a random life, which a seed determines.
protocol RandomInstall: SendableMetatype {
    /// What has happened, in order.
    var story: [String] { get }

    /// Makes the install in a folder that is there, and empty.
    init(seed: UInt64, in folder: URL) throws

    /// Lives, up to a launch of the last release that comes to its end.
    ///
    /// - Returns: what is wrong; nil if nothing is.
    mutating func live() throws -> String?
}

extension Range<UInt64> {
    /// Tries an install for each seed, in a folder of its own.
    func tryEach<Install: RandomInstall>(_ type: Install.Type) throws -> StressOutcome {
        let parent = try TemporaryFolder.inMemory()
        return tryEach(unit: "installs") { seed in
            let folder = parent.file("\(seed)")
            defer { try? FileManager.default.removeItem(at: folder) }
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                var install = try Install(seed: seed, in: folder)
                do {
                    return try install.live().map { "seed \(seed): \($0), after \(install.story)" }
                } catch {
                    return "seed \(seed): \(error), after \(install.story)"
                }
            } catch {
                return "seed \(seed): \(error)"
            }
        }
    }
}
