import Foundation
import GRDB
import MigrationTesting
import MigrationTools
import SchemaMigrations

/// A way in which a database is damaged.
enum SalvageDamage: String, CaseIterable, Sendable {
    case bits, zeroedPages, swappedPages, tornSectors, tornPages, truncated, header, firstPage, schemaRoot
    case otherLog, freelist

    /// True if bytes inside of values may have changed, which nothing can see.
    var changesValues: Bool { [.bits, .tornSectors, .tornPages].contains(self) }

    /// Damages a file.
    func damage(_ url: URL, _ template: SalvageTemplate, _ random: inout RandomNumbers) throws {
        var data = [UInt8](try Data(contentsOf: url))
        let size = template.pageSize
        let pages = data.count / size
        func page(_ number: Int) -> Range<Int> { (number - 1) * size..<number * size }
        func noise(_ range: Range<Int>) {
            for index in range { data[index] = UInt8.random(in: 0...255, using: &random) }
        }
        switch self {
        case .bits:
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                data[Int.random(in: 100..<data.count, using: &random)] ^=
                    1 << UInt8.random(in: 0..<8, using: &random)
            }
        case .zeroedPages:
            for _ in 0..<3 {
                for index in page(Int.random(in: 2...pages, using: &random)) { data[index] = 0 }
            }
        case .swappedPages:
            let (first, second) = (
                page(Int.random(in: 2...pages, using: &random)),
                page(Int.random(in: 2...pages, using: &random))
            )
            let bytes = Array(data[first])
            data.replaceSubrange(first, with: Array(data[second]))
            data.replaceSubrange(second, with: bytes)
        case .tornSectors, .tornPages:
            let sector = self == .tornSectors ? 512 : 4_096
            for _ in 0..<3 {
                let start = Int.random(in: 1..<max(2, data.count / sector), using: &random) * sector
                if start + sector <= data.count { noise(start..<start + sector) }
            }
        case .truncated:
            data.removeLast(Int.random(in: 1..<data.count * 2 / 3, using: &random))
        case .header:
            data[Int.random(in: 0..<100, using: &random)] = UInt8.random(in: 0...255, using: &random)
            data[Int.random(in: 0..<32, using: &random)] = UInt8.random(in: 0...255, using: &random)
        case .firstPage:
            noise(0..<size)
        case .schemaRoot:
            noise(100..<min(300, size))
        case .otherLog:
            try writeOtherLog(beside: url, template, &random)
        case .freelist:
            // The list leads back to its first page, or to a page that is in use.
            guard data[32...35].contains(where: { $0 != 0 }) else { return noise(36..<40) }
            let trunk = data[32...35].reduce(0) { $0 << 8 | Int($1) }
            let next = Bool.random(using: &random) ? trunk : Int.random(in: 2...pages, using: &random)
            for index in 0..<4 {
                data[page(trunk).lowerBound + index] = UInt8(next >> (24 - 8 * index) & 0xff)
            }
        }
        try Data(data).write(to: url)
    }

    /// Leaves the write-ahead log of another database of the same app beside a file.
    private func writeOtherLog(
        beside url: URL, _ template: SalvageTemplate, _ random: inout RandomNumbers
    ) throws {
        let other = url.appendingPathExtension("other")
        let queue = try DatabaseQueue(path: other.path)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA page_size = \(template.pageSize); VACUUM; PRAGMA journal_mode = WAL")
        }
        try SalvageTemplate.schema().migrate(queue, upTo: 1)
        try queue.write { db in
            for _ in 1...200 { try db.execute(sql: "INSERT INTO twin_a(text) VALUES ('other')") }
        }
        // A log of all pages would be a whole database.
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        try queue.write { db in
            for id in 1...Int.random(in: 1...300, using: &random) {
                try db.execute(sql: "INSERT INTO note VALUES (?, 'other', 'other', 0)", arguments: [id])
            }
        }
        try FileManager.default.copyItem(atPath: other.path + "-wal", toPath: url.path + "-wal")
        try queue.close()
        for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: other.path + end) }
    }
}
