import Foundation
import GRDB
import MigrationTools

/// Replaces values by others that look like them, and reveal nothing about them.
///
/// No four consecutive letters or digits of a text are in its replacement. In all tables, equal values get
/// equal replacements, and different values get different ones. So foreign keys stay valid, and unique values
/// stay unique. The system's random numbers choose the replacements, so nobody can compute the original
/// values.
struct Noise {
    private let jsonKeys: FixtureMaker.Treatment
    private var replaced: [StoredValue: DatabaseValue] = [:]
    /// The replacements so far, with texts in lower case, since an index may ignore case.
    private var taken: Set<StoredValue> = []
    private var random = SystemRandomNumberGenerator()

    init(jsonKeys: FixtureMaker.Treatment) {
        self.jsonKeys = jsonKeys
    }

    /// Returns the replacement of a text or a blob; keeps numbers and nulls.
    mutating func replacement(of value: DatabaseValue) -> DatabaseValue {
        let key = StoredValue(value)
        if let known = replaced[key] { return known }
        let found: DatabaseValue
        switch value.storage {
        case .string(let text): found = self.text(like: text)
        case .blob(let data): found = blob(like: data)
        default: return value
        }
        replaced[key] = found
        return found
    }

    /// Returns a number with as many digits and the same sign.
    ///
    /// It keeps a single digit, which is more often a choice than data.
    mutating func number(like value: DatabaseValue) -> DatabaseValue {
        switch value.storage {
        case .int64(let number) where number > 9 || number < -9:
            let shape = NoiseShape(ofNumber: "\(number)")
            for _ in 0..<1_000 {
                if let found = Int64(fill(shape, runs: ScalarRuns(of: shape))) { return found.databaseValue }
            }
            return Int64.random(in: 10...99, using: &random).databaseValue
        case .double(let number) where number.isFinite && number != 0:
            let shape = NoiseShape(ofNumber: "\(number)")
            for _ in 0..<1_000 {
                let found = Double(fill(shape, runs: ScalarRuns(of: shape))) ?? .infinity
                if found.isFinite { return found.databaseValue }
            }
            return Double.random(in: 1..<2, using: &random).databaseValue
        default: return value
        }
    }

    // MARK: Texts and blobs

    private mutating func text(like text: String) -> DatabaseValue {
        if let date = NoiseDate(text) {
            return fresh { noise, _ in date.noise(using: &noise.random).databaseValue }
        }
        let shape = NoiseShape(of: text, jsonKeys: jsonKeys)
        let runs = ScalarRuns(of: shape)
        return fresh { noise, attempt in
            // Few letters can be all taken, as the alphabet is by 26 values: then one may stay in its place.
            let isShort = runs.isEmpty && attempt > 50
            return noise.fill(shape, runs: runs, mayKeepPlaces: isShort).databaseValue
        }
    }

    private mutating func blob(like data: Data) -> DatabaseValue {
        let bytes = Array(data)
        return fresh { noise, attempt in
            let mayKeepPlaces = bytes.count < ScalarRuns.length && attempt > 50
            return Data(
                bytes.map { byte in
                    let other = UInt8.random(in: 1...255, using: &noise.random)
                    return mayKeepPlaces ? other &- 1 : byte &+ other
                }
            ).databaseValue
        }
    }

    /// Tries until the replacement is not an earlier replacement.
    ///
    /// Some texts, such as `-`, have no replacement, and some sets of texts have too few.
    private mutating func fresh(_ make: (inout Noise, _ attempt: Int) -> DatabaseValue) -> DatabaseValue {
        var found = make(&self, 0)
        for attempt in 1..<500 {
            if taken.insert(StoredValue(found).inLowerCase).inserted { return found }
            found = make(&self, attempt)
        }
        return found
    }

    /// Fills a shape: every scalar is another one than before, and none completes a run of the original.
    private mutating func fill(_ shape: NoiseShape, runs: ScalarRuns, mayKeepPlaces: Bool = false) -> String {
        var text = String.UnicodeScalarView()
        var run = ScalarRuns.Run()
        for element in shape.elements {
            guard let replacements = element.replacements else {
                element.write(element.scalar, to: &text)
                run = ScalarRuns.Run()
                continue
            }
            var found = element.scalar
            for attempt in 0..<100 {
                guard let scalar = Unicode.Scalar(UInt32.random(in: replacements, using: &random)),
                    mayKeepPlaces || scalar != element.scalar
                else { continue }
                found = scalar
                // A text of a million digits has every run of them.
                if attempt > 50 || !runs.contains(run.followed(by: scalar)) { break }
            }
            run = run.followed(by: found)
            element.write(found, to: &text)
        }
        return String(text)
    }
}

extension NoiseShape.Element {
    /// Writes a scalar in the place of the text's own.
    fileprivate func write(_ scalar: Unicode.Scalar, to text: inout String.UnicodeScalarView) {
        guard isEscaped else { return text.append(scalar) }
        for unit in String(scalar).utf16 {
            text.append(contentsOf: String(format: "\\u%04x", Int(unit)).unicodeScalars)
        }
    }
}
