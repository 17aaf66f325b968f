import Testing

@testable import AppMigrations

@Suite("MigrationPlan", .timed)
struct MigrationPlanTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let known: [Int]
        var floor: Int?
        var settled: Set<Int> = []
        var owed: Set<Int> = []
        var target: Int?
        let pending: [Int]
        var belowFloor: [Int] = []
    }

    @Test(
        "contains",
        arguments: [
            Case(
                testDescription: "everything, if nothing is settled", known: [1, 2, 3],
                pending: [1, 2, 3]),
            Case(
                testDescription: "nothing, if everything is settled", known: [1, 2], settled: [1, 2],
                pending: []),
            Case(
                testDescription: "no version at or below the floor", known: [1, 2, 3], floor: 2,
                pending: [3], belowFloor: [1, 2]),
            Case(
                testDescription: "a version out of order among settled ones", known: [1, 2, 3],
                settled: [1, 3],
                pending: [2]),
            Case(
                testDescription: "no version above the target", known: [1, 2, 3], target: 2, pending: [1, 2]),
            Case(
                testDescription: "owed versions, even below the floor", known: [1, 2, 3], floor: 2, owed: [1],
                pending: [1, 3], belowFloor: [2]),
            Case(
                testDescription: "no owed version that is settled", known: [1], floor: 2, settled: [1],
                owed: [1], pending: []),
            Case(
                testDescription: "no owed version above the target", known: [3], floor: 3, owed: [3],
                target: 2, pending: []),
            Case(
                testDescription: "nothing, if versions below the floor are settled", known: [1, 2],
                floor: 2, settled: [1, 2], pending: []),
            Case(
                testDescription: "nothing, if no version is known", known: [], floor: 1, settled: [1],
                pending: []),
        ])
    func plan(_ example: Case) {
        let plan = MigrationPlan(
            known: example.known, by: \.self, floor: example.floor, isSettled: example.settled.contains,
            isOwed: example.owed.contains, target: example.target)
        #expect(plan.pending == example.pending)
        #expect(plan.belowFloor == example.belowFloor)
    }
}
