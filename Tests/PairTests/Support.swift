import TestTraits
import Testing

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
