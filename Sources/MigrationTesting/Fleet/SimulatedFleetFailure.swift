public import Foundation

/// A story after which the devices of a fleet do not have what they should.
public struct SimulatedFleetFailure: Error, Sendable {
    /// The seed whose first fleet is this one.
    public let seed: UInt64

    /// The shortest story that was found, in sentences.
    public let story: [String]

    /// What is wrong in the end, in a sentence.
    public let problem: String
}

extension SimulatedFleetFailure: CustomStringConvertible, LocalizedError {
    /// The problem, the story, and how to play it again.
    public var description: String {
        ([problem] + story.enumerated().map { "  \($0.offset + 1). \($0.element)" }
            + ["Play it again with failure(seed: \(seed), count: 1)."]).joined(separator: "\n")
    }

    /// The problem, the story, and how to play it again.
    public var errorDescription: String? { description }
}
