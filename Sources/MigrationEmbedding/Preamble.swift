/// The blanks and comments before a statement.
struct Preamble {
    /// The comments that end with their line.
    private(set) var lineComments: [String] = []
    /// The offset of the statement, in bytes.
    private(set) var end: Int

    /// Reads the bytes of a text from an offset on.
    init(_ bytes: [UInt8], from start: Int = 0) {
        func follows(_ text: String, at index: Int) -> Bool {
            bytes[index...].starts(with: text.utf8)
        }
        end = start
        while end < bytes.count {
            if bytes[end] <= 0x20 || follows(";", at: end) {
                end += 1
            } else if follows("--", at: end) {
                let comment = bytes[end...].prefix { $0 != UInt8(ascii: "\n") }
                lineComments.append(String(decoding: comment, as: UTF8.self))
                end = comment.endIndex
            } else if follows("/*", at: end) {
                end += 2
                while end < bytes.count, !follows("*/", at: end) { end += 1 }
                end = min(end + 2, bytes.count)
            } else {
                return
            }
        }
    }
}
