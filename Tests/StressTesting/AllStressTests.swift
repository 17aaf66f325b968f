/// Every stress test, in the order of the table.
public let allStressTests: [any StressTest] = [
    .kill,
    .faults,
    .memory,
    .room,
    StormTest(),
    StopTest(),
    PowerTest(),
    FleetTest(),
    WorldsTest(),
    FuzzTest(),
    PrivacyTest(),
    ScriptTest(),
    ForeignKeyTest(),
    GenerationTest(),
    CompatibleTest(),
    UndoTest(),
]
