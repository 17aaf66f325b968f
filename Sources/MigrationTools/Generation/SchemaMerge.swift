import SchemaMigrations
import TextOutput

/// The schema that a migration makes of an old one: the wanted one, as far as no data is lost.
struct SchemaMerge {
    /// The objects, in the order in which they can be created.
    private(set) var objects: [SchemaObject] = []
    private(set) var questions: [SchemaQuestion] = []
    private(set) var tightened: [String] = []

    private let old: SchemaDescription
    private let names: Set<SQLName>
    /// The columns of wanted tables that are left out.
    private var missing: [SQLName: Set<SQLName>] = [:]
    /// The old tables that stay though the wanted schema has none of their name.
    private var kept: Set<SQLName> = []
    /// The questions about each table, which dependents wait for.
    private var asked: [SQLName: Int] = [:]

    init(
        _ old: SchemaDescription, _ wanted: SchemaDescription, _ losses: GeneratedMigration.Losses,
        names: Set<SQLName>
    ) {
        self.old = old
        self.names = names
        let before = old.byKey
        let after = wanted.byKey
        for object in wanted.objects {
            guard object.type == "table", let earlier = before[object.key] else {
                objects.append(object)
                continue
            }
            if object.isVirtual || earlier.isVirtual {
                mergeVirtual(earlier, object, losses)
            } else {
                let merge = TableMerge(
                    TableOutline(earlier, names: names), TableOutline(object, names: names), losses,
                    names: names)
                objects.append(merge.object)
                missing[object.name] = merge.missing
                tightened += merge.tightened
                if !merge.questions.isEmpty { asked[object.name] = questions.count }
                questions += merge.questions
            }
        }
        if losses == .ask {
            for object in old.objects where object.type == "table" && after[object.key] == nil {
                keep(object, after)
            }
            keepWhatKeptTriggersName(after)
        }
        for object in wanted.objects where object.type == "index" && before[object.key] == nil {
            let tokens = SQLTokens(object, names: names).tokens
            guard tokens.dropFirst().first?.word == "UNIQUE",
                before[.init(type: "table", name: object.table)] != nil
            else { continue }
            tightened.append("\(object.key.title) is UNIQUE")
        }
    }

    /// Keeps a table that the wanted schema does not have.
    private mutating func keep(_ table: SchemaObject, _ wanted: [DatabaseSchema.Key: SchemaObject]) {
        // An index of texts that other tables hold loses nothing.
        if FullTextTable(table)?.content == .external { return }
        kept.insert(table.name)
        asked[table.name] = questions.count
        let added = wanted.values.filter { $0.type == "table" }.map(\.name)
            .filter { name in !old.objects.contains { $0.type == "table" && $0.name == name } }
            .sorted { $0.text < $1.text }
        let rename =
            added.first.map { " If it is \($0.text.quoted) now, pass --rename-table \(table.name)=\($0)." }
            ?? ""
        questions.append(
            SchemaQuestion(
                "table \(table.name.text.quoted)",
                "The schema has no such table. It stays, because dropping it loses its rows.\(rename)",
                statements: ["-- allow: drop-table", "DROP TABLE \(table.name.plain);"]))
        objects.append(table)
        objects += old.objects.filter {
            $0.type != "table" && $0.table == table.name && wanted[$0.key] == nil
        }
    }

    /// Keeps the views and full-text indexes without which the triggers of kept tables would not compile.
    private mutating func keepWhatKeptTriggersName(_ wanted: [DatabaseSchema.Key: SchemaObject]) {
        let spare = old.objects.filter { object in
            wanted[object.key] == nil && (object.type == "view" || object.type == "table")
        }
        var named = objects.filter { kept.contains($0.table) }
        while let object = named.popLast() {
            let tokens = SQLTokens(object, names: names)
            for more in spare
            where tokens.mention(more.name) && !objects.contains(where: { $0.key == more.key }) {
                objects.append(more)
                named.append(more)
            }
        }
    }

    private mutating func mergeVirtual(
        _ earlier: SchemaObject, _ object: SchemaObject, _ losses: GeneratedMigration.Losses
    ) {
        if earlier.isSame(as: object, names: names) || losses == .accept {
            objects.append(object)
            return
        }
        let (old, new) = (FullTextTable(earlier), FullTextTable(object))
        let isWider = Set(FullTextTable.columns(of: earlier)).isSubset(of: FullTextTable.columns(of: object))
        let contents = [old, new].compactMap { $0?.content }
        if contents == [.external, .external] || contents == [.own, .own] && isWider {
            objects.append(object)
            return
        }
        objects.append(earlier)
        asked[object.name] = questions.count
        missing[object.name] = Set(FullTextTable.columns(of: object)).subtracting(
            FullTextTable.columns(of: earlier))
        questions.append(
            SchemaQuestion(
                "table \(object.name.text.quoted)",
                "It is a virtual table whose contents cannot be copied into the new one. Rebuild it by hand.")
        )
    }

    // MARK: Dependents

    /// Leaves out what needs columns that are left out, or names that are taken.
    mutating func leaveOutDependents() {
        let before = old.byKey
        var left: Set<DatabaseSchema.Key> = []
        var waiting: [Int: [String]] = [:]
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for (index, object) in objects.enumerated() where !left.contains(object.key) {
                guard let cause = cause(for: object, left) else { continue }
                left.insert(object.key)
                hasChanged = true
                if let question = asked[cause] { waiting[question, default: []].append(object.key.title) }
                // An object that existed stays as it was.
                if let earlier = before[object.key] { objects[index] = earlier }
            }
        }
        objects.removeAll { left.contains($0.key) && before[$0.key] == nil }
        for (index, waiting) in waiting { questions[index] = questions[index].waiting(waiting) }
    }

    /// Returns the table because of which an object cannot be as it is wanted; nil if there is none.
    private func cause(for object: SchemaObject, _ left: Set<DatabaseSchema.Key>) -> SQLName? {
        if object.type == "table" || object.type == "view" || object.type == "index",
            kept.contains(object.name),
            old.byKey[object.key] == nil
        {
            return object.name
        }
        guard object.type != "table" else { return nil }
        let tokens = SQLTokens(object, names: names)
        for (table, columns) in missing.sorted(by: { $0.key.text < $1.key.text })
        where object.table == table || tokens.mention(table) {
            if columns.contains(where: tokens.mention) { return table }
        }
        let leftView = left.first { key in
            (key.type == "view" || key.type == "table")
                && (tokens.mention(key.name) || object.table == key.name)
                && key != object.key
        }
        return leftView.map { view in
            asked.keys.first { old.byKey[view].map { SQLTokens($0, names: names) }?.mention($0) == true }
                ?? view.name
        }
    }
}

extension FullTextTable {
    /// Returns the columns of a table, as the arguments of its module name them.
    static func columns(of object: SchemaObject) -> [SQLName] {
        let sql = SQLTokens(object, names: [])
        guard let start = sql.tokens.firstIndex(where: { $0.word == "(" }) else { return [] }
        return sql.parts(of: start + 1..<max(start + 1, sql.end(ofParenthesisAt: start) - 1))
            .filter { part in !sql.tokens[part].contains { $0.word == "=" } }.map {
                sql.tokens[$0.lowerBound].name
            }
    }
}
