public import Foundation

// Foundation/NSProcessInfo.h, the category NSProcessInfoActivity: iOS 8.2, tvOS 9, watchOS 2, visionOS 1; not macOS. In
// Swift, by developer.apple.com:
//   func performExpiringActivity(withReason reason: String, using block: @escaping @Sendable (Bool) -> Void)

private let queue = DispatchQueue(label: "expiring activities", attributes: .concurrent)

extension ProcessInfo {
    /// Grants the time, and never ends it.
    public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {
        precondition(!reason.isEmpty, "The reason must not be empty.")
        queue.async { block(false) }
    }
}
