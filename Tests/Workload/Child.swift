import Foundation
import Tracer

/// A fork of this process, in which a body is run, traced or not.
struct Child {
    /// How it has ended.
    struct End {
        /// Its exit status, when no signal has killed it.
        let status: Int32
        /// The signal that has killed it; nil for none.
        ///
        /// `SIGALRM` when it has taken too long: its last lines tell where its threads were.
        let signal: Int32?
        /// Its output, by lines.
        let lines: [String]
    }

    /// How long a child may take that hangs.
    ///
    /// A healthy one takes a fraction of a second.
    static let secondsUntilHung: UInt32 = 600

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private final class Watcher {
        let judge: (tracer_call) -> tracer_verdict
        init(_ judge: @escaping (tracer_call) -> tracer_verdict) { self.judge = judge }
    }

    /// Runs a body.
    ///
    /// - Parameters:
    ///   - watch: judges each system call, before and after it; nil for a child that is left alone.
    ///   - body: what is run.
    static func run(
        watching watch: ((tracer_call) -> tracer_verdict)? = nil, _ body: @escaping () -> Void
    ) throws -> End {
        let body = Body(body)
        let watcher = watch.map(Watcher.init)
        let output = Pipe()
        var end = tracer_end()
        let error = tracer_run(
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeUnretainedValue().run() }
                return 0
            }, Unmanaged.passUnretained(body).toOpaque(), output.fileHandleForWriting.fileDescriptor,
            secondsUntilHung,
            watcher == nil
                ? nil
                : { context, call in
                    guard let context, let call else { return .goOn }
                    return Unmanaged<Watcher>.fromOpaque(context).takeUnretainedValue().judge(call.pointee)
                }, watcher.map { Unmanaged.passUnretained($0).toOpaque() }, &end)
        guard error == 0 else { throw POSIXError(.init(rawValue: error) ?? .EPERM) }
        // All that it has printed fits into the pipe.
        try output.fileHandleForWriting.close()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        return withExtendedLifetime((body, watcher)) {
            End(
                status: end.status, signal: end.signal == 0 ? nil : end.signal,
                lines: String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init))
        }
    }
}
