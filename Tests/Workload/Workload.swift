import ArgumentParser
import Foundation
import Tracer

/// Launches an app again and again, disturbs it, and prints what has gone wrong.
///
/// A process of its own, since only one without other threads can be forked. Each failure is a line, and what could
/// not be tried is one that begins with `note: `; the last line is `tried <count> of <count>`.
@main
struct Workload: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [
        SweepCommand<KillSweep>.self, SweepCommand<FaultSweep>.self, SweepCommand<AllocationSweep>.self,
        SweepCommand<LimitSweep>.self, StormCommand.self, StopCommand.self, Cut.self,
        Pairs.self,
    ])

    static func main() {
        // Sets are in another order in each process otherwise, and a case's number would mean something else.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            // Who dies is judged by what it leaves; its stack would be printed for seconds.
            setenv("SWIFT_BACKTRACE", "enable=no", 1)
            // Whoever was started by one of Dispatch's threads would not hear the alarm that ends what hangs.
            var none = sigset_t()
            sigemptyset(&none)
            sigprocmask(SIG_SETMASK, &none, nil)
            var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
        }
        main(nil)
    }
}

extension Scenario: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// Disturbs launches in many cases, one after the other.
protocol Sweep {
    associatedtype Case: CustomStringConvertible

    /// How the command line calls it.
    static var name: String { get }

    init(_ laboratory: Laboratory) throws

    /// Every case there is.
    var cases: [Case] { get }

    /// The kind of each case; none where all are of one kind.
    var kinds: [String] { get }

    /// The tests that cannot run here, and why.
    var notes: [String] { get }

    /// Tries a case.
    ///
    /// - Returns: what was wrong.
    func complaints(_ tried: Case) throws -> [String]
}

extension Sweep {
    var kinds: [String] { [] }
    var notes: [String] { [] }
}

/// Which cases are tried.
struct Sample: ParsableArguments {
    @Option(help: "Every how many cases one is tried.") var every = 1
    @Option(help: "The first case.") var from = 0
    @Option(help: "Of each kind of case the one of this number, counted from the end if it is negative.")
    var ofEachKind: Int?
    @Option(help: "This case alone.") var only: String?

    /// Tries the cases, and prints what was wrong, with the arguments that try a case alone.
    func run<Case: CustomStringConvertible>(
        _ command: String, _ all: [Case], kinds: [String] = [], _ complaints: (Case) throws -> [String]
    ) throws {
        let cases =
            if let only {
                all.filter { $0.description == only }
            } else if let ofEachKind {
                Dictionary(grouping: zip(all, kinds), by: \.1).sorted { $0.key < $1.key }
                    .map { _, all in
                        let remainder = ofEachKind % all.count
                        return all[remainder < 0 ? remainder + all.count : remainder].0
                    }
            } else {
                stride(from: from, to: all.count, by: every).map { all[$0] }
            }
        guard !cases.isEmpty else { throw ValidationError("No case of \(command) was chosen.") }
        for tried in cases {
            for complaint in try complaints(tried) { print("\(command) --only \(tried): \(complaint)") }
        }
        print("tried \(cases.count) of \(all.count)")
    }
}

/// Runs a sweep in one scenario.
struct SweepCommand<Disturbance: Sweep>: ParsableCommand {
    static var configuration: CommandConfiguration { CommandConfiguration(commandName: Disturbance.name) }

    @Argument var scenario: Scenario
    @OptionGroup var sample: Sample

    func run() throws {
        let sweep = try Disturbance(Laboratory(scenario))
        for note in sweep.notes { print("note: \(note)") }
        try sample.run(
            "\(Disturbance.name) \(scenario)", sweep.cases, kinds: sweep.kinds, sweep.complaints)
    }
}
