import DiskModel
import MigrationTesting
import MigrationTools
import Testing

@Suite("A disk after a power cut", .timed)
struct DiskModelTests {
    /// A file, number 1 and `record` by name, and a new one, number 2, that is to take its place.
    let start = DiskImage(files: [1: [1]], folders: [0: ["record": 1]])
    let new = DiskOperation.Entry(0, "record.new")
    let old = DiskOperation.Entry(0, "record")

    /// Everything that can be found under the name `record` after all operations.
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

    @Test("holds an old, new, empty or zeroed file if nothing was synced")
    func unsynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .rename(2, from: new, to: old),
        ]
        #expect(outcomes(operations, from: start) == [[1], [2], [], [0]])
    }

    @Test("holds an old or new file if only the file was synced, not its name")
    func fileSynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .sync(2), .rename(2, from: new, to: old),
        ]
        #expect(outcomes(operations, from: start) == [[1], [2]])
    }

    @Test("holds the new file if the file and then the folder were synced")
    func folderSynced() {
        let operations: [DiskOperation] = [
            .link(2, new), .write(2, offset: 0, bytes: [2]), .sync(2), .rename(2, from: new, to: old),
            .sync(0),
        ]
        #expect(outcomes(operations, from: start) == [[2]])
    }

    @Test("holds what was written before a sync, and perhaps what was written after it")
    func later() {
        let operations: [DiskOperation] = [
            .write(1, offset: 0, bytes: [2]), .syncAll, .write(1, offset: 0, bytes: [3]),
        ]
        #expect(outcomes(operations, from: start) == [[2], [3]])
    }

    @Test("holds any part of a write, in whole sectors")
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

    @Test("may hold the second of two writes without the first")
    func reordered() {
        let operations: [DiskOperation] = [
            .write(1, offset: 0, bytes: [2]), .write(1, offset: DiskImage.sectorSize, bytes: [3]),
        ]
        let zeros = [UInt8](repeating: 0, count: DiskImage.sectorSize - 1)
        #expect(outcomes(operations, from: start).contains([1] + zeros + [3]))
    }

    @Test("does not change what was reported before")
    func reports() {
        let log = DiskLog(operations: [.report("one"), .syncAll, .report("two")])
        #expect(log.reports(before: 2) == ["one"])
    }
}
