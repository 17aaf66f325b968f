/// Identifies a place: equal for two objects that stand for the same one.
package enum PlaceID: Hashable, Sendable {
    /// A store that is nothing but a store.
    case store
    /// A database in a file, by the bytes of its path.
    ///
    /// Swift takes two paths for equal that Unicode takes for equivalent, and that may be two files.
    case file([UInt8])
    /// A database in memory.
    case object(ObjectIdentifier)
}
