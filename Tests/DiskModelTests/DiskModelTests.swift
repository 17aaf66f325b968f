import DiskModel
import MigrationTesting
import Testing

@Suite("After a power cut")
struct DiskModelTests {
    /// A file, number 1 and `record` by name, and a new one, number 2, that is to take its place.
    let start = DiskImage(files: [1: [1]], folders: [0: ["record": 1]])
    let new = DiskOperation.Entry(0, "record.new")
    let old = DiskOperation.Entry(0, "record")

    /// What can be found under the name `record` after all operations.
    func outcomes(_ operations: [DiskOperation], from start: DiskImage) -> Set<[UInt8]?> {
        let log = DiskLog(start: start, operations: operations)
        var random = RandomNumbers(seed: 1)
        let losses = [.none, .all] + Array(repeating: DiskLog.Loss.share(0.3), count: 300)
        return Set(
            losses.map { loss in
                let image = log.image(cutAfter: operations.count, losing: loss, &random)
                return image.folders[0]?["record"].map { image.files[$0, default: []] }
            })
    }

    @Test("what was replaced without any sync is old, new, empty, or zeros")
    func unsynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .rename(2, from: new, to: old),
        ]
        #expect(outcomes(operations, from: start) == [[1], [2], [], [0]])
    }

    @Test("what was replaced with a sync of the file is old or new: the name is not synced")
    func fileSynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .sync(2), .rename(2, from: new, to: old),
        ]
        #expect(outcomes(operations, from: start) == [[1], [2]])
    }

    @Test("what was replaced with syncs of the file and then of the folder is new")
    func folderSynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .sync(2), .rename(2, from: new, to: old),
            .sync(0),
        ]
        #expect(outcomes(operations, from: start) == [[2]])
    }

    @Test("a sync covers what was done before it, and not what comes after")
    func later() {
        let operations: [DiskOperation] = [
            .write(1, offset: 0, bytes: [2]), .syncAll, .write(1, offset: 0, bytes: [3]),
        ]
        #expect(outcomes(operations, from: start) == [[2], [3]])
    }

    @Test("a write is torn between its sectors, and nowhere else")
    func torn() {
        let sector = DiskImage.sectorSize
        let before = [UInt8](repeating: 1, count: 3 * sector)
        let after = [UInt8](repeating: 2, count: sector + 20)
        let found = outcomes(
            [.write(1, offset: sector - 10, bytes: after)],
            from: DiskImage(files: [1: before], folders: [0: ["record": 1]]))
        let parts = [(sector - 10)..<sector, sector..<(2 * sector), (2 * sector)..<(2 * sector + 10)]
        let expected = (0..<8).map { choice in
            var bytes = before
            for (bit, part) in parts.enumerated() where choice >> bit & 1 == 1 {
                for index in part { bytes[index] = 2 }
            }
            return bytes
        }
        #expect(found == Set(expected))
    }

    @Test("of two writes the second may be there without the first")
    func reordered() {
        let operations: [DiskOperation] = [
            .write(1, offset: 0, bytes: [2]), .write(1, offset: DiskImage.sectorSize, bytes: [3]),
        ]
        let zeros = [UInt8](repeating: 0, count: DiskImage.sectorSize - 1)
        #expect(outcomes(operations, from: start).contains([1] + zeros + [3]))
    }

    @Test("what was reported before it stays reported")
    func reports() {
        let log = DiskLog(operations: [.report("one"), .syncAll, .report("two")])
        #expect(log.reports(before: 2) == ["one"])
    }
}
