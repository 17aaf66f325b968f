/// Everything that a process has done to a disk, in order, and what a power cut may leave of it.
///
/// The model is that of POSIX with a file system that journals its metadata:
///
/// - What has been synced is there. `fsync` and `fdatasync` cover a file's contents and size, or a folder's entries, as
///   far as they were changed before; `syncfs` covers everything. That a file's sync saves its name too, as it does on
///   most file systems, is not assumed.
/// - Each other operation may be there or not, whatever became of those around it: so they are reordered. This goes
///   for the entries of one folder as well, although journals keep their order.
/// - Of a write, any of its sectors may be there. A file may have grown without what was written there, and then
///   holds zeros. Of sectors that were written twice the second may be lost, and is never overtaken by the first: both
///   are one page of the cache.
/// - A name is changed in one step, and a move of a name is one change.
///
/// Memory that is mapped and written there is not seen, and need not be: SQLite does so with its `-shm` files
/// alone, and makes them anew when it is the first to open a database.
public struct DiskLog: Sendable {
    /// The contents of the disk at first.
    public var start: DiskImage
    /// The operations on it.
    public var operations: [DiskOperation]

    /// Makes a log.
    public init(start: DiskImage = DiskImage(), operations: [DiskOperation] = []) {
        self.start = start
        self.operations = operations
    }

    /// How much is left of what is not certain.
    public enum Loss: Sendable, Hashable {
        case none
        case all
        /// Of the operations this share is dropped, and as much torn, from 0 to 0.5.
        case share(Double)
    }

    /// The state that a power cut leaves.
    ///
    /// - Parameters:
    ///   - point: how many operations there were before it.
    ///   - loss: how much is left of what is not certain.
    ///   - random: makes the choices.
    public func image(
        cutAfter point: Int, losing loss: Loss, _ random: inout some RandomNumberGenerator
    ) -> DiskImage {
        let certain = certainty(at: point)
        var image = start
        for (operation, isCertain) in zip(operations[..<point], certain) {
            image.carryOut(operation, isCertain ? .kept : loss.fate(&random), &random)
        }
        return image
    }

    /// Which of the operations before a point nothing can take back.
    func certainty(at point: Int) -> [Bool] {
        var synced: Set<Node> = []
        var isAllSynced = false
        let backwards = operations[..<point].reversed().map { operation in
            switch operation {
            case .sync(let node): synced.insert(node)
            case .syncAll: isAllSynced = true
            default: break
            }
            return isAllSynced || operation.node.map(synced.contains) ?? true
        }
        return backwards.reversed()
    }

    /// The reports before a point.
    public func reports(before point: Int) -> [String] {
        operations[..<point].compactMap { if case .report(let text) = $0 { text } else { nil } }
    }
}

extension DiskLog.Loss {
    fileprivate func fate(_ random: inout some RandomNumberGenerator) -> DiskImage.Fate {
        switch self {
        case .none: return .kept
        case .all: return .dropped
        case .share(let share):
            let number = Double.random(in: 0..<1, using: &random)
            return number < share ? .dropped : number < 2 * share ? .torn : .kept
        }
    }
}
