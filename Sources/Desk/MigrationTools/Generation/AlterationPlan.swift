import SchemaMigrations
import TextOutput

/// The changes that make one schema of another, in an order in which SQLite can make them.
///
/// SQLite compiles every view and trigger when it renames a table, or renames or drops a column. So those that name
/// a table that is away for a moment are dropped first, and created again in the end.
struct AlterationPlan {
    private(set) var changes: [SchemaAlteration] = []
    private(set) var copies: [SQLName: [TableRebuild.Copy]] = [:]
    private(set) var summary: [String] = []

    private let old: SchemaDescription
    private let result: SchemaDescription
    private let names: Set<SQLName>
    private let before: [DatabaseSchema.Key: SchemaObject]
    private let after: [DatabaseSchema.Key: SchemaObject]
    private let tokens: [DatabaseSchema.Key: SQLTokens]

    /// The changes of tables, in order.
    private var tableChanges: [SchemaAlteration] = []
    /// The creations of tables, which come before whatever goes, so that its values can move there.
    private var creations: [SchemaAlteration] = []
    /// The tables that are dropped and do not come back.
    private var dropped: Set<SQLName> = []
    /// The tables that are away for a moment.
    private var moved: Set<SQLName> = []
    /// The rebuilt tables whose rows get other ids or other values.
    private var renumbered: Set<SQLName> = []
    private var created: Set<SQLName> = []
    private var altersSchema = false

    init(from old: SchemaDescription, to result: SchemaDescription, names: Set<SQLName>) {
        self.old = old
        self.result = result
        self.names = names
        before = old.byKey
        after = result.byKey
        tokens = before.mapValues { SQLTokens($0, names: names) }
    }

    mutating func make() {
        for object in result.objects where object.type == "table" { change(object) }
        dropped = Set(old.objects.filter { $0.type == "table" && after[$0.key] == nil }.map(\.name))
        altersSchema = altersSchema || !moved.isEmpty
        let gone = viewsThatGo()
        dropDependents(gone)
        changes += creations
        let made = Set(result.objects.filter { $0.type == "table" && before[$0.key] == nil }.map(\.name))
        changes += MovedValues(from: old, to: result, made: made, names: names).statements.map {
            .proposal($0)
        }
        for object in old.objects where dropped.contains(object.name) && object.type == "table" {
            changes.append(.drop(object))
            summary.append("- \(object.title)")
        }
        changes += tableChanges
        createDependents(["index", "view"], gone)
        // The texts may be those of a view.
        reindex(gone)
        createDependents(["trigger"], gone)
    }

    private func isChanged(_ object: SchemaObject) -> Bool {
        guard let before = before[object.key], let after = after[object.key] else { return true }
        return !before.isSame(as: after, names: names)
    }

    // MARK: Tables

    private mutating func change(_ object: SchemaObject) {
        guard let earlier = before[object.key] else {
            if canComeFirst(object) {
                creations.append(.create(object))
            } else {
                tableChanges.append(.create(object))
            }
            created.insert(object.name)
            summary.append("+ \(object.title)")
            return
        }
        if object.isVirtual || earlier.isVirtual {
            if !earlier.isSame(as: object, names: names) { changeVirtual(earlier, object) }
            return
        }
        let (old, new) = (TableOutline(earlier, names: names), TableOutline(object, names: names))
        let copies = Self.copies(from: old, to: new)
        if copies.isEmpty {
            recreate(earlier, object)
            return
        }
        self.copies[object.name] = copies
        if new.isSame(as: old) { return }
        if let changes = Self.alterations(from: old, to: new) {
            tableChanges += changes
            for change in changes {
                switch change {
                case .addColumn(let column, let table, _):
                    summary.append("+ column " + "\(table).\(column)".quoted)
                case .dropColumn(let column, let table):
                    summary.append("- column " + "\(table).\(column)".quoted)
                    altersSchema = true
                default: break
                }
            }
            return
        }
        let reasons = Self.reasons(from: old, to: new)
        let temporary = temporaryName(for: object.name)
        let rowID = Self.rowID(from: old, to: new)
        tableChanges.append(
            .rebuild(
                TableRebuild(
                    table: object.name, oldName: earlier.name, temporaryName: temporary,
                    sql: new.sql(named: temporary),
                    copies: copies, rowID: rowID,
                    keepsSequence: old.hasSequence && new.hasSequence, reasons: reasons)))
        summary.append("~ \(object.title), rebuilt: \(reasons.joined(separator: ", "))")
        moved.insert(object.name)
        let keepsIDs = rowID != nil || new.rowIDAlias != nil && new.rowIDAlias == old.rowIDAlias
        let computes = new.columns.contains { column in
            column.generation != nil && old.column(column.name).map { $0.clauses != column.clauses } ?? false
        }
        if !keepsIDs || computes || copies.contains(where: \.converts) { renumbered.insert(object.name) }
    }

