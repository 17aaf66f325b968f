import Foundation
import GRDB
import Tracer

/// Where one scenario's launches are disturbed, one after the other.
final class Laboratory {
    let scenario: Scenario
    let judgement: Judgement
    /// The system calls of an undisturbed launch.
    let calls: [Call]
    private let template: Template
    private let scratch: String

    struct Call {
        /// True if it writes to a file, at its end or at an offset.
        let writes: Bool
        /// The call by its number, and its file.
        let kind: String
    }

    /// The folder of the launch.
    var folder: String { "\(scratch)/launch" }

    init(_ scenario: Scenario) throws {
        self.scenario = scenario
        scratch = try Self.makeScratch()
        template = try Template(scenario, in: scratch)
        try template.copy(to: "\(scratch)/launch")
        try Self.warmUp(in: scratch)
        let folder = "\(scratch)/launch"
        var end = try Child.run { Launch(scenario: scenario, folder: folder).run() }
        guard end.lines.last?.hasPrefix("ended") == true else { throw Unusable(end) }
        judgement = Judgement(reference: try Reference(scenario), goal: try FolderState(folder))
        try template.copy(to: folder)
        var calls: [Call] = []
        end = try Child.run(
            watching: { call in
                if !call.is_done, !call.isReport { calls.append(Call(writes: call.writes, kind: call.kind)) }
                return .goOn
            }, { Launch(scenario: scenario, folder: folder).run() })
        guard end.lines.last?.hasPrefix("ended") == true else { throw Unusable(end) }
        self.calls = calls
    }

    deinit { try? FileManager.default.removeItem(atPath: scratch) }

    struct Unusable: Error, CustomStringConvertible {
        let description: String
        init(_ end: Child.End) { description = "an undisturbed launch: \(end)" }
    }

    /// Has loaded now, and not in each of the children, what is loaded on first use.
    private static func warmUp(in scratch: String) throws {
        guard used == nil else { return }
        // Two threads of a child that meet at its first use could wait for each other forever: to the lock, they are threads of
        // the process that was forked.
        _ = NotificationCenter.default
        let folder = "\(scratch)/first"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = try DatabaseQueue(path: "\(folder)/library.sqlite")
        let scenario = Scenario(
            journal: .rollback, store: .json, commits: .grouped, start: .fresh, backup: .unsaved)
        Launch(scenario: scenario, folder: folder, output: nil, database: database).run()
        try database.close()
        used = database
    }

    /// Never released: the end of a queue is awaited by a thread, of which a fork knows nothing.
    nonisolated(unsafe) private static var used: DatabaseQueue?

    /// A folder in memory where there is one: nothing here needs a disk, and there are thousands of launches.
    private static func makeScratch() throws -> String {
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory()
        let scratch = "\(parent)/workload-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        return scratch
    }

    /// Makes the folder that the next launch finds.
    func reset() throws { try template.copy(to: folder) }

    /// Puts what the next launch finds into a folder that is there, and empty.
    func fill() throws { try template.fill(folder) }

    /// A launch that nothing disturbs.
    var undisturbed: Launch { Launch(scenario: scenario, folder: folder, patience: .seconds(1)) }

    /// Launches the app.
    func launch(watching watch: ((tracer_call) -> tracer_verdict)? = nil) throws -> Child.End {
        try Child.run(watching: watch, undisturbed.run)
    }

    /// A launch in the folder.
    func launch(doing work: Launch.Work, patience: Duration) -> Launch {
        Launch(scenario: scenario, folder: folder, work: work, patience: patience)
    }

    /// The contents of the folder, which stays untouched: reading a database can repair it.
    func state() throws -> FolderState {
        let copy = "\(scratch)/look"
        try Folder.copy(folder, to: copy)
        return try FolderState(copy)
    }
}

extension tracer_call {
    /// True if it prints something, which is no part of what is tried.
    var isReport: Bool { number == Self.write && arguments.0 == UInt64(STDOUT_FILENO) }

    /// True if it writes to a file, at its end or at an offset.
    var writes: Bool { number == Self.write || number == Self.pwrite }

    /// Its kind, and its file.
    var kind: String { "\(number) \(file ?? "")" }

    private static let write = Int64(SYS_write)
    private static let pwrite = Int64(SYS_pwrite64)
}
