extension String {
    /// The text as a part of a file's name, different for different texts.
    package var asFileName: String {
        let safe = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-".utf8)
        let escaped = utf8.map { byte in
            safe.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        guard escaped.utf8.count > 100 else { return escaped }
        // File names end at 255 bytes. FNV-1a tells long names apart that begin alike.
        let hash = utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return escaped.prefix(80) + "%" + String(hash, radix: 16)
    }
}
