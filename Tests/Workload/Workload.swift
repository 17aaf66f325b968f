import ArgumentParser
import Foundation
import Tracer

/// Launches an app again and again, disturbs it, and prints what has gone wrong.
///
/// A process of its own, since only one without other threads can be forked. Each failure is a line; the last line
/// is `tried <count>`.
@main
struct Workload: ParsableCommand {
    static let configuration = CommandConfiguration(subcommands: [Kill.self])

    static func main() {
        // Sets are in another order in each process otherwise, and a case's number would mean something else.
        if getenv("SWIFT_DETERMINISTIC_HASHING") == nil {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            var arguments = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &arguments)
        }
        main(nil)
    }
}

extension Scenario: ExpressibleByArgument {
    init?(argument: String) { self.init(argument) }
}

/// Which cases of a sweep are tried.
struct Sample: ParsableArguments {
    @Option(help: "Every how many cases one is tried.") var every = 1
    @Option(help: "The first case.") var from = 0
    @Option(help: "This case alone.") var only: String?

    func cases<Case: CustomStringConvertible>(of all: [Case]) -> [Case] {
        if let only { return all.filter { $0.description == only } }
        return stride(from: from, to: all.count, by: every).map { all[$0] }
    }
}

struct Kill: ParsableCommand {
    @Argument var scenario: Scenario
    @OptionGroup var sample: Sample

    func run() throws {
        let sweep = KillSweep(laboratory: try Laboratory(scenario))
        let cases = sample.cases(of: sweep.cases)
        for kill in cases {
            for complaint in try sweep.complaints(kill) {
                print("kill \(scenario) --only \(kill): \(complaint)")
            }
        }
        print("tried \(cases.count)")
    }
}
