import TestTraits
import Testing

/// Runs this target's tests, as the runner that SwiftPM makes for test targets does.
@main
enum CrashTests {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}

extension Trait where Self == Timed {
    /// Measures each test of the suite; every suite has this trait.
    static var timed: Self { Timed() }
}
