import Proofs
import Testing

@Suite("What is promised holds, in the short form of every proof")
struct ProofTests {
    @Test("A proof has a name of its own", arguments: allProofs.map(\.name))
    func names(_ name: String) {
        #expect(allProofs.count { $0.name == name } == 1)
    }

    @Test("A promise holds", arguments: allProofs.map(\.name))
    func promises(_ name: String) throws {
        let proof = try #require(allProofs.first { $0.name == name })
        let outcome = try proof.run(.short)
        #expect(outcome.tried > 0)
        #expect(outcome.failures == [])
    }
}
