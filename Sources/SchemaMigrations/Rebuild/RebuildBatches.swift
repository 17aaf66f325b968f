import AppMigrations
import GRDB
import MigrationDiagnostics

/// Batches that rebuild a table while the app uses it.
///
/// 1. The first batch creates the new table, the *shadow*, and triggers that note the key of each row that is written.
/// 2. The rows that were noted are deleted from the shadow, and are copied again once nothing else is noted: so what is in
///    the shadow is always true, and a row that does not fit is at fault itself.
/// 3. When everything is copied, a launch swaps the two tables.
/// 4. The old table is emptied, and dropped.
///
/// Nothing but the database decides which of these comes next.
struct RebuildBatches: StepBatches {
    /// A launch leaves a longer log to the next deferred run, and what it cannot copy in this time.
    private static let longestLogInLaunch = 10_000
    private static let longestTimeInLaunch: Duration = .milliseconds(500)
    /// So many of the rows that were written come before any row is copied, however small the batch.
    private static let fewestForgotten = 100

    let order: RebuildOrder
    private let rows: RowBatches

    init(_ order: RebuildOrder) {
        self.order = order
        rows = RowBatches(table: order.names.table) { db, rows in
            try RebuildCopy(order, db)?.insert(rows.condition, db)
        }
    }

    private var names: RebuildNames { order.names }

    /// The work that comes next.
    private enum Work {
        case create
        /// Rows were written, and are to be copied again.
        case copyNoted
        case copyRest
        /// Everything is copied but what is set aside.
        case leave
        case swap
        /// The old table is to be emptied; `isLast` unless another step has left it, and this one comes after it.
        case empty(isLast: Bool)
        case done

        /// The mode of foreign keys that the work needs; nil if it makes no difference.
        ///
        /// SQLite itself says which new rows have no parent, also for keys that are checked at the commit. The swap must not
        /// change what refers to the table (lang_altertable.html).
        var foreignKeys: ForeignKeys? {
            switch self {
            case .copyNoted, .copyRest: .immediate
            case .create, .swap, .empty: .deferred
            case .leave, .done: nil
            }
        }
    }

    // MARK: What comes next

    /// Counts the rows; where the step begins is determined when its first batch creates the triggers.
    func begin(_ db: Database) throws -> StepPosition {
        try order.check(db)
        var position = StepPosition()
        position.total = try rows.begin(db).total
        return position
    }

    func prepare(_ batch: Batch, _ db: Database, _ position: () throws -> StepPosition?) throws {
        let work: Work = try db.readSnapshot { try self.work(position() ?? StepPosition(), batch, db) }
        if let mode = work.foreignKeys { try db.setForeignKeys(mode) }
    }

    private func work(_ position: StepPosition, _ batch: Batch, _ db: Database) throws -> Work {
        let rest = try position.cursor(as: RowBatches.Rest.self)
        let isSwapped = try db.hasTable(names.old)
        guard try isSwapped || db.hasTable(names.shadow) else {
            return rest?.note == Self.swapped ? .done : .create
        }
        let isOurs = try isOwner(batch, db)
        if isSwapped { return .empty(isLast: isOurs) }
        // After a change of anything that it relies on, the rebuild starts over.
        guard let rest, try rest.note == definition(db) else { return .create }
        if try hasNotes(db) { return .copyNoted }
        if !rest.isEmpty { return .copyRest }
        return position.setAside.isEmpty ? .swap : .leave
    }

    /// Returns true if the shadow has all rows, and they fit.
    private func isCopied(_ position: StepPosition, _ db: Database) throws -> Bool {
        guard position.setAside.isEmpty, try position.cursor(as: RowBatches.Rest.self)?.isEmpty == true else {
            return false
        }
        return try !hasNotes(db)
    }

    private func hasNotes(_ db: Database) throws -> Bool {
        try hasKeys(todo: false, db) || hasKeys(todo: true, db)
    }

