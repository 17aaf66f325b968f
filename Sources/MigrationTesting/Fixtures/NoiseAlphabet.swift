/// Scalars that may replace one another in noise.
enum NoiseAlphabet {
    /// The ranges of which each holds the replacements of its own members.
    ///
    /// Small and capital Latin letters come first. The others are the scripts that people write most, and
    /// symbols that spell texts: Braille, regional indicators, tags, variation selectors, SignWriting.
    private static let ranges: [ClosedRange<UInt32>] = [
        0x61...0x7a, 0x41...0x5a, 0xe0...0xf6, 0xf8...0xff, 0xc0...0xd6, 0xd8...0xde, 0x300...0x314,
        0x3b1...0x3c9, 0x391...0x3a1, 0x430...0x44f, 0x410...0x42f, 0x5d0...0x5ea, 0x627...0x63a,
        0x905...0x939, 0xe01...0xe2e, 0x2160...0x216b, 0x2170...0x217b, 0x2460...0x2473, 0x24b6...0x24cf,
        0x24d0...0x24e9, 0x2801...0x28ff, 0x2f00...0x2fd5, 0x3041...0x3096, 0x30a1...0x30fa, 0x4e00...0x9fa5,
        0xac00...0xd7a3, 0xfe00...0xfe0f, 0x1d800...0x1d9ff, 0x1f1e6...0x1f1ff, 0x1f3fb...0x1f3ff,
        0x1f600...0x1f64f, 0xe0061...0xe007a, 0xe0100...0xe01ef,
    ]

    private static let smallLetters: ClosedRange<UInt32> = 0x61...0x7a
    private static let capitalLetters: ClosedRange<UInt32> = 0x41...0x5a
    private static let marks: ClosedRange<UInt32> = 0x300...0x314
    private static let numbers: ClosedRange<UInt32> = 0x2460...0x2473
    private static let emoji: ClosedRange<UInt32> = 0x1f600...0x1f64f
    private static let symbols: ClosedRange<UInt32> = 0x25a0...0x25cf
    private static let tags: ClosedRange<UInt32> = 0xe0061...0xe007a
    private static let joiners: ClosedRange<UInt32> = 0x200b...0x200d
    private static let privateUse: ClosedRange<UInt32> = 0xe000...0xf8ff

    /// Returns the replacements of a scalar; nil for one that the noise keeps.
    ///
    /// The noise keeps white space, punctuation, and signs of mathematics and currencies. Everything else
    /// can spell a text, so it is replaced: what is unknown is not kept.
    static func replacements(of scalar: Unicode.Scalar) -> ClosedRange<UInt32>? {
        let value = scalar.value
        if value < 0x80 {
            switch value {
            case 0x30...0x39: return 0x30...0x39
            case smallLetters: return smallLetters
            case capitalLetters: return capitalLetters
            default: return nil
            }
        }
        if let range = ranges.first(where: { $0.contains(value) }) { return range }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .decimalNumber:
            let zero = value - UInt32(properties.numericValue ?? 0)
            return zero...zero + 9
        case .nonspacingMark, .spacingMark, .enclosingMark: return marks
        case .letterNumber, .otherNumber: return numbers
        case .unassigned, .privateUse, .surrogate: return privateUse
        case .format: return replacements(ofFormat: value)
        case .otherSymbol: return properties.isEmojiPresentation ? emoji : properties.letters ?? symbols
        case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator: return nil
        default: return properties.letters
        }
    }

    /// Returns the replacements of a format character; nil for the common ones, which only lay a text out.
    private static func replacements(ofFormat value: UInt32) -> ClosedRange<UInt32>? {
        switch value {
        case 0xad, 0x200b...0x200f, 0x202a...0x202e, 0x2060...0x2064, 0x2066...0x2069, 0xfeff: nil
        case 0xe0000...0xe007f: tags
        default: joiners
        }
    }
}

extension Unicode.Scalar.Properties {
    /// The Latin letters that replace a letter of any other script; nil if the scalar is none.
    fileprivate var letters: ClosedRange<UInt32>? {
        switch generalCategory {
        case .uppercaseLetter, .titlecaseLetter: 0x41...0x5a
        case .lowercaseLetter, .modifierLetter, .otherLetter: 0x61...0x7a
        default: isAlphabetic ? (isUppercase ? 0x41...0x5a : 0x61...0x7a) : nil
        }
    }
}
