public import Foundation
import MigrationTools
import TestSupport
public import Testing

/// A thing that some tests need and that a machine may lack.
public struct Requirement: Sendable {
    private let reason: Comment
    private let isMet: @Sendable () -> Bool

    /// - Parameters:
    ///   - name: names it, without a colon.
    ///   - remedy: says how to provide it.
    ///   - isMet: returns whether it is there.
    public init(_ name: String, _ remedy: String, isMet: @escaping @Sendable () -> Bool) {
        reason = "Needs \(name): \(remedy)"
        self.isMet = isMet
    }

    fileprivate var trait: ConditionTrait { .enabled(reason, isMet) }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests on a machine that lacks what they need.
    ///
    /// Skip tests with this trait alone: `Scripts/test.sh` counts them by requirement.
    public static func needs(_ requirement: Requirement) -> Self { requirement.trait }
}

/// Folders that tests use where a machine has them.
public enum RequirementFolders {
    /// A folder on another volume than the temporary one.
    public static let otherVolume = URL(fileURLWithPath: "/dev/shm")
}

extension Requirement {
    /// Migrations that shipped in real applications.
    public static let realMigrations = Self(
        "real applications' migrations", "put them into shared/real-migrations beside the repository."
    ) { RealMigrations.areHere }

    /// An SQLite that encrypts databases.
    public static let encryption = Self("SQLCipher", "see Scripts/with-sqlite.sh.") { canEncrypt }

    /// An SQLite that does not encrypt databases.
    public static let noEncryption = Self("SQLite without encryption", "SQLCipher has it.") { !canEncrypt }

    private static let canEncrypt = (try? Encryption.isAvailable()) == true

    #if os(macOS) || os(Linux)
        /// A terminal for a process.
        public static let terminal = Self("/usr/bin/script", "install util-linux.") {
            BuiltProcess.hasTerminal
        }
    #endif

    /// A second volume, in memory.
    public static let otherVolume = Self("a second volume", "mount one at /dev/shm.") {
        let files = FileManager.default
        func volume(_ path: String) -> Int? {
            (try? files.attributesOfItem(atPath: path)[.systemNumber] as? NSNumber)?.intValue
        }
        let other = RequirementFolders.otherVolume.path
        let here = volume(files.temporaryDirectory.path)
        return files.isWritableFile(atPath: other) && volume(other) != here
    }

    #if os(Linux)
        /// A disk that a test can fill or write-protect.
        public static let smallDisk = Self("root", "only root may mount a small disk.") {
            SmallDisk.isAllowed
        }
    #endif
}
