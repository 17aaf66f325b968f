import Foundation
import FuzzTargets
import MigrationTesting
import MigrationTools

/// Whatever others have written is read or refused, and never traps.
///
/// Inputs are made from seeds, in this process; `make fuzz` has libFuzzer make them, guided by what they reach.
public struct FuzzTest: StressTest {
    /// Selects it on the command line.
    public let name = "fuzzing"
    /// As Documentation/StressTests.md words it.
    public let promise = "Arbitrary input is parsed or rejected without a crash, and invariants hold"

    /// Makes the test.
    public init() {}

    /// Tries each target with a million inputs, or a thousand.
    public func run(_ size: StressSize) throws -> StressOutcome {
        var outcome = StressOutcome(unit: "inputs")
        for (index, target) in FuzzTarget.all.enumerated() {
            let seeds = target.seeds.map { Array($0.utf8) }
            let mutation = Mutation(seeds: seeds)
            var random = RandomNumbers(seed: UInt64(index))
            let inputs =
                seeds.lazy
                + (0..<(size == .short ? 1_000 : 1_000_000)).lazy.map { _ in
                    mutation.input(using: &random)
                }
            for input in inputs {
                outcome.tried += 1
                guard let broken = broken(target, input) else { continue }
                let shortest = input.shrunk { self.broken(target, $0) != nil }
                outcome.failures.append("\(target.name): \(self.broken(target, shortest) ?? broken)")
                break
            }
        }
        return outcome
    }

    private func broken(_ target: FuzzTarget, _ input: [UInt8]) -> String? {
        do {
            try target.check(input)
            return nil
        } catch {
            return "\(error)"
        }
    }
}
