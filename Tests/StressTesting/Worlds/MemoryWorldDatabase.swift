import AppMigrations
import DatabaseBatches
import Foundation
import SmallWorlds

/// A database of a small world that is in memory: what SQLite does itself plays no part in it.
struct MemoryWorldDatabase: WorldDatabase {
    var state = StoreState()
    var hasTables = false
    /// True if its records cannot be understood.
    var isDamaged = false
    /// The schema migrations that have been applied.
    var ledger: Set<Int> = []
    var contents = SmallData()

    static func old(isOther: Bool) -> Self {
        var database = Self()
        database.hasTables = true
        database.contents.values = WorldDevice.oldValues
        return database
    }

    func records(of manager: Int) -> StoreState? { isDamaged ? nil : state }

    mutating func damage() { isDamaged = true }

    func data() -> SmallData {
        var data = contents
        data.hasTables = hasTables
        return data
    }

    func open(_ number: Int, by process: WorldProcess) -> any OpenWorldDatabase {
        OpenMemoryDatabase(number: number, process: process, database: self)
    }
}

/// A database in memory that a process has opened: a place, whose changes are transactions.
final class OpenMemoryDatabase: OpenWorldDatabase, MigrationPlace, RecordStorage, @unchecked Sendable {
    let number: Int
    let process: WorldProcess
    private(set) var database: MemoryWorldDatabase

    init(number: Int, process: WorldProcess, database: MemoryWorldDatabase) {
        self.number = number
        self.process = process
        self.database = database
    }

    func close() -> any WorldDatabase { database }

    func commit(_ change: (inout MemoryWorldDatabase) throws -> Void) throws {
        var next = database
        try change(&next)
        next.state.newHistory = []
        try process.willChange(.database(number))
        database = next
    }

    // MARK: As a place and a store

    var id: PlaceID { .file([UInt8(number)]) }
    var name: String { "database \(number)" }
    var path: String { name }
    var store: any RecordStorage { self }

    func readState(of manager: String, schemaSteps moves: [any SchemaStepWork], waitingUpTo limit: Duration?)
        throws
        -> PlaceState
    {
        try checkReadable()
        let evidence: Evidence =
            if !database.ledger.isEmpty { .ledgerOnly } else if !database.hasTables {
                .empty
            } else if moves
                .isEmpty
            { .unmanaged } else { .adopted }
        return try PlaceState(
            of: manager, in: database.state, evidence: evidence, history: [],
            pending: moves.map { _ in PendingSchema(apply: pendingMigrations.map(String.init)) })
    }

    /// The migrations of the move that have not been applied: tables without a ledger are those of the first.
    var pendingMigrations: [Int] {
        guard database.ledger.isEmpty else { return [1, 2].filter { !database.ledger.contains($0) } }
        return database.hasTables ? [2] : [1, 2]
    }

    func read(_ manager: String) throws -> StoreState {
        try checkReadable()
        return database.state
    }

    private func checkReadable() throws {
        try process.checkAlive()
        if database.isDamaged { throw MigrationError.damaged(name) }
    }

    func setAside(replacingWith state: StoreState) throws {
        try commit { ($0.state, $0.isDamaged) = (state, false) }
    }

    func update(
        _ manager: String, waitingUpTo limit: Duration, _ change: (inout StoreState) throws -> Void
    ) throws {
        try checkReadable()
        try commit { try change(&$0.state) }
    }

    func history(_ manager: String) -> [SettledStep] { [] }

    func lock(_ manager: String) throws -> StoreLock { try process.lock(manager, of: name) }

    // MARK: As the app's

    var adoption: Adoption {
        Adoption(answer: { [self] request in
            let seen = database.state.seen[request.line] ?? []
            let isOld = database.hasTables && !seen.areOnly(request.current, build: request.appBuild)
            return AdoptionAnswer(version: isOld ? "1.0" : nil, isBound: true)
        })
    }

    func makeTables() { database.hasTables = true }

