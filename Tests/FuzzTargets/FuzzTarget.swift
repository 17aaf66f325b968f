/// Something that reads what others have written, and what must hold whatever that is.
public struct FuzzTarget: Sendable {
    /// The word that selects it on the command line.
    public let name: String
    /// Small inputs of the right kind, to begin with.
    public let seeds: [String]
    /// Throws ``Broken`` when something does not hold; traps count as well.
    public let check: @Sendable ([UInt8]) throws -> Void

    /// Every target.
    public static let all = [versions, records, fileNames, scripts, literals, pages]

    /// The promise that did not hold for an input.
    public struct Broken: Error, CustomStringConvertible {
        /// The law, and the input.
        public let description: String
    }
}

/// Throws when a law does not hold.
func expect(_ condition: Bool, _ law: @autoclosure () -> String) throws {
    if !condition { throw FuzzTarget.Broken(description: law()) }
}

extension [UInt8] {
    /// The text that the bytes are, with anything that is no UTF-8 replaced.
    var text: String { String(decoding: self, as: UTF8.self) }
}
