import Foundation

/// A step that is done, to be recorded in the transaction that did it.
package struct Settlement: Sendable {
    let manager: String
    let version: AppVersion
    let appVersion: AppVersion
    let started: ContinuousClock.Instant

    /// Whether another process has done the step since this one looked.
    package func isRecorded(in state: StoreState) throws -> Bool {
        try state.record(of: manager)?.settled.contains(version) ?? false
    }

    package func record(in state: inout StoreState) throws {
        try state.changeRecord(of: manager) { $0?.settle(version) }
        state.newHistory.append(step)
    }

    /// The step, as it has just ended.
    var step: SettledStep {
        SettledStep(
            manager: manager, version: version, outcome: .ran, date: Date(),
            duration: ContinuousClock.now - started, appVersion: appVersion)
    }
}
