public import ArgumentParser
import Foundation
public import Proofs

/// Runs the proofs, and prints a table with a row for each promise.
@main
struct Prove: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prove", abstract: "Try to break what the package promises, and print what held.")

    @Flag(help: "Run a sample of a few seconds, or all.")
    var size = ProofSize.long

    @Argument(help: "The names of the proofs to run; all when left out.")
    var names: [String] = []

    func run() throws {
        let unknown = names.filter { name in !allProofs.contains { $0.name == name } }
        guard unknown.isEmpty else {
            throw ValidationError(
                "No proof is called \(unknown.joined(separator: ", ")). "
                    + "There are: \(allProofs.map(\.name).joined(separator: ", ")).")
        }
        let proofs = allProofs.filter { names.isEmpty || names.contains($0.name) }
        var table = ProofTable()
        for proof in proofs {
            FileHandle.standardError.write(Data("\(proof.name) …\n".utf8))
            let start = ContinuousClock.now
            let outcome = try proof.run(size)
            table.add(proof, outcome, taking: ContinuousClock.now - start)
        }
        print(table)
        if table.isBroken { throw ExitCode.failure }
    }
}

extension ProofSize: EnumerableFlag {}
