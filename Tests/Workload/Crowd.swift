import AppMigrations
import Foundation
import Tracer

/// Forks of this process that are let go at the same moment.
final class Crowd {
    /// One of them.
    final class Member {
        let id: pid_t
        fileprivate let output: Int32

        fileprivate init(id: pid_t, output: Int32) {
            self.id = id
            self.output = output
        }

        /// Waits until it has been stopped, or has ended.
        func waitUntilStopped() -> Bool {
            var end = tracer_end()
            return !tracer_wait(id, &end)
        }

        /// Waits until it has ended.
        func end() -> Child.End {
            var end = tracer_end()
            while !tracer_wait(id, &end) {}
            lseek(output, 0, SEEK_SET)
            let text = FileHandle(fileDescriptor: output).readDataToEndOfFile()
            return Child.End(
                status: end.status, signal: end.signal == 0 ? nil : end.signal,
                lines: String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
        }
    }

    let members: [Member]

    private final class Body {
        let run: () -> Void
        let gate: [Int32]

        init(_ gate: [Int32], _ run: @escaping () -> Void) {
            self.gate = gate
            self.run = run
        }
    }

    /// Files without names for what members print, used again and again.
    nonisolated(unsafe) private static var outputs: [Int32] = []

    /// Starts as many as asked for, which wait, and lets them go when all are there.
    ///
    /// - Parameters:
    ///   - size: how many.
    ///   - seconds: how long each may take.
    init(of size: Int, seconds: UInt32 = 900, _ run: @escaping () -> Void) throws {
        while Self.outputs.count < size { Self.outputs.append(fileno(tmpfile())) }
        var gate: [Int32] = [0, 0]
        guard pipe(&gate) == 0 else { throw POSIXError.current }
        let body = Body(gate, run)
        members = try Self.outputs.prefix(size).map { output in
            ftruncate(output, 0)
            lseek(output, 0, SEEK_SET)
            let id = tracer_start(
                { context in
                    guard let context else { return 1 }
                    let body = Unmanaged<Body>.fromOpaque(context).takeUnretainedValue()
                    close(body.gate[1])
                    // The end of the pipe is there when nobody has its other end any more.
                    var byte: UInt8 = 0
                    _ = read(body.gate[0], &byte, 1)
                    body.run()
                    return 0
                }, Unmanaged.passUnretained(body).toOpaque(), output, seconds)
            guard id > 0 else { throw POSIXError.current }
            return Member(id: id, output: output)
        }
        for end in gate { close(end) }
        withExtendedLifetime(body) {}
    }
}
