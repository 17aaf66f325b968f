/// How ours is to compare with another way.
enum Goal {
    /// At least so many times faster.
    case faster(Double)
    /// At most so many times its time.
    case within(Double)

    func holds(ours: Double, other: Double) -> Bool {
        switch self {
        case .faster(let factor): other >= ours * factor
        case .within(let factor): ours <= other * factor
        }
    }

    var text: String {
        switch self {
        case .faster(let factor): "at least \(factor.short) times faster"
        case .within(let factor): "at most \(factor.short) times"
        }
    }
}

/// A line of the table.
struct TableRow {
    let line: String
    let what: String
    let size: String
    let against: String
    /// The medians, in seconds; nil in a row of other units.
    private(set) var times: (ours: Double, other: Double)?
    /// Nil where nothing is to be reached.
    let holds: Bool?

    static let header = """
        | what | size | against | ours | other | ratio | quartiles | repeated | goal | met |
        | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
        """

    init(
        what: String, size: String, against: String, ours: String, other: String, ratio: String,
        quartiles: String, repeated: Int, goal: String, holds: Bool?
    ) {
        let verdict = holds.map { $0 ? "yes" : "**no**" } ?? ""
        let cells = [
            what, size, against, ours, other, ratio, quartiles, "\(repeated)", goal, verdict,
        ]
        (self.what, self.size, self.against) = (what, size, against)
        line = "| " + cells.joined(separator: " | ") + " |"
        self.holds = holds
    }

    /// A row of times that were taken in turn.
    ///
    /// The ratio is that of each pair, and not that of two averages: what slows the machine down slows both.
    init(what: String, size: String, against: String, goal: Goal?, ours: [Double], other: [Double]) {
        let isFaster =
            if case .faster = goal { true } else { goal == nil && Sample(ours).median < Sample(other).median }
        let ratios = Sample(zip(ours, other).map { isFaster ? $1 / $0 : $0 / $1 })
        self.init(
            what: what, size: size, against: against, ours: Sample(ours).median.asTime,
            other: Sample(other).median.asTime,
            ratio: ratios.median.short + (isFaster ? " times faster" : " times"),
            quartiles: "\(ratios.quantile(0.25).short)–\(ratios.quantile(0.75).short)",
            repeated: ours.count, goal: goal?.text ?? "",
            holds: goal.map {
                isFaster
                    ? $0.holds(ours: 1, other: ratios.median) : $0.holds(ours: ratios.median, other: 1)
            })
        times = (Sample(ours).median, Sample(other).median)
    }
}

/// Numbers of which some are outliers.
struct Sample {
    private let sorted: [Double]

    init(_ values: [Double]) {
        sorted = values.sorted()
    }

    var median: Double { quantile(0.5) }

    func quantile(_ share: Double) -> Double {
        let position = share * Double(sorted.count - 1)
        let below = sorted[Int(position)]
        let above = sorted[min(sorted.count - 1, Int(position) + 1)]
        return below + (above - below) * (position - position.rounded(.down))
    }
}
