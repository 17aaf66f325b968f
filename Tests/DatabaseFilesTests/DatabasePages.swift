import Foundation
import GRDB
import TestTraits
import Testing

/// The pages of a database's file, to be damaged.
struct DatabasePages {
    let path: String
    var size = 4_096

    private var url: URL { URL(fileURLWithPath: path) }

    func read() throws -> Data { try Data(contentsOf: url) }

    func change(_ body: (inout Data) throws -> Void) throws {
        var data = try read()
        try body(&data)
        try data.write(to: url)
    }

    /// The bytes of a page.
    func range(_ page: Int) -> Range<Int> { (page - 1) * size..<page * size }

    /// The page that a table's tree begins with.
    func root(_ table: String) throws -> Int {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        let pages = try queue.integers("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'")
        return try Int(#require(pages.first))
    }

    /// The place of a cell: of a row, or in a page with children, of what is between two of them.
    func cell(_ index: Int, of page: Int) throws -> Int {
        let data = try read()
        let start = range(page).lowerBound
        // fileformat2.html, 1.6: the pages of indexes and tables, with children and without.
        #expect([2, 5, 10, 13].contains(data[start]))
        let pointer = start + (data[start] < 8 ? 12 : 8) + 2 * index
        return start + Int(data[pointer]) << 8 + Int(data[pointer + 1])
    }

    /// A child of a page.
    func child(_ index: Int, of page: Int) throws -> Int {
        let place = try cell(index, of: page)
        return try number(at: place)
    }

    /// The number of children with a key after them.
    func childCount(of page: Int) throws -> Int {
        let start = range(page).lowerBound
        let data = try read()
        return Int(data[start + 3]) << 8 + Int(data[start + 4])
    }

    /// The number in four bytes.
    func number(at place: Int) throws -> Int {
        try read()[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Writes a number into four bytes.
    func write(_ number: Int, at place: Int) throws {
        try change { data in
            for index in 0..<4 { data[place + index] = UInt8(number >> (24 - 8 * index) & 0xff) }
        }
    }

    func swap(_ first: Int, _ second: Int) throws {
        try change { data in
            let bytes = Data(data[range(first)])
            data.replaceSubrange(range(first), with: Data(data[range(second)]))
            data.replaceSubrange(range(second), with: bytes)
        }
    }

    func erase(_ page: Int) throws {
        try change { $0.replaceSubrange(range(page), with: Data(count: size)) }
    }
}
