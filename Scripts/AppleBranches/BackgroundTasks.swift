// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation

// BackgroundTasks/BGTask.h, BGTaskRequest.h and BGTaskScheduler.h: iOS 13, tvOS 13, visionOS 1; not macOS. Nothing ever
// starts a task.

open class BGTask: NSObject {
    public var expirationHandler: (() -> Void)?

    public func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest: NSObject {
    public let identifier: String

    init(_ identifier: String) { self.identifier = identifier }
}

public final class BGProcessingTaskRequest: BGTaskRequest {
    public var requiresExternalPower = false

    public init(identifier: String) { super.init(identifier) }
}

public final class BGTaskScheduler: NSObject, @unchecked Sendable {
    public static let shared = BGTaskScheduler()

    /// `NS_EXTENSION_UNAVAILABLE("Only the host application may register launch handlers")`.
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool { true }

    public func submit(_ taskRequest: BGTaskRequest) throws {}
}