    private func hasKeys(todo: Bool, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM \(names.log.inMain) WHERE todo = \(todo ? 1 : 0))"))
            ?? false
    }

    // MARK: Batches

    func run(_ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws
        -> BatchesLeft
    {
        let work = try work(position, body.batch, db)
        if case .retry(let index) = part {
            try retry(index, &position, work, db)
            return .more
        }
        if let mode = work.foreignKeys, try db.pragma("foreign_keys") != (mode == .immediate ? 1 : 0) {
            // The app has written between the look at the database and the beginning of the transaction.
            return .more
        }
        if body.batch.occasion == .launch, try !isForLaunch(work, body.batch, db) {
            position.awaitsLaunch = false
            return .otherRun
        }
        var size = 1
        if case .next(let most) = part { size = max(1, most) }
        switch work {
        case .create: try create(&position, body, db)
        case .copyNoted, .copyRest:
            try copy(size, part, &position, body, db)
            // The app may write before each batch. A launch catches up with that.
            guard body.batch.occasion == .deferredRun, try isCopied(position, db) else { return .more }
            position.awaitsLaunch = true
            return .otherRun
        case .leave, .done: return .nothing
        case .swap: return try swap(&position, body, db)
        case .empty(let isLast):
            if try empty(size, body, db), isLast { return .nothing }
            return body.batch.occasion == .launch ? .otherRun : .more
        }
        return .more
    }

    func title(of rows: [[String]]) -> String { self.rows.title(of: rows) }

    /// Returns false for work that a launch leaves to deferred runs, unless it needs the whole step.
    private func isForLaunch(_ work: Work, _ batch: Batch, _ db: Database) throws -> Bool {
        switch work {
        case .swap: return true
        case .copyNoted:
            if batch.isTimed, .now - batch.settlement.started > Self.longestTimeInLaunch { return false }
            let count = try Int.fetchOne(
                db,
                sql: "SELECT count(*) FROM (SELECT 1 FROM \(names.log.inMain) LIMIT ?)",
                arguments: [Self.longestLogInLaunch + 1])
            return count ?? 0 <= Self.longestLogInLaunch
        case .create, .copyRest, .leave, .empty, .done: return false
        }
    }

    // MARK: Beginning

    private func create(_ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws {
        // Counted by the launch: to count again would take longer than a batch may.
        let total = position.total
        position = StepPosition()
        position.total = total
        if try db.hasTable(names.shadow) {
            // Committed, so that a table that nothing keeps up to date is gone even if no other can be created.
            return try body.run("the new table \(names.table)", smallerSize: nil, isRow: false, db) {
                try TableRebuild.discard(names.table.text, db)
            }
        }
        let isInPlace = try body.run("the new table \(names.table)", smallerSize: nil, isRow: false, db) {
            try TableRebuild.discard(names.table.text, db)
            try order.check(db)
            let schema = try RebuildSchema(order.schema, names)
            if try schema.isInPlace(db) { return true }
            try order.checkIndexes(schema, db)
            for statement in schema.statements { try db.execute(sql: statement) }
            guard let table = try RebuildTable(names.table, db),
                let shadow = try RebuildTable(names.shadow, db)
            else { throw order.refused("there is no table \(names.table)", "Name a table that exists.") }
            try order.check(table, shadow, db)
            try createLog(table, body.batch, db)
            try RebuildTriggers.create(names, table, db)
            // Mistakes show here, and not in a launch.
            try rehearse(db)
            _ = try RebuildCopy(order, db)?.check(db)
            return false
        }
        if isInPlace { return try noteSwapped(RowBatches.Rest(key: [], hasNulls: false), &position) }
        guard let key = try TableKey(of: names.table, db) else { return }
        var rest = try rows.rest(key, db)
        rest.note = try definition(db)
        try position.advance(to: rest, done: 0)
    }

    private func createLog(_ table: RebuildTable, _ batch: Batch, _ db: Database) throws {
        let columns = RebuildLog.columns(of: table.key.count).joined(separator: ", ")
        try db.execute(
            sql: """
                CREATE TABLE \(names.log.inMain)(seq INTEGER PRIMARY KEY, todo, \(columns));
                CREATE INDEX \(names.index.inMain) ON \(names.log.sql)(todo, \(columns));
                """)
        try db.execute(
            sql: "INSERT INTO \(names.log.inMain)(todo, key_1) VALUES (2, ?)", arguments: [Self.owner(batch)])
    }

    // MARK: Whose rebuild it is, and of what

    private static func owner(_ batch: Batch) -> String {
        "\(batch.settlement.manager) \(batch.settlement.version)"
    }

    /// Returns true if this step has begun the rebuild; false if another one has, and left it: it was skipped, or is no longer
    /// registered.
    ///
    /// - Throws: `MigrationPostponed`, when the other one is pending, or another manager's: it comes first.
    private func isOwner(_ batch: Batch, _ db: Database) throws -> Bool {
        let owner =
            try db.hasTable(names.log)
            ? String.fetchOne(db, sql: "SELECT key_1 FROM \(names.log.inMain) WHERE todo = 2") : nil
        guard let owner else { return true }
        let (manager, pending) = (batch.settlement.manager, batch.settlement.pendingDeferred)
        let version =
            owner.hasPrefix("\(manager) ") ? AppVersion(String(owner.dropFirst(manager.count + 1))) : nil
        if version == batch.settlement.version { return true }
        if let version, !pending.contains(version) { return false }
        throw MigrationPostponed(
            reason: "table \(names.table) is being rebuilt by step \(owner), which comes first")
    }

    /// Returns a checksum of everything that the rebuild relies on: what the app has registered, the table, and those to which
    /// the new one refers.
    private func definition(_ db: Database) throws -> String {
        let parents = try SQLName.fetchSet(
            db, sql: "SELECT \"table\" FROM pragma_foreign_key_list(?, 'main')", arguments: [names.shadow])
        let objects = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT name, tbl_name, sql, type FROM main.sqlite_master ORDER BY type, name"))
        let ours: Set<SQLName> = [names.table, names.shadow, names.log]
        let texts = objects.filter { object in
            let (name, table): (SQLName, SQLName) = (object[0], object[1])
            // Other rebuilds may have triggers on the same tables.
            if object[3] == "trigger", name.folded.hasPrefix(Ledger.prefix) { return names.isTrigger(name) }
            return ours.contains(table) || object[3] != "trigger" && parents.contains(table)
        }.map { "\($0[0] as String)\0\($0[2] as String? ?? "")\0" }
        let registered =
            [order.schema] + order.copying.sorted { $0.key < $1.key }.flatMap { [$0.key.folded, $0.value] }
            + order.dropping.map(\.folded).sorted()
        return String(
            (texts + registered.map { "\($0)\0" }).joined().utf8.fnv1a(after: FNV1a.start), radix: 16)
    }

    static let swapped = "swapped"
}

// MARK: Rows that were written meanwhile

extension RebuildBatches {
    /// Catches up with what was written, and goes on with the rest.
    ///
    /// In one transaction: while an app writes all the time, something would be noted whenever a batch begins.
    private func copy(
        _ size: Int, _ part: Batch.Part, _ position: inout StepPosition, _ body: BatchBody, _ db: Database
    ) throws {
        try body.run(
            "rows of table \(names.table) that were written", smallerSize: size > 1 ? size / 2 : nil,
            isRow: false, db
        ) {
            try forget(max(Self.fewestForgotten, size), body, db)
        }
        guard try !hasKeys(todo: false, db) else { return }
        if part == .setAside {
            let isFound = try setAsideNoted(&position, body, db)
            if !isFound { _ = try rows.run(part, &position, body, db) }
            return
        }
        let count = try copyNoted(size, body, db)
        guard count < size, !body.isTimeOver, try !hasKeys(todo: true, db) else { return }
        _ = try rows.run(.next(size - count), &position, body, db)
    }

    /// Deletes from the shadow the rows that were written, and notes that they are to be copied.
    private func forget(_ count: Int, _ body: BatchBody, _ db: Database) throws {
        guard let shadow = try RebuildCopy(order, db) else { return }
        let log = names.log.inMain
        let delete = try db.cachedStatement(
            sql: "DELETE FROM \(names.shadow.inMain) WHERE \(shadow.isNoted(in: names.shadow))")
        let isSame = shadow.logColumns.map { "\($0) IS (SELECT \($0) FROM \(log) WHERE seq = :seq)" }
        let forget = try db.cachedStatement(
            sql: "DELETE FROM \(log) WHERE todo = 1 AND \(isSame.joined(separator: " AND "))")
        let move = try db.cachedStatement(sql: "UPDATE \(log) SET todo = 1 WHERE seq = :seq")
        for seq in try noted(count, todo: false, shadow, db) {
            for statement in [delete, forget, move] { try statement.execute(arguments: ["seq": seq]) }
            if body.isTimeOver { return }
        }
    }

    private func noted(_ count: Int, todo: Bool, _ copy: RebuildCopy, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT seq FROM \(names.log.inMain) WHERE todo = \(todo ? 1 : 0) LIMIT ?
                    """), arguments: [count])
    }

    /// Copies rows that were written.
    ///
    /// - Returns: the number of rows.
    private func copyNoted(_ count: Int, _ body: BatchBody, _ db: Database) throws -> Int {
        guard let copy = try RebuildCopy(order, db) else { return 0 }
        let keys = try noted(count, todo: true, copy, db)
        guard let first = keys.first else { return 0 }
        let title =
            try keys.count == 1
            ? title(of: [copy.key(first, db).literals]) : "\(keys.count) rows of table \(names.table)"
        try body.run(title, smallerSize: keys.count > 1 ? keys.count / 2 : nil, isRow: true, db) {
            for key in keys { try copy.insert(noted: key, db) }
        }
        for key in keys { try remove(key, db) }
        return keys.count
    }

    /// Copies rows that were written, up to the first that does not fit, and sets that aside.
    ///
    /// It need not be the one at which the batch before has failed: the app may have written since.
    ///
    /// - Returns: false if all of them fit.
    private func setAsideNoted(
        _ position: inout StepPosition, _ body: BatchBody, _ db: Database
    ) throws -> Bool {
        guard let copy = try RebuildCopy(order, db) else { return false }
        for key in try noted(.max, todo: true, copy, db) {
            // The next batch goes on.
            if body.isTimeOver { return true }
            let savepoint = try Savepoint(db)
            do {
                try copy.insert(noted: key, db)
                guard db.hasUnresolvedKeys else {
                    try db.execute(sql: "RELEASE \(Savepoint.name)")
                    try remove(key, db)
                    continue
                }
            } catch let error as DatabaseError where Obstacle(error) == nil && !error.isAboutStatement {
                // The row is found.
            }
            _ = savepoint.undo()
            let literals = try copy.key(key, db).literals
            if !position.setAside.contains(literals) { position.setAside.append(literals) }
            try remove(key, db)
            return true
        }
        return false
    }

    private func remove(_ key: Int64, _ db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM \(names.log.inMain) WHERE seq = ?").execute(arguments: [key])
    }

    /// Takes a row that was set aside among those that are to be copied.
    private func retry(
        _ index: Int, _ position: inout StepPosition, _ work: Work, _ db: Database
    ) throws {
        guard position.setAside.indices.contains(index), try db.hasTable(names.log),
            let key = RowKey(literals: position.setAside[index]), let copy = try RebuildCopy(order, db)
        else { return }
        try copy.note(key, db)
        position.setAside.remove(at: index)
    }
}

// MARK: The swap, and the end

extension RebuildBatches {
    private func swap(_ position: inout StepPosition, _ body: BatchBody, _ db: Database) throws -> BatchesLeft
    {
        let isRehearsal = body.batch.occasion == .deferredRun
        if isRehearsal, position.awaitsLaunch { return .otherRun }
        try body.run("the swap of table \(names.table)", smallerSize: nil, isRow: false, db) {
            if isRehearsal { try rehearse(db) } else { try RebuildSwap(order, db)?.perform(db) }
        }
        position.awaitsLaunch = isRehearsal
        if isRehearsal { return .otherRun }
        if let rest = try position.cursor(as: RowBatches.Rest.self) { try noteSwapped(rest, &position) }
        return body.batch.occasion == .launch ? .otherRun : .more
    }

    private func noteSwapped(_ rest: RowBatches.Rest, _ position: inout StepPosition) throws {
        var rest = rest
        rest.note = Self.swapped
        try position.advance(to: rest, done: 0)
    }

    private func rehearse(_ db: Database) throws {
        let savepoint = try Savepoint(db)
        do {
            try RebuildSwap(order, db)?.perform(db)
        } catch {
            _ = savepoint.undo()
            throw error
        }
        _ = savepoint.undo()
    }

    /// Deletes some rows of the old table, or an index, or at last the table.
    ///
    /// Indexes on foreign keys stay: without them, each change of a parent would go through the whole table.
    ///
    /// - Returns: whether nothing is left of it.
    private func empty(_ count: Int, _ body: BatchBody, _ db: Database) throws -> Bool {
        guard let old = try RebuildTable(names.old, db) else { return true }
        let index = try SQLName.fetchOne(
            db,
            sql: """
                SELECT name FROM main.sqlite_master AS i
                WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM pragma_index_info(i.name, 'main') JOIN pragma_foreign_key_list(i.tbl_name, 'main') AS f
                    ON f."from" = name COLLATE NOCASE WHERE seqno = 0)
                """, arguments: [names.old])
        if let index {
            try body.run("index \(index)", smallerSize: nil, isRow: false, db) {
                try db.execute(sql: "DROP INDEX \(index.inMain)")
            }
            return false
        }
        let key = old.rowID ?? old.key.map(\.name).sql
        let columns = old.rowID == nil ? "(\(key))" : key
        try body.run(
            "\(count) rows of the old table \(names.table)", smallerSize: count > 1 ? count / 2 : nil,
            isRow: false, db
        ) {
            try db.cachedStatement(
                sql: """
                    DELETE FROM \(names.old.inMain) WHERE \(columns) IN
                    (SELECT \(key) FROM \(names.old.inMain) ORDER BY \(key) LIMIT ?)
                    """
            ).execute(arguments: [count])
        }
        let hasRows = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(names.old.inMain))") ?? false
        if hasRows { return false }
        try TableRebuild.discard(names.table.text, db)
        return true
    }
}