    /// Returns whether a new table needs nothing that other changes make, and has a name that is free before them.
    private func canComeFirst(_ object: SchemaObject) -> Bool {
        !object.isVirtual
            && !old.objects.contains {
                $0.name == object.name || $0.isVirtual && object.name.folded.hasPrefix("\($0.name.folded)_")
            }
    }

    /// Returns the changes that `ALTER TABLE` can make; nil if the table has to be rebuilt.
    private static func alterations(
        from old: TableOutline, to new: TableOutline
    ) -> [SchemaAlteration]? {
        guard new.hasSameConstraints(as: old) else { return nil }
        let gone = old.columns.filter { new.column($0.name) == nil }
        let added = new.columns.filter { old.column($0.name) == nil }
        let isAlterable =
            new.columns.allSatisfy { column in
                old.column(column.name).map { $0.clauses == column.clauses } ?? true
            }
            && gone.allSatisfy { column in
                // lang_altertable.html, 5
                !column.isPrimaryKey && !column.isUnique && !old.primaryKey.contains(column.name)
                    && !new.uses(column.name)
                    && !old.columns.contains {
                        $0.name != column.name && $0.uses(column.name)
                            && (new.column($0.name) != nil || $0.generation == nil)
                    }
            }
            && added.allSatisfy {
                // lang_altertable.html, 4
                !$0.isPrimaryKey && !$0.isUnique && $0.generation != .stored && $0.hasConstantDefault
            }
        guard isAlterable, old.columns.contains(where: { new.column($0.name) != nil && $0.generation == nil })
        else {
            return nil
        }
        let drops = gone.filter { $0.generation != nil } + gone.filter { $0.generation == nil }
        return drops.map { .dropColumn($0.name, of: new.name) }
            + added.map { .addColumn($0.name, of: new.name, definition: $0.text) }
    }

    private static func reasons(from old: TableOutline, to new: TableOutline) -> [String] {
        var reasons = new.columns.compactMap { column -> String? in
            guard let before = old.column(column.name) else {
                return "column \(column.name.text.quoted) is new"
            }
            return before.clauses == column.clauses ? nil : "column \(column.name.text.quoted) changes"
        }
        reasons += old.columns.filter { new.column($0.name) == nil }.map {
            "column \($0.name.text.quoted) goes"
        }
        if old.constraints != new.constraints { reasons.append("its constraints change") }
        if old.isStrict != new.isStrict {
            reasons.append(new.isStrict ? "it becomes STRICT" : "it is no longer STRICT")
        }
        if old.hasRowID != new.hasRowID {
            reasons.append(new.hasRowID ? "it gets a row id" : "it becomes WITHOUT ROWID")
        }
        return reasons
    }

    private static func copies(from old: TableOutline, to new: TableOutline) -> [TableRebuild.Copy] {
        new.columns.compactMap { column in
            if column.name == new.rowIDAlias, old.column(column.name) == nil, let rowID = old.rowIDNames.first
            {
                return .init(column: column.name, expression: rowID.plain, converts: true)
            }
            guard column.generation == nil, let before = old.column(column.name) else { return nil }
            let converts =
                old.isStrict != new.isStrict
                || old.affinity(of: before) != new.affinity(of: column)
            guard column.isNotNull, !before.isNotNull, let value = column.defaultValue else {
                return .init(column: column.name, expression: before.name.plain, converts: converts)
            }
            return .init(
                column: column.name, expression: "coalesce(\(before.name.plain), \(value))", converts: true)
        }
    }

    /// Returns the name of the rows' ids in both tables, if they have to be copied apart from the columns.
    private static func rowID(from old: TableOutline, to new: TableOutline) -> SQLName? {
        guard new.hasRowID, new.rowIDAlias == nil else { return nil }
        return old.rowIDNames.first { new.column($0) == nil }
    }

    private func temporaryName(for table: SQLName) -> SQLName {
        let taken = names.union(result.objects.map(\.name))
        var number = 1
        while true {
            let name = SQLName(table.text + "_new" + (number == 1 ? "" : "\(number)"))
            if !taken.contains(name), !taken.contains(where: { $0.folded.hasPrefix(name.folded + "_") }) {
                return name
            }
            number += 1
        }
    }

    // MARK: Virtual tables

