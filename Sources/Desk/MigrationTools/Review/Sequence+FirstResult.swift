extension Sequence {
    /// Returns the first result that is not nil; `lazy.compactMap(…).first` would compute it twice.
    func firstResult<Result>(_ transform: (Element) throws -> Result?) rethrows -> Result? {
        for element in self {
            if let result = try transform(element) { return result }
        }
        return nil
    }
}
