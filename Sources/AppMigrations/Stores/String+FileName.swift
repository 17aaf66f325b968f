import MigrationDiagnostics

extension String {
    /// The text as a part of a file's name, different for different texts.
    package var asFileName: String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
        let escaped = utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        guard escaped.utf8.count > 100 else { return escaped }
        // File names end at 255 bytes. A hash tells long names apart that begin alike.
        return escaped.prefix(80) + "%" + String(utf8.fnv1a(after: FNV1a.start), radix: 16)
    }
}
