/// What a run asks of its caller: what only the app's own code can do, where the app has called the manager.
///
/// Only values cross between a run and its caller, which may be on different threads.
indirect enum AppCall: Sendable {
    /// Runs the closure with this index.
    case closure(Int, MigrationContext)
    /// Tells the app what has happened.
    case event(MigrationEvent.Kind)
    /// Asks `adopting` for the version of data without a record.
    case adoption(LaunchRequest)
    /// Asks whether deferred work may go on.
    case condition
    /// Asks whether the step whose closure has this index is needed again.
    case isNeeded(Int)

    enum Answer: Sendable {
        case done
        case adoption(AdoptionAnswer)
        case condition(Bool)
    }
}

/// The caller of a manager, as a run sees it: asks, and waits for the answer.
struct Caller {
    /// False if nobody receives events.
    let hearsEvents: Bool
    let ask: (AppCall) throws -> AppCall.Answer

    func run(_ closure: Int, _ context: MigrationContext) throws {
        _ = try ask(.closure(closure, context))
    }

    func tell(_ event: MigrationEvent.Kind) {
        if hearsEvents { _ = try? ask(.event(event)) }
    }

    func adoption(_ request: LaunchRequest) throws -> AdoptionAnswer {
        guard case .adoption(let answer) = try ask(.adoption(request)) else { preconditionFailure() }
        return answer
    }

    func isNeeded(_ closure: Int) throws -> Bool {
        guard case .condition(let isTrue) = try ask(.isNeeded(closure)) else { preconditionFailure() }
        return isTrue
    }

    var allowsDeferredWork: Bool {
        get throws {
            guard case .condition(let isTrue) = try ask(.condition) else { preconditionFailure() }
            return isTrue
        }
    }
}
