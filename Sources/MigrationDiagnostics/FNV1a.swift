/// The FNV-1a hash, which is the same in every process: for noticing changes, not for withstanding attacks.
@usableFromInline
package enum FNV1a {
    /// The hash of no bytes.
    @inlinable package static var start: UInt64 { 0xcbf2_9ce4_8422_2325 }

    /// Returns the hash of what has a hash and a byte after it.
    @inlinable
    package static func hash(_ hash: UInt64, _ byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}

extension Sequence<UInt8> {
    /// Returns the FNV-1a hash of the bytes that follow those with another hash.
    @inlinable
    package func fnv1a(after hash: UInt64) -> UInt64 {
        reduce(hash, FNV1a.hash)
    }
}
