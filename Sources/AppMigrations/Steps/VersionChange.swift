/// A closure that runs once for each change of the app's version.
enum VersionChange {
    case blocking((_ from: AppVersion, _ to: AppVersion) throws -> Void)
    case asynchronous(AsynchronousBody)

    typealias AsynchronousBody =
        nonisolated(nonsending) (_ from: AppVersion, _ to: AppVersion) async throws -> Void

    var isAsynchronous: Bool {
        if case .asynchronous = self { true } else { false }
    }
}
