import Foundation
import Tracer

/// A call's arguments by index.
struct Arguments {
    let thread: pid_t
    private let values: [UInt64]

    init(_ call: tracer_call) {
        thread = call.thread
        values = withUnsafeBytes(of: call.arguments) { Array($0.bindMemory(to: UInt64.self)) }
    }

    subscript(index: Int) -> Int { Int(truncatingIfNeeded: values[index]) }

    /// The text that an argument points to, read by pages: the next one may not be there.
    func text(_ index: Int) -> String {
        var address = values[index]
        var bytes: [UInt8] = []
        while bytes.count < Int(PATH_MAX) {
            var part = [UInt8](repeating: 0, count: 4096 - Int(address % 4096))
            let count = tracer_read(thread, address, &part, part.count)
            if let end = part[..<count].firstIndex(of: 0) {
                return String(decoding: bytes + part[..<end], as: UTF8.self)
            }
            guard count > 0 else { break }
            bytes += part[..<count]
            address += UInt64(count)
        }
        return ""
    }
}
