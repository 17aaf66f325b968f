/// The FNV-1a hash, which is the same in every process: for noticing changes, not for withstanding attacks.
package enum FNV1a {
    /// The hash of no bytes.
    @inlinable package static var start: UInt64 { 0xcbf2_9ce4_8422_2325 }
}

extension Sequence<UInt8> {
    /// Returns the FNV-1a hash of the bytes that follow those with another hash.
    @inlinable
    package func fnv1a(after hash: UInt64) -> UInt64 {
        reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