    func become(_ database: any WorldDatabase) {
        if let database = database as? MemoryWorldDatabase { self.database = database }
    }

    func write(_ write: SmallEvent.Write, form: SmallRelease) { database.contents.write(write, form: form) }

    func register(_ step: SmallApp.Step, with arguments: WorldRegistration, in manager: MigrationManager) {
        let work: StepBody =
            switch step.work {
            case .rows: .batches(MemoryRows(database: self, step: step, arguments: arguments))
            case .cursor: .batches(MemoryCursor(database: self, step: step, arguments: arguments))
            default: .transaction(MemoryStep(database: self, step: step, arguments: arguments))
            }
        manager.register(
            arguments.version, work, in: self, finishing: arguments.finishing,
            onFreshInstall: arguments.onFreshInstall,
            source: SourceLocation(fileID: #fileID, line: #line))
    }

    func register(_ move: SmallApp.Move, with arguments: WorldRegistration, in manager: MigrationManager) {
        manager.register(
            arguments.version, .schemaStep(MemoryMove(database: self, arguments: arguments)), in: self,
            finishing: arguments.finishing, source: SourceLocation(fileID: #fileID, line: #line))
    }
}

private struct MemoryMove: SchemaStepWork {
    let goesToLatest = false
    let database: OpenMemoryDatabase
    let arguments: WorldRegistration

    func perform(
        _ context: MigrationContext, knowing isKnown: @escaping @Sendable (WorkID) -> Bool
    ) throws -> SchemaStep {
        let applied = try arguments.process.run(SmallApp.Move.mark) { try apply() }
        return SchemaStep(work: context.work, schemaVersions: applied.map(String.init))
    }

    func mistakes(in schemaSteps: [any SchemaStepWork]) -> [SchemaStepMistake] { [] }

    func completeLaunch() {}

    /// Returns the versions that it has applied.
    private func apply() throws -> [Int] {
        let pending = database.pendingMigrations
        let isAdopted = pending == [2] && database.database.ledger.isEmpty
        for migration in pending {
            try database.commit { database in
                database.hasTables = true
                database.ledger.formUnion(isAdopted ? [1, migration] : [migration])
                guard migration == 2 else { return }
                database.contents.changeAll(
                    by: SmallApp.Move.mark, of: arguments.process.app, in: arguments.release)
            }
            arguments.process.didAdvance(SmallApp.Move.mark)
        }
        arguments.process.didRun(SmallApp.Move.mark)
        return pending
    }
}

private struct MemoryStep: TransactionWork {
    let database: OpenMemoryDatabase
    let step: SmallApp.Step
    let arguments: WorldRegistration

    func perform(_ context: MigrationContext, settlement: Settlement) throws {
        guard try !settlement.isRecorded(in: database.database.state) else { return }
        let process = arguments.process
        try process.run(step.id) {
            try database.commit { database in
                database.hasTables = true
                if step.work == .imports {
                    database.contents.copy(
                        process.device.files, by: step.id, of: process.app, in: arguments.release)
                } else {
                    database.contents.changeAll(by: step.id, of: process.app, in: arguments.release)
                }
                try process.mayFail(step.id)
                try settlement.record(in: &database.state)
            }
        }
        process.didRun(step.id)
    }

    func isNeededAgain() -> Bool { false }
}

/// Batches of values in a database in memory.
private protocol MemoryBatches: BatchWork {
    var database: OpenMemoryDatabase { get }
    var step: SmallApp.Step { get }
    var arguments: WorldRegistration { get }

    /// Returns the next value; nil at the end.
    func next(after last: Int?, _ position: StepPosition, in data: SmallData) throws -> Int?
    func cursor(at key: Int?, _ position: StepPosition) throws -> MemoryCursorValue
}

private struct MemoryCursorValue: Codable {
    var last: Int?
    /// The highest value that there was when the step became pending.
    var upper: Int?
}

extension MemoryBatches {
    func isNeededAgain() -> Bool { false }

    func mayBeNeededAgain() -> Bool { false }

    func batches(from position: StepPosition, in environment: Environment) -> any BatchRun {
        BatchRunner(rowsSetAside: position.setAside.count, in: environment) { batch in
            (try arguments.process.run(step.id) { try runBody(batch) }, .zero)
        }
    }

    private func runBody(_ batch: Batch) throws -> BatchOutcome {
        let (manager, id) = (batch.settlement.manager, batch.settlement.id)
        let record = try database.database.state.record(of: manager)
        guard let record, !record.hasSettled(id) else { return .endedElsewhere }
        var position = try record.position(of: id) ?? begin()
        if position.done == 0, position.setAside.isEmpty,
            try position.cursor(as: MemoryCursorValue.self) == nil
        {
            // It has waited for what comes before it.
            position = try begin()
        }
        let isAside = batch.part == .setAside
        var isDone = false
        do {
            try database.commit { database in
                var key: Int?
                if case .retry(let index) = batch.part {
                    key = Int(position.setAside.remove(at: index)[0])
                } else {
                    let last = try position.cursor(as: MemoryCursorValue.self)
                    key = try next(after: last?.last, position, in: database.contents)
                    if isAside, let key { position.setAside.append(["\(key)"]) }
                    let cursor = try cursor(at: key ?? last?.last, position)
                    try position.advance(to: cursor, done: key == nil || isAside ? 0 : 1)
                }
                if let key, !isAside {
                    database.contents.change(
                        key, by: step.id, of: arguments.process.app, in: arguments.release)
                    try arguments.process.mayFail(step.id)
                }
                let last = try position.cursor(as: MemoryCursorValue.self)?.last
                let isAtEnd = try next(after: last, position, in: database.contents) == nil
                isDone = isAtEnd && position.setAside.isEmpty
                if isDone { return try batch.settlement.record(in: &database.state) }
                try database.state.changeRecord(of: manager) { [position] record in
                    record?.changeOpen(id) { work in
                        work.position = position
                        work.restart()
                    }
                }
            }
        } catch let error as WorldProcess.Dead {
            throw error
        } catch {
            throw UndoneBatch("a value", smallerSize: nil, isRow: step.work == .rows, error)
        }
        arguments.process.didRun(step.id)
        if isDone { return .done }
        if case .retry = batch.part { return .more(position) }
        let last = try position.cursor(as: MemoryCursorValue.self)?.last
        let isAtEnd = try next(after: last, position, in: database.database.contents) == nil
        return isAtEnd ? .rowsLeft(position, .setAside("values")) : .more(position)
    }
}

/// The values that there are when the step becomes pending.
private struct MemoryRows: MemoryBatches {
    let database: OpenMemoryDatabase
    let step: SmallApp.Step
    let arguments: WorldRegistration

    func begin() throws -> StepPosition {
        let keys = database.database.contents.values.keys
        var position = StepPosition()
        try position.advance(to: MemoryCursorValue(upper: keys.max()), done: 0)
        position.total = keys.count
        return position
    }

    func next(after last: Int?, _ position: StepPosition, in data: SmallData) throws -> Int? {
        guard let upper = try position.cursor(as: MemoryCursorValue.self)?.upper else { return nil }
        return data.values.keys.filter { $0 <= upper && $0 > last ?? 0 }.min()
    }

    func cursor(at key: Int?, _ position: StepPosition) throws -> MemoryCursorValue {
        MemoryCursorValue(last: key, upper: try position.cursor(as: MemoryCursorValue.self)?.upper)
    }
}

/// All values, those included that come meanwhile.
private struct MemoryCursor: MemoryBatches {
    let database: OpenMemoryDatabase
    let step: SmallApp.Step
    let arguments: WorldRegistration

    func begin() -> StepPosition { StepPosition() }

    func next(after last: Int?, _ position: StepPosition, in data: SmallData) -> Int? {
        data.values.keys.filter { $0 > last ?? 0 }.min()
    }

    func cursor(at key: Int?, _ position: StepPosition) -> MemoryCursorValue { MemoryCursorValue(last: key) }
}
