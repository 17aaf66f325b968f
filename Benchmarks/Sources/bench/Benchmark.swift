/// Some rows of the table, which are measured together.
struct Benchmark {
    let what: String
    let rows: @Sendable (Effort, Scratch) throws -> [TableRow]

    static let all =
        nothingPendingInSchemas + nothingPendingInScheduler + wholeLaunch + applyingFiles + bigRewrites
        + deferredSteps + [deferredKeys] + redefining + cancelling + versions + plans + memory
}
