/// The number of a file or a folder, which stays when its name changes.
public typealias Node = Int

/// Something that a process has done to a file system, or has told.
public enum DiskOperation: Sendable, Hashable {
    /// Bytes of a file were written.
    case write(Node, offset: Int, bytes: [UInt8])
    /// A file was made shorter or longer.
    case resize(Node, size: Int)
    /// A folder got an entry for a file or a folder, new or linked; one that had the name is replaced.
    case link(Node, Entry)
    /// A folder lost an entry.
    case unlink(Entry)
    /// An entry was moved, in one step, to the place of another.
    case rename(Node, from: Entry, to: Entry)
    /// A file's contents, or a folder's entries, were synced: `fsync`, `fdatasync`.
    case sync(Node)
    /// All of the file system was synced: `syncfs`, `sync`.
    case syncAll
    /// Somebody was told something, which a power cut does not take back.
    case report(String)

    /// A name in a folder.
    public struct Entry: Sendable, Hashable {
        /// The folder's number.
        public var folder: Node
        /// The name.
        public var name: String

        /// Makes a name.
        public init(_ folder: Node, _ name: String) {
            self.folder = folder
            self.name = name
        }
    }

    /// Whose sync makes the operation certain; nil when there is nothing to be synced.
    var node: Node? {
        switch self {
        case .write(let node, _, _), .resize(let node, _): node
        // A journal has both halves of a move, so a sync of either folder would do; to ask for the new one is strict.
        case .link(_, let entry), .unlink(let entry), .rename(_, _, let entry): entry.folder
        case .sync, .syncAll, .report: nil
        }
    }
}
