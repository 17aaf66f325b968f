import AppMigrations
import Foundation
import TestTraits
import Testing

@testable import DatabaseFiles

@Suite("Work alongside a body", .timed)
struct AlongsideTests {
    private struct Failure: Error, Equatable {
        let place: String
    }

    @Test("runs on another thread while the body runs")
    func together() throws {
        let (workBegan, bodyBegan) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let value = try alongside {
            workBegan.signal()
            #expect(bodyBegan.wait(timeout: .now() + 60) == .success)
        } _: {
            bodyBegan.signal()
            #expect(workBegan.wait(timeout: .now() + 60) == .success)
            return 7
        }
        #expect(value == 7)
    }

    @Test("is over when the body's value is returned")
    func awaited() throws {
        for _ in 1...100 {
            let isOver = Locked(false)
            try alongside {
                Thread.sleep(forTimeInterval: 0.001)
                isOver.withLock { $0 = true }
            } _: {
            }
            #expect(isOver.withLock { $0 })
        }
    }

    @Test("fails for the caller", arguments: [0, 0.01])
    func failure(bodyLasting seconds: TimeInterval) {
        #expect(throws: Failure(place: "work")) {
            try alongside {
                throw Failure(place: "work")
            } _: {
                Thread.sleep(forTimeInterval: seconds)
            }
        }
    }

    @Test("gives way to the body's error, and is over then, or was never begun")
    func bodyFailure() {
        for _ in 1...100 {
            let running = Locked(0)
            #expect(throws: Failure(place: "body")) {
                try alongside {
                    running.withLock { $0 += 1 }
                    defer { running.withLock { $0 -= 1 } }
                    Thread.sleep(forTimeInterval: 0.001)
                    throw Failure(place: "work")
                } _: {
                    throw Failure(place: "body")
                }
            }
            #expect(running.withLock { $0 } == 0)
        }
    }
}
