/// The patterns of dates that the types of a file use, each with a constant.
struct DatePatterns {
    private let patterns: [String]

    init(_ schemas: [TypedSchema]) {
        let all = schemas.flatMap { $0.tables.flatMap { $0.columns.map(\.coding) } }
        patterns = Set(
            all.compactMap { coding in
                if case .date(.pattern(let pattern)) = coding { pattern } else { nil }
            }
        ).sorted()
    }

    /// The name of the constant for a pattern.
    func name(of pattern: String) -> String {
        "dateFormat\((patterns.firstIndex(of: pattern) ?? 0) + 1)"
    }

    /// The declarations of the constants.
    var declarations: [String] {
        patterns.map { "    private static let \(name(of: $0)) = Coding<Date>.pattern(\($0.swiftLiteral))" }
            .joinedLines
    }
}

extension [String] {
    /// The lines as one text; nothing if there are none.
    fileprivate var joinedLines: [String] { isEmpty ? [] : [joined(separator: "\n")] }
}