    private mutating func changeVirtual(_ earlier: SchemaObject, _ object: SchemaObject) {
        let columns = FullTextTable.columns(of: earlier).filter(FullTextTable.columns(of: object).contains)
        guard let old = FullTextTable(earlier), let new = FullTextTable(object), old.content == .own,
            new.content == .own, !columns.isEmpty
        else {
            recreate(earlier, object)
            return
        }
        let temporary = temporaryName(for: object.name)
        let sql = SQLTokens(object, names: names)
        let name = sql.tokens.firstIndex { $0.word == "USING" }.map { $0 - 1 }
        let copies = (["rowid"] + columns).map {
            TableRebuild.Copy(column: $0, expression: $0.plain, converts: false)
        }
        tableChanges.append(
            .rebuild(
                TableRebuild(
                    table: object.name, oldName: earlier.name, temporaryName: temporary,
                    sql: sql.text(replacing: name.map { [$0: temporary.plain] } ?? [:]), copies: copies,
                    rowID: nil, keepsSequence: false, reasons: ["its definition changes"])))
        configure(earlier, object)
        summary.append("~ \(object.title), rebuilt: its definition changes")
        moved.insert(object.name)
    }

    /// Gives a full-text table that is made again the settings that it had.
    private mutating func configure(_ earlier: SchemaObject, _ object: SchemaObject) {
        guard FullTextTable(object)?.isFTS5 == true, let settings = old.settings[earlier.name],
            !settings.isEmpty
        else { return }
        tableChanges.append(.configure(settings))
    }

    /// Drops a table whose contents are elsewhere, or not wanted, and creates it again.
    private mutating func recreate(_ earlier: SchemaObject, _ object: SchemaObject) {
        tableChanges += [.drop(earlier), .create(object)]
        configure(earlier, object)
        summary.append("~ \(object.title), created again")
        moved.insert(object.name)
        created.insert(object.name)
    }

    /// Fills the indexes of texts that other tables hold, where the migration has made them stale.
    private mutating func reindex(_ gone: Set<SQLName>) {
        // A new table has no texts, and a new view may have those of an old one.
        let sources = (old.objects + result.objects.filter { $0.type == "view" })
            .filter { ["table", "view"].contains($0.type) }
        for object in result.objects {
            guard let table = FullTextTable(object), table.content == .external else { continue }
            let sql = SQLTokens(object, names: names)
            let contents = sources.filter { source in
                source.name != object.name && sql.tokens.contains { $0.name == source.name }
            }
            let isNew = created.contains(object.name)
            let isStale = contents.contains { renumbered.contains($0.name) || gone.contains($0.name) }
            if isNew && !contents.isEmpty || isStale { changes.append(.reindex(object.name)) }
        }
    }

    // MARK: Indexes, views and triggers

    /// Returns the views that are dropped, for a moment or for good.
    private func viewsThatGo() -> Set<SQLName> {
        let views = old.objects.filter { $0.type == "view" }
        var gone = Set(views.filter(isChanged).map(\.name))
        guard altersSchema else { return gone }
        while true {
            let more = views.filter { !gone.contains($0.name) && mentions($0, moved.union(gone)) }
            if more.isEmpty { return gone }
            gone.formUnion(more.map(\.name))
        }
    }

    private func mentions(_ object: SchemaObject, _ names: Set<SQLName>) -> Bool {
        tokens[object.key]?.tokens.contains { $0.isName && names.contains($0.name) } ?? false
    }

    private mutating func dropDependents(_ gone: Set<SQLName>) {
        for object in old.objects where object.type == "trigger" && mustDrop(object, gone) {
            changes.append(.drop(object))
        }
        for object in old.objects.reversed() where object.type == "view" && gone.contains(object.name) {
            changes.append(.drop(object))
        }
        for object in old.objects where object.type == "index" && isChanged(object) {
            if !moved.contains(object.table), !dropped.contains(object.table) {
                changes.append(.drop(object))
            }
        }
        for object in old.objects where object.type != "table" && after[object.key] == nil {
            summary.append("- \(object.title)")
        }
    }

    /// Returns whether a trigger is dropped by a statement of its own, and not with its table.
    private func mustDrop(_ trigger: SchemaObject, _ gone: Set<SQLName>) -> Bool {
        // A table that is away for a moment, or a view, takes its triggers along, but only when its turn comes.
        let away = moved.union(gone).union(dropped).subtracting([trigger.table])
        if altersSchema, mentions(trigger, away) { return true }
        let goesWithTable =
            moved.contains(trigger.table) || dropped.contains(trigger.table) || gone.contains(trigger.table)
        return isChanged(trigger) && !goesWithTable
    }

    private mutating func createDependents(_ types: [String], _ gone: Set<SQLName>) {
        for type in types {
            for object in result.objects where object.type == type {
                let earlier = before[object.key]
                let isGone =
                    switch type {
                    case "index": moved.contains(object.table)
                    case "view": gone.contains(object.name)
                    default:
                        moved.contains(object.table) || gone.contains(object.table)
                            || earlier.map { mustDrop($0, gone) } == true
                    }
                if isChanged(object) {
                    summary.append("\(earlier == nil ? "+" : "~") \(object.title)")
                }
                if isGone || isChanged(object) { changes.append(.create(object)) }
            }
        }
    }
}

extension SchemaObject {
    /// The object in a sentence, such as ``table `entry` ``.
    fileprivate var title: String { key.title }
}
