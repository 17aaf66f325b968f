import TestTraits
import Testing

@testable import DatabaseFiles

@Suite("The decision about the places of a database", .timed)
struct MoveDecisionTests {
    @Test(
        "follows the mark first, and then the data",
        arguments: [
            ([], .none),
            ([.missing, .missing], .none),
            ([.data], .keep(0, settingAside: [], removing: [], ignoring: [])),
            ([.missing, .data], .keep(1, settingAside: [], removing: [], ignoring: [])),
            ([.empty, .data], .keep(1, settingAside: [0], removing: [], ignoring: [])),
            ([.data, .empty], .keep(0, settingAside: [1], removing: [], ignoring: [])),
            ([.empty, .empty], .keep(0, settingAside: [1], removing: [], ignoring: [])),
            ([.data, .data], .two([0, 1])),
            ([.data, .empty, .data], .two([0, 2])),
            ([.marked, .ignored], .keep(0, settingAside: [], removing: [], ignoring: [1])),
            ([.marked, .leftover], .keep(0, settingAside: [], removing: [1], ignoring: [])),
            ([.empty, .marked], .keep(1, settingAside: [0], removing: [], ignoring: [])),
            ([.data, .marked], .two([0, 1])),
            ([.moved, .ignored], .keep(0, settingAside: [], removing: [], ignoring: [1])),
            ([.data, .moved], .two([0, 1])),
            ([.older, .moved], .keep(1, settingAside: [0], removing: [], ignoring: [])),
            (
                [.older, .empty, .moved, .ignored],
                .keep(2, settingAside: [0, 1], removing: [], ignoring: [3])
            ),
            ([.older, .data, .moved], .two([1, 2])),
            ([.older, .marked], .two([0, 1])),
            ([.older, .markedEmpty], .keep(0, settingAside: [1], removing: [], ignoring: [])),
            ([.unreadable, .moved], .unreadable([0])),
            ([.markedEmpty, .ignored], .keep(0, settingAside: [], removing: [], ignoring: [1])),
            ([.data, .markedEmpty], .keep(0, settingAside: [1], removing: [], ignoring: [])),
            ([.empty, .markedEmpty, .ignored], .keep(1, settingAside: [0], removing: [], ignoring: [2])),
            ([.missing, .marked, .ignored], .keep(1, settingAside: [], removing: [], ignoring: [2])),
            ([.unreadable, .data], .unreadable([0])),
            ([.data, .unreadable], .unreadable([1])),
            ([.empty, .unreadable], .unreadable([1])),
            ([.unreadable, .marked, .ignored], .unreadable([0])),
            ([.unreadable], .unreadable([0])),
        ] as [([PlaceState], MoveDecision)])
    func table(_ states: [PlaceState], _ decision: MoveDecision) {
        #expect(MoveDecision(states) == decision)
    }

    @Test("lets only files without data give way, and nothing beyond a mark decide anything")
    func laws() {
        for first in PlaceState.allCases {
            for second in PlaceState.allCases {
                for third in PlaceState.allCases {
                    let states = [first, second, third]
                    let mark =
                        states.firstIndex { [.moved, .marked, .markedEmpty].contains($0) } ?? states.endIndex
                    switch MoveDecision(states) {
                    case .keep(let kept, let aside, let removed, let ignored):
                        #expect(kept <= mark)
                        #expect(
                            aside.allSatisfy {
                                $0 <= mark && [.empty, .markedEmpty].contains(states[$0])
                                    || $0 < mark && states[$0] == .older && states[kept] == .moved
                                    || states[$0] == .leftover || states[$0] == .ignored
                            })
                        #expect((removed + ignored).allSatisfy { $0 > mark })
                        #expect(!states[..<min(mark, 3)].contains(.unreadable))
                    case .two(let indices):
                        #expect(indices.allSatisfy { $0 <= mark })
                    case .unreadable(let indices):
                        #expect(mark != 0 && indices.allSatisfy { $0 < mark })
                    case .none:
                        #expect(states.allSatisfy { $0 == .missing })
                    }
                }
            }
        }
    }
}
