/// Several ways to do one thing, measured in turn, so that what disturbs one disturbs all.
struct Contest {
    let what: String
    let size: String
    let ours: Work
    let others: [Other]

    /// A way to do the thing.
    struct Work {
        /// Done before each call, and not measured.
        let prepare: (() throws -> Void)?
        let run: () throws -> Void

        init(preparing prepare: (() throws -> Void)? = nil, _ run: @escaping () throws -> Void) {
            self.prepare = prepare
            self.run = run
        }

        /// The seconds that a call takes, over some calls.
        func seconds(calls: Int) throws -> Double {
            var sum = Duration.zero
            let clock = ContinuousClock()
            if let prepare {
                for _ in 0..<calls {
                    try prepare()
                    sum += try clock.measure(run)
                }
            } else {
                sum = try clock.measure { for _ in 0..<calls { try run() } }
            }
            return sum.inSeconds / Double(calls)
        }

        /// How many calls make a time that a clock can tell, and that a switch of threads does not spoil.
        func callsPerSample() throws -> Int {
            let enough = 0.004
            guard try seconds(calls: 1) < enough else { return 1 }
            return Int(min(10_000, max(1, enough / (try seconds(calls: 2)))))
        }
    }

    /// Another way, and how ours is to compare with it.
    struct Other {
        let name: String
        let goal: Goal?
        let work: Work
    }

    /// Measures until the time is up, and at least seven times.
    func rows(_ effort: Effort, seconds: Double = 2) throws -> [TableRow] {
        let works = [ours] + others.map(\.work)
        let calls = try works.map { try effort == .full ? $0.callsPerSample() : 1 }
        var samples: [[Double]] = works.map { _ in [] }
        let deadline = ContinuousClock.now + .seconds(effort == .full ? seconds : 0)
        let least = effort == .full ? 7 : 2
        var round = 0
        repeat {
            // Whoever comes after the slowest finds the caches cold: everyone does, in turn.
            for offset in works.indices {
                let index = (offset + round) % works.count
                samples[index].append(try works[index].seconds(calls: calls[index]))
            }
            round += 1
        } while round < least || (ContinuousClock.now < deadline && round < 500)
        return others.indices.map { index in
            TableRow(
                what: what, size: size, against: others[index].name, goal: others[index].goal,
                ours: samples[0], other: samples[index + 1])
        }
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
