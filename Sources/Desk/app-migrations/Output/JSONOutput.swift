import Foundation

/// Prints a value as JSON, for other programs to read.
///
/// Versions are texts: as numbers of 17 digits they would be rounded by programs that read numbers as JavaScript
/// does (RFC 8259, section 6).
func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}
