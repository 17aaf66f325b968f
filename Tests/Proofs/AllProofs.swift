/// Every proof, in the order of the table.
public let allProofs: [any Proof] = [
    FleetProof(),
    FuzzProof(),
]
