extension Error {
    /// The text with which messages quote the error: without the values of rows that it may hold.
    ///
    /// An app logs messages, and a database may be encrypted for the sake of its values. What an app's own error says is
    /// left to the app.
    package var quotation: String {
        if let systemError { return systemError.words }
        return switch self {
        case let error as DecodingError: error.words
        case is EncodingError: "a value cannot be encoded"
        default: "\(self)"
        }
    }

    /// The text with which a developer's description quotes the error.
    var debugQuotation: String {
        let quotation = quotation
        return self is MigrationError || quotation == "\(self)" ? String(reflecting: self) : quotation
    }
}

extension DecodingError {
    /// The kind of the error and the property; Swift's own text can quote the value.
    fileprivate var words: String {
        let (problem, context): (String, Context?) =
            switch self {
            case .typeMismatch(let type, let context): ("a value is not of type \(type)", context)
            case .valueNotFound(let type, let context): ("a value of type \(type) is missing", context)
            case .keyNotFound(let key, let context): ("the key \(key.stringValue) is missing", context)
            case .dataCorrupted(let context): ("a value cannot be decoded", context)
            @unknown default: ("a value cannot be decoded", nil)
            }
        guard let property = context?.codingPath.first?.stringValue else { return problem }
        return "\(problem), in \(property)"
    }
}
