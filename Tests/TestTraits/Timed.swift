import AppMigrations
import Foundation
public import Testing

/// Measures each test of a suite by itself, for the list with which `make test` ends, and lets time decide nothing in it.
///
/// The runner's own figures cannot say which test is slow: it starts nearly all at once, and so they count the seconds
/// since the run began.
public struct Timed: SuiteTrait, TestTrait, TestScoping {
    /// Creates the trait.
    public init() {}

    /// True if the suites in the suite have the trait, too.
    public var isRecursive: Bool { true }

    /// Runs a test, or one case of it, and appends a line to the file `TEST_TIMES`: the seconds, and the test's name.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await Environment.$current.withValue(Environment.changed { $0.limitsTime = false }) {
            try await measure(test, function)
        }
    }

    private func measure(_ test: Test, _ function: () async throws -> Void) async throws {
        guard let file = Self.file else { return try await function() }
        let start = ContinuousClock.now
        defer {
            let seconds = (ContinuousClock.now - start) / .seconds(1)
            let location = test.sourceLocation
            let name = test.displayName ?? test.name
            try? file.write(
                contentsOf: Data("\(seconds)\t\(location.fileID):\(location.line) \(name)\n".utf8))
        }
        try await function()
    }

    // Opened to append, so that simultaneous tests do not overwrite each other's lines.
    private static let file = ProcessInfo.processInfo.environment["TEST_TIMES"].flatMap { path in
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
        return descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor)
    }
}

/// Gives a test the time limits of batches that ``Timed`` takes away.
public struct BatchLimits: TestTrait, TestScoping {
    /// Runs the test, or one case of it, as an app would run.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Environment.$current.withValue(Environment.changed { $0.limitsTime = true }) {
            try await function()
        }
    }
}

extension Trait where Self == BatchLimits {
    /// Limits the time of batches: for tests of these limits, which a busy machine must not fail either.
    public static var limitingBatches: Self { BatchLimits() }
}
