import Foundation
import FuzzTargets

/// Checks an input: libFuzzer calls this with each (https://llvm.org/docs/LibFuzzer.html).
///
/// It is no part of the package's products: Scripts/fuzz.sh builds it.
///
/// The environment variable `FUZZ_TARGET` names the target, `FUZZ_SEEDS` a folder into which its seeds are put.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    } catch {
        fatalError("\(target.name): \(error)")
    }
}

/// Called once, before libFuzzer reads its folder of inputs.
@_cdecl("LLVMFuzzerInitialize")
func initialize(_ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?) -> CInt {
    guard let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return 0 }
    do {
        for (index, seed) in target.seeds.enumerated() {
            let file = URL(fileURLWithPath: folder).appendingPathComponent("seed-\(index)")
            try Data(seed.utf8).write(to: file)
        }
    } catch {
        fatalError("The seeds cannot be written: \(error)")
    }
    return 0
}

private let target: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("FUZZ_TARGET is one of \(FuzzTarget.all.map(\.name))")
    }
    return target
}()
