import Foundation

/// The shape of a text: the scalars that its noise keeps, and those that it replaces.
///
/// It works on scalars, never on characters: a combining scalar after a quotation mark makes one character
/// with it, and the quotation mark ends a string of JSON anyway.
struct NoiseShape {
    /// One scalar of the text.
    struct Element {
        /// The scalar of the text.
        let scalar: Unicode.Scalar
        /// The texts that may replace it; nil if it stays.
        let replacements: ClosedRange<UInt32>?
        /// True if the text spells it as `\u` and four hexadecimal digits, or as two of these.
        var isEscaped = false
    }

    private(set) var elements: [Element] = []

    /// Creates the shape of a text: numbers, identifiers in hexadecimal digits and JSON keep their form.
    init(of text: String, jsonKeys: FixtureMaker.Treatment) {
        let scalars = Array(text.unicodeScalars)
        if Int64(text).map({ "\($0)" }) == text {
            // Another table may refer to it by a number, which has no zeros in front.
            addNumber(text.unicodeScalars[...])
        } else if Self.isHexadecimal(scalars) {
            elements = scalars.map { Element(scalar: $0, replacements: Self.hexadecimalDigits(like: $0)) }
        } else if Self.isJSON(text, scalars) {
            addJSON(scalars, keys: jsonKeys)
        } else {
            elements = scalars.map(Self.plain)
        }
    }

    /// Creates the shape of a number's text: digits, of which the first is not a zero.
    init(ofNumber text: String) {
        addNumber(text.unicodeScalars[...])
    }

    private static func plain(_ scalar: Unicode.Scalar) -> Element {
        Element(scalar: scalar, replacements: NoiseAlphabet.replacements(of: scalar))
    }

    private static func kept(_ scalar: Unicode.Scalar) -> Element {
        Element(scalar: scalar, replacements: nil)
    }

    // MARK: Hexadecimal digits

    /// Returns whether a text is a UUID, or has 16 hexadecimal digits or more, all small or all capital.
    private static func isHexadecimal(_ scalars: [Unicode.Scalar]) -> Bool {
        guard scalars.count >= 16 else { return false }
        let isUUID =
            scalars.count == 36
            && scalars.enumerated().allSatisfy { index, scalar in
                [8, 13, 18, 23].contains(index) ? scalar == "-" : hexadecimalDigits(like: scalar) != nil
            }
        if isUUID { return true }
        return scalars.allSatisfy { ("0"..."9").contains($0) || ("a"..."f").contains($0) }
            || scalars.allSatisfy { ("0"..."9").contains($0) || ("A"..."F").contains($0) }
    }

    private static func hexadecimalDigits(like scalar: Unicode.Scalar) -> ClosedRange<UInt32>? {
        switch scalar {
        case "0"..."9": 0x30...0x39
        case "a"..."f": 0x61...0x66
        case "A"..."F": 0x41...0x46
        default: nil
        }
    }

    // MARK: JSON

    private static func isJSON(_ text: String, _ scalars: [Unicode.Scalar]) -> Bool {
        guard let first = scalars.first(where: { ![" ", "\t", "\n", "\r"].contains($0) }),
            first == "{" || first == "["
        else { return false }
        return (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
    }

    /// Adds a text in JSON: its structure stays, with `true`, `false` and `null`.
    private mutating func addJSON(_ scalars: [Unicode.Scalar], keys: FixtureMaker.Treatment) {
        var rest = scalars[...]
        while let scalar = rest.first {
            switch scalar {
            case "\"":
                let string = Self.string(startOf: rest)
                let after = rest[string.endIndex...].first { ![" ", "\t", "\n", "\r"].contains($0) }
                addString(string, isKept: after == ":" && keys == .kept)
                rest = rest[string.endIndex...]
            case "0"..."9":
                let number = rest.prefix { Self.isDigit($0) || [".", "e", "E", "+", "-"].contains($0) }
                addNumber(String(String.UnicodeScalarView(number)).unicodeScalars[...])
                rest = rest[number.endIndex...]
            default:
                elements.append(Self.kept(scalar))
                rest = rest.dropFirst()
            }
        }
    }

    /// Returns the string with which a text begins, with its quotation marks.
    private static func string(startOf text: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
        var end = text.startIndex + 1
        while end < text.endIndex, text[end] != "\"" { end += text[end] == "\\" ? 2 : 1 }
        return text[..<min(end + 1, text.endIndex)]
    }

    private mutating func addString(_ string: ArraySlice<Unicode.Scalar>, isKept: Bool) {
        var rest = string
        var isFirst = true
        while let scalar = rest.first {
            if scalar == "\\", let (escaped, length) = Self.escapedScalar(startOf: rest), !isKept {
                elements.append(
                    Element(
                        scalar: escaped, replacements: NoiseAlphabet.replacements(of: escaped),
                        isEscaped: true))
                rest = rest.dropFirst(length)
            } else if scalar == "\\" {
                // `\n` is a line break: its letter is none.
                elements += rest.prefix(2).map(Self.kept)
                rest = rest.dropFirst(2)
            } else {
                elements.append(isKept || isFirst ? Self.kept(scalar) : Self.plain(scalar))
                rest = rest.dropFirst()
            }
            isFirst = false
        }
    }

    /// Returns the scalar that `\u` and hexadecimal digits spell, and the length of the escape.
    private static func escapedScalar(
        startOf text: ArraySlice<Unicode.Scalar>
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        func unit(_ text: ArraySlice<Unicode.Scalar>) -> UInt16? {
            guard text.starts(with: ["\\", "u"]) else { return nil }
            return UInt16(String(String.UnicodeScalarView(text.dropFirst(2).prefix(4))), radix: 16)
        }
        guard let first = unit(text) else { return nil }
        if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
        guard let second = unit(text.dropFirst(6)), UTF16.isLeadSurrogate(first),
            UTF16.isTrailSurrogate(second)
        else { return ("\u{fffd}", 6) }
        let scalar = 0x10000 + (UInt32(first) & 0x3ff) << 10 + UInt32(second) & 0x3ff
        return Unicode.Scalar(scalar).map { ($0, 12) }
    }

    /// Adds a number: the first digit does not become a zero, and a single digit stays, as does a short exponent.
    private mutating func addNumber(_ number: Substring.UnicodeScalarView) {
        let exponent = number.firstIndex { $0 == "e" || $0 == "E" } ?? number.endIndex
        let isSingle = number[..<exponent].count(where: Self.isDigit) < 2
        let isShortExponent = number[exponent...].count(where: Self.isDigit) < ScalarRuns.length
        var isFirst = true
        for index in number.indices {
            let scalar = number[index]
            let isKept = index < exponent ? isSingle || isFirst && scalar == "0" : isShortExponent
            if isKept || !Self.isDigit(scalar) {
                elements.append(Self.kept(scalar))
            } else {
                elements.append(Element(scalar: scalar, replacements: isFirst ? 0x31...0x39 : 0x30...0x39))
            }
            isFirst = isFirst && !Self.isDigit(scalar)
        }
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}
