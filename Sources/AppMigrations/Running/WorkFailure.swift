/// How work ends that does not succeed: judged here for closures, steps in databases, schema steps, closures for a version
/// change and batches, in launches and in `runDeferred`.
///
/// | it ended | counts as a crash | counts as a failure | what follows |
/// | --- | --- | --- | --- |
/// | the process died in it | yes, in the next launch | no | the next launch retries it; after `maximumAttempts` in one build, `gaveUp` |
/// | it threw | no; earlier crashes stay | yes | the manager stops; a deferred run goes on with the next step |
/// | it could not run now | no | no | it stays pending; the manager stops, and a deferred run goes on with the next step |
///
/// `OpenWork/die()` counts crashes.
struct WorkFailure {
    /// The build and the codes, as in `2.0 (417): NSPOSIXErrorDomain 2`; nil unless the work failed by itself.
    ///
    /// An equal failure in the same build has an equal code.
    let code: String?
    /// The error that the work has thrown.
    let cause: any Error
    /// The error to throw or to report.
    let error: any Error

    /// Judges an error.
    ///
    /// - Parameters:
    ///   - interruption: the error with which the run ends, if it was interrupted: then that is why the work ended.
    ///   - last: the code of the failure before, if the work has not got further since.
    init(
        _ error: any Error, of step: MigrationStep, work: MigrationWork, attempt: Int, build: String,
        after last: String? = nil, interruption: (any Error)?
    ) {
        cause = error.cause
        let obstacle = Obstacle(cause)
        let isFailure = interruption == nil && obstacle == nil
        let causes = FailureSummary.chain(from: cause).map(FailureSummary.Cause.init)
        let codes = causes.map { "\($0.domain) \($0.number)" }
        code = isFailure ? "\(build): \(codes.joined(separator: ", "))" : nil
        let isRepeated = isFailure && code == last
        if let interruption {
            self.error = interruption
        } else {
            let inAttempt = attempt > 1 && !step.isDeferred ? " in attempt \(attempt)" : ""
            var failure = MigrationError(
                obstacle?.code ?? .stepFailed,
                step.kind == .versionChange
                    ? "the closure for a version change \(cause.verb)\(error.inBatchAsCause)"
                    : "\(step.titleAndSource) \(cause.verb)\(inAttempt)\(error.inBatchAsCause)",
                remedy: cause.systemError?.ownRemedy ?? obstacle?.remedy
                    ?? (isRepeated ? step.remedyOfRepeated : step.remedy(isInBatch: error is BatchFailure)),
                work: work, attempt: attempt, underlyingError: cause)
            failure.isRepeated = isRepeated
            if let cause = cause as? MigrationError {
                failure.schemaVersion = cause.schemaVersion
                failure.migration = cause.migration ?? cause.schemaVersion?.description
                failure.committed = cause.committed
            }
            self.error = failure
        }
    }
}

extension MigrationStep {
    fileprivate var remedyOfRepeated: String {
        """
        It has failed in the same way before in this build, so retrying alone will not help: fix the cause\
        \(isSchemaStep ? "" : ", or settle the step with skip(_:)\(hasCondition ? ", which ends `again:`, too" : "")").
        """
    }

    fileprivate func remedy(isInBatch: Bool) -> String {
        switch kind {
        case .batches where !isInBatch: "No row was changed. The step is tried again."
        case .closure, .transaction, .schemaStep:
            "Earlier steps are complete. The next launch retries this one."
        case .versionChange: "The steps are complete. The next launch runs the closure again."
        case .batches: "That batch was rolled back; all others are kept. The next run retries it."
        case .deferredClosure: "The next run continues the step from its last checkpoint."
        }
    }
}

extension Error {
    /// The error that a step has thrown, without the batch in which it did.
    var cause: any Error { (self as? BatchFailure)?.cause ?? self }

    /// The end of a message that quotes this error, if it says anything: ` in row 5 of table photo: no such file`.
    fileprivate var inBatchAsCause: String {
        let text = cause.quotation
        return ((self as? BatchFailure).map { " in \($0.title)" } ?? "") + (text.isEmpty ? "" : ": \(text)")
    }
}
