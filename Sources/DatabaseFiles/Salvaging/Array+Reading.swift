// Reading numbers from bytes that may be damaged: every bound is checked, and nothing traps.
extension [UInt8] {
    func byte(_ offset: Int) -> Int? {
        indices.contains(offset) ? Int(self[offset]) : nil
    }

    /// Reads a big-endian number of two bytes.
    func uint16(_ offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    /// Reads a big-endian number of four bytes; nil also where `Int` has 32 bits, and the number has as many.
    func uint32(_ offset: Int) -> Int? { word(offset).flatMap { Int(exactly: $0) } }

    /// Reads four bytes, such as a checksum.
    func word(_ offset: Int) -> UInt32? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return UInt32(self[offset]) << 24 | UInt32(self[offset + 1]) << 16 | UInt32(self[offset + 2]) << 8
            | UInt32(self[offset + 3])
    }

    /// Reads a big-endian number of up to eight bytes, in two's complement.
    func integer(_ offset: Int, bytes length: Int) -> Int64? {
        guard (1...8).contains(length), offset >= 0, offset <= count - length else { return nil }
        var value = Int64(Int8(bitPattern: self[offset]))
        for index in offset + 1..<offset + length { value = value << 8 | Int64(self[index]) }
        return value
    }

    /// Reads a number of variable length, and moves the offset behind it (fileformat2.html, 1.6).
    func varint(_ offset: inout Int, before end: Int) -> Int64? {
        let end = Swift.min(end, count)
        guard offset >= 0 else { return nil }
        var value: UInt64 = 0
        for place in 0..<9 {
            guard offset < end else { return nil }
            let byte = self[offset]
            offset += 1
            if place == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }

    /// Returns the sectors of a disk that have a part of some bytes of a page, and nothing but zeros: they may be lost.
    func sectorsOfZeros(in range: Range<Int>) -> [Range<Int>] {
        stride(from: range.lowerBound & ~511, to: Swift.min(range.upperBound, count - 511), by: 512).filter {
            // Most sectors begin with something else.
            self[$0] == 0 && self[$0 + 511] == 0 && self[$0..<$0 + 512].allSatisfy { $0 == 0 }
        }.map { $0..<$0 + 512 }
    }
}
