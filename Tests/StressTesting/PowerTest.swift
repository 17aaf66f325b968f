/// Cuts the power: of a recorded launch, what was not synced is dropped, torn and reordered.
public struct PowerTest: StressTest {
    /// Selects it on the command line.
    public let name = "power"
    /// As Documentation/StressTests.md words it.
    public let promise =
        "The power fails: everything reported is on disk, and the next launch completes the upgrade"

    /// Cuts each recording at a thousand places, or at two.
    public func run(_ size: StressSize) throws -> StressOutcome {
        let images = size == .short ? 2 : 1_000
        let cuts = WorkloadRuns.scenarios.map { ["cut", $0, "--images", "\(images)"] }
        return try WorkloadRuns(runs: cuts, unit: "images").outcome()
    }

    /// Tries recordings from which syncs have been left out: each must be found out.
    public static func leavingOut(_ omission: String) throws -> StressOutcome {
        let scenario = WorkloadRuns.scenarios[0]
        return try WorkloadRuns(
            runs: [["cut", scenario, "--images", "30", "--leaving-out", omission]], unit: "images"
        ).outcome()
    }
}
