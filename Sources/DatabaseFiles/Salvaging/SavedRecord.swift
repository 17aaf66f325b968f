/// The values of a row or of an index's entry, by their places in the bytes (fileformat2.html, 2.1).
struct SavedRecord {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    /// The bytes that the values are in: those of a page, if the record is in one.
    let bytes: [UInt8]
    let encoding: Int
    private(set) var values: [Value] = []
    private let end: Int
    private let isTrusted: Bool
    private let zeros: [Range<Int>]

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - range: the record's bytes.
    ///   - isTrusted: true if nothing is wrong with the page that it is in. Then a text may be anything, as for SQLite, outside
    ///     sectors that may be lost.
    ///   - zeros: those sectors. A blob may have had its zeros.
    /// - Returns: nil unless it has exactly the length that its header gives, and every text looks like one: what apps write
    ///   nearly always does, and a header in which a bit has flipped hardly ever.
    init?(
        _ bytes: [UInt8], in range: Range<Int>, encoding: Int, isTrusted: Bool, zeros: [Range<Int>] = []
    ) {
        self.bytes = bytes
        self.encoding = encoding
        self.isTrusted = isTrusted
        self.zeros = zeros
        end = range.upperBound
        var offset = range.lowerBound
        guard let length = bytes.varint(&offset, before: end), length > 0, length <= Int64(range.count) else {
            return nil
        }
        let header = range.lowerBound + Int(length)
        guard offset <= header else { return nil }
        values.reserveCapacity(header - offset)
        var place = header
        while offset < header {
            guard let type = bytes.varint(&offset, before: header), let value = value(type, at: &place) else {
                return nil
            }
            values.append(value)
        }
        guard place == end, offset == header else { return nil }
    }

    private func value(_ type: Int64, at place: inout Int) -> Value? {
        func integer(_ length: Int) -> Value? {
            guard place + length <= end, let integer = bytes.integer(place, bytes: length) else { return nil }
            place += length
            return .integer(integer)
        }
        switch type {
        case 0: return .null
        case 1...4: return integer(Int(type))
        case 5: return integer(6)
        case 6: return integer(8)
        case 7:
            guard place + 8 <= end, let bits = bytes.integer(place, bytes: 8) else { return nil }
            place += 8
            let number = Double(bitPattern: UInt64(bitPattern: bits))
            // SQLite stores a null instead.
            return number.isNaN ? nil : .real(number)
        case 8, 9: return .integer(type - 8)
        case 12...:
            let count = (type - 12) / 2
            guard count <= Int64(end - place) else { return nil }
            let range = place..<place + Int(count)
            place = range.upperBound
            if type % 2 == 0 { return .blob(range) }
            let isSound = isTrusted && !zeros.contains { $0.overlaps(range) }
            return isSound || isText(range) ? .text(range) : nil
        default: return nil
        }
    }

    /// Returns true if the bytes can be a text.
    ///
    /// Nobody writes three NULs into one, but a lost sector is full of them, and so is a page of numbers.
    private func isText(_ range: Range<Int>) -> Bool {
        if encoding == 1, isPlain(range) { return true }
        var (zeros, longest) = (0, 0)
        var all: UInt8 = 0
        bytes.withUnsafeBufferPointer { bytes in
            for byte in bytes[range] {
                all |= byte
                zeros = byte == 0 ? zeros + 1 : 0
                longest = max(longest, zeros)
            }
        }
        guard longest < 3 else { return false }
        guard encoding == 1 else { return range.count % 2 == 0 }
        return all < 0x80 || bytes[range].isUTF8
    }

    /// Returns true if all bytes are ASCII's, and none is a NUL, as far as that shows in words of eight: nearly always.
    private func isPlain(_ range: Range<Int>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var place = range.lowerBound
            let (ones, highBits): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
            var found: UInt64 = 0
            while place + 8 <= range.upperBound {
                let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                // Taking one from each byte sets the high bit of one that is 0; another bit may be set by the carry.
                found |= word | (word &- ones)
                place += 8
            }
            while place < range.upperBound {
                let byte = UInt64(bytes[place])
                found |= byte | (byte &- 1)
                place += 1
            }
            return found & highBits == 0
        }
    }

    /// The text of a value; nil if it is none.
    func text(_ index: Int) -> String? {
        guard values.indices.contains(index), case .text(let range) = values[index] else { return nil }
        if encoding == 1 { return String(decoding: bytes[range], as: UTF8.self) }
        let units = stride(from: range.lowerBound, to: range.upperBound - 1, by: 2).map { place in
            let pair = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            return encoding == 2 ? pair.1 << 8 | pair.0 : pair.0 << 8 | pair.1
        }
        return String(decoding: units, as: UTF16.self)
    }

    func integer(_ index: Int) -> Int64? {
        guard values.indices.contains(index), case .integer(let integer) = values[index] else { return nil }
        return integer
    }
}

extension ArraySlice<UInt8> {
    /// True if the bytes are a text in UTF-8.
    var isUTF8: Bool {
        // What is none is replaced, and so has other bytes.
        return String(decoding: self, as: UTF8.self).utf8.elementsEqual(self)
    }
}
