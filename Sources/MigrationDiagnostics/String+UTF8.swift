extension String {
    /// Creates a text from bytes, or nil if they are not valid UTF-8.
    ///
    /// `String(validating:as:)` does so from iOS 18 and macOS 15.
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        self.init(decoding: bytes, as: UTF8.self)
        // What is invalid has become a replacement character.
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            bytes.withContiguousStorageIfAvailable { own.elementsEqual($0) } ?? own.elementsEqual(bytes)
        }
        guard isSame ?? utf8.elementsEqual(bytes) else { return nil }
    }
}
