/// Every proof, in the order of the table.
public let allProofs: [any Proof] = [
    .kill,
    .faults,
    .memory,
    .room,
    StormProof(),
    StopProof(),
    PowerProof(),
    FleetProof(),
    FuzzProof(),
]
