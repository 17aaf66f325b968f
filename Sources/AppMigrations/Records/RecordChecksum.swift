import Foundation
import MigrationDiagnostics

/// The second line of a record's file: a checksum of every byte behind it.
///
/// A bit that has flipped on the disk can make another record that is as valid, with which a step would be skipped or
/// run again. A file without the line is read as it is: whoever edits one by hand removes it.
enum RecordChecksum {
    /// The key, which is not a part of the state.
    static let key = "checksum"

    private static let start = Array("{\n  \"\(key)\" : \"".utf8)
    private static let end = Array("\",\n".utf8)
    private static let digits = 16
    private static let count = start.count + digits + end.count

    /// Puts the checksum at the top of an indented JSON object.
    static func adding(to document: Data) -> Data {
        let rest = document.dropFirst(2)
        var data = Data(start)
        data.append(contentsOf: sum(of: rest))
        data.append(contentsOf: end)
        data.append(rest)
        return data
    }

    /// Throws an error if a file begins with the checksum of other contents.
    static func check(_ data: Data) throws {
        guard data.starts(with: start) else { return }
        let line = data.prefix(count)
        guard line.count == count, line.suffix(end.count).elementsEqual(end) else { return }
        guard !line.dropFirst(start.count).prefix(digits).elementsEqual(sum(of: data.dropFirst(count))) else {
            return
        }
        throw MigrationError(
            .damagedStore, "it has changed since it was written: the checksum at its top differs",
            remedy: """
                Nothing was changed. If you have edited it by hand, remove the line with the checksum. If not, restore \
                it from a backup, or call replaceRecord(assuming:).
                """)
    }

    @inline(never)
    private static func sum(of data: Data) -> [UInt8] {
        let hash = data.withUnsafeBytes { $0.fnv1a(after: FNV1a.start) }
        let text = String(hash, radix: 16)
        return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
    }
}
