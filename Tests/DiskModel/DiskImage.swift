/// The contents of a disk: the contents of its files, by number, and the entries of its folders.
public struct DiskImage: Sendable, Hashable {
    /// The bytes that are lost together, or not at all.
    public static let sectorSize = 512

    /// The files' contents.
    public var files: [Node: [UInt8]]
    /// The folders' entries; the first folder is number 0.
    public var folders: [Node: [String: Node]]

    /// Makes a disk.
    public init(files: [Node: [UInt8]] = [:], folders: [Node: [String: Node]] = [0: [:]]) {
        self.files = files
        self.folders = folders
    }

    /// The fate of an operation.
    enum Fate {
        case kept
        /// Sectors of a write are chosen one by one; what they add to the file's size too.
        case torn
        case dropped
    }

    /// Has an operation carried out, as far as fate lets it.
    mutating func carryOut(
        _ operation: DiskOperation, _ fate: Fate, _ random: inout some RandomNumberGenerator
    ) {
        guard fate != .dropped else { return }
        switch operation {
        case .write(let node, let offset, let bytes):
            write(bytes, to: node, at: offset, fate, &random)
        case .resize(let node, let size):
            resize(node, to: size)
        case .link(let node, let entry):
            folders[entry.folder, default: [:]][entry.name] = node
        case .unlink(let entry):
            folders[entry.folder]?[entry.name] = nil
        case .rename(let node, let from, let to):
            folders[from.folder]?[from.name] = nil
            folders[to.folder, default: [:]][to.name] = node
        case .sync, .syncAll, .report:
            break
        }
    }

    private mutating func resize(_ node: Node, to size: Int) {
        let old = files[node, default: []]
        files[node] =
            size < old.count ? Array(old[..<size]) : old + Array(repeating: 0, count: size - old.count)
    }

    private mutating func write(
        _ bytes: [UInt8], to node: Node, at offset: Int, _ fate: Fate,
        _ random: inout some RandomNumberGenerator
    ) {
        let end = offset + bytes.count
        // A file may have got its new size, and not what was written there: it reads as zeros.
        if end > files[node, default: []].count, fate == .kept || Bool.random(using: &random) {
            resize(node, to: end)
        }
        var start = offset
        while start < end {
            let next = min(end, (start / Self.sectorSize + 1) * Self.sectorSize)
            if fate == .kept || Bool.random(using: &random) {
                if files[node, default: []].count < next { resize(node, to: next) }
                files[node]?.replaceSubrange(start..<next, with: bytes[(start - offset)..<(next - offset)])
            }
            start = next
        }
    }
}
