import Foundation

/// The runs of four letters or digits of texts, found without the code that makes the noise.
struct LetterRuns {
    private(set) var runs: Set<SIMD4<UInt32>> = []

    init() {}

    init(_ scalars: some Sequence<Unicode.Scalar>) { add(scalars) }

    mutating func add(_ scalars: some Sequence<Unicode.Scalar>) {
        Self.forEach(in: scalars) { runs.insert($0) }
    }

    /// Returns those of the runs that are in texts.
    func found(in scalars: some Sequence<Unicode.Scalar>) -> LetterRuns {
        var found = LetterRuns()
        Self.forEach(in: scalars) { if runs.contains($0) { found.runs.insert($0) } }
        return found
    }

    private static func forEach(
        in scalars: some Sequence<Unicode.Scalar>, _ body: (SIMD4<UInt32>) -> Void
    ) {
        var run = SIMD4<UInt32>()
        var length = 0
        for scalar in scalars {
            length = isLetterOrDigit(scalar) ? length + 1 : 0
            run = SIMD4(run.y, run.z, run.w, scalar.value)
            if length >= 4 { body(run) }
        }
    }

    mutating func subtract(_ other: LetterRuns) { runs.subtract(other.runs) }

    /// Removes runs of hexadecimal digits, which may follow a `u`.
    mutating func removeHexadecimalDigits() {
        func isDigit(_ value: UInt32) -> Bool { Unicode.Scalar(value)?.properties.isASCIIHexDigit == true }
        runs = runs.filter { run in
            !((1...3).allSatisfy { isDigit(run[$0]) } && (isDigit(run[0]) || run[0] == 0x75))
        }
    }

    func common(with other: LetterRuns) -> [String] {
        runs.intersection(other.runs).map { run in
            String(String.UnicodeScalarView((0...3).compactMap { Unicode.Scalar(run[$0]) }))
        }.sorted()
    }

    mutating func formUnion(_ other: LetterRuns) { runs.formUnion(other.runs) }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return (0x30...0x39).contains(scalar.value) || (0x41...0x5a).contains(scalar.value & ~0x20)
        }
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
            .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber,
            .privateUse, .unassigned:
            return true
        case .otherSymbol: return (0x2801...0x28ff).contains(scalar.value) || scalar.properties.isAlphabetic
        default: return scalar.properties.isAlphabetic || (0xe0020...0xe007e).contains(scalar.value)
        }
    }
}

extension String {
    /// The scalars of the strings of a JSON text, each escape decoded; `\n` and its like separate.
    var unescapedJSON: [Unicode.Scalar] {
        var units: [UInt16] = []
        var rest = Array(utf16)[...]
        while let unit = rest.first {
            rest = rest.dropFirst()
            guard unit == UInt16(UInt8(ascii: "\\")), let letter = rest.first else {
                units.append(unit)
                continue
            }
            rest = rest.dropFirst()
            if letter == UInt16(UInt8(ascii: "u")),
                let code = UInt16(String(decoding: rest.prefix(4), as: UTF16.self), radix: 16)
            {
                rest = rest.dropFirst(4)
                units.append(code)
            } else {
                units.append(0x20)
            }
        }
        return Array(String(decoding: units, as: UTF16.self).unicodeScalars)
    }
}
