import AppMigrations

extension FuzzTarget {
    /// Versions: lines of one input are compared with each other.
    static let versions = FuzzTarget(
        name: "versions",
        seeds: [
            "1.1\n1.1.0\n1.1-2\n1.1-10", "2.0.0-beta.3\n2.0.0-rc.1+7\n2", "1.0-x-y-z\n1.0-0.3.7\n7",
            "18446744073709551615\n18446744073709551616\n2024.01", "v1.2\n1..2\n1.\n-1\n1.1-\n\n1.0-01",
        ]
    ) { bytes in
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).prefix(3)
        let versions = try lines.compactMap { line in try version(Array(line)) }
        for a in versions {
            for b in versions {
                let order = [a < b, a == b, b < a]
                try expect(order.count { $0 } == 1, "\(a) and \(b) are not in one order: \(order)")
                try expect(
                    a != b || a.hashValue == b.hashValue, "\(a) and \(b) are equal, but not their hashes")
                for c in versions where a <= b && b <= c {
                    try expect(a <= c, "\(a) <= \(b) <= \(c), but not \(a) <= \(c)")
                }
            }
        }
    }

    private static func version(_ bytes: [UInt8]) throws -> AppVersion? {
        let text = bytes.text
        do {
            let version = try AppVersion(parsing: text)
            try expect(looksRight(bytes), "\(text.debugDescription) was read")
            try expect(version.description == text, "\(text.debugDescription) prints as \(version)")
            return version
        } catch let error as AppVersion.ParsingError {
            try expect(
                (0...text.utf8.count).contains(error.offset), "\(text.debugDescription): \(error.offset)")
            return nil
        }
    }

    /// The shape of a version: digits and dots, then perhaps a suffix of the characters that one may have.
    private static func looksRight(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first, (0x30...0x39).contains(first) else { return false }
        return bytes.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
                || [0x2B, 0x2D, 0x2E].contains(byte)
        }
    }
}
