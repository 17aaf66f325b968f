import SchemaMigrations
import TextOutput

/// The schema that a migration makes of an old one: the wanted one, as far as no data is lost.
struct SchemaMerge {
    /// The objects, in the order in which they can be created.
    private(set) var objects: [SchemaObject] = []
    private(set) var questions: [SchemaQuestion] = []

    private let old: SchemaDescription
    private let wanted: SchemaDescription
    private let before: [DatabaseSchema.Key: SchemaObject]
    private let names: Set<SQLName>
    /// The changes of each table that rows may not fit, in words.
    private var tightenedTables: [SQLName: [String]] = [:]
    /// The columns of each table that compare other values as equal.
    private var recollated: [SQLName: Set<SQLName>] = [:]
    /// The columns of wanted tables that are left out.
    private var missing: [SQLName: Set<SQLName>] = [:]
    /// The old tables that stay though the wanted schema has none of their name.
    private var kept: Set<SQLName> = []
    /// The question about each table, or view that is left out, at which dependents wait.
    private var asked: [SQLName: Int] = [:]
    /// The objects that are left out: they do not exist, or are as they were.
    private var left: Set<DatabaseSchema.Key> = []

    init(
        _ old: SchemaDescription, _ wanted: SchemaDescription, _ losses: GeneratedMigration.Losses,
        names: Set<SQLName>, dropping drops: SchemaRenames
    ) {
        self.old = old
        self.wanted = wanted
        self.names = names
        before = old.byKey
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
                    names: names, dropping: drops.droppedColumns[object.name] ?? [])
                objects.append(merge.object)
                missing[object.name] = merge.missing
                tightenedTables[object.name] = merge.tightened
                recollated[object.name] = merge.recollated
                if !merge.questions.isEmpty { asked[object.name] = questions.count }
                questions += merge.questions
            }
        }
        if losses == .ask {
            for object in old.objects
            where object.type == "table" && after[object.key] == nil
                && !drops.droppedTables.contains(object.name)
            {
                keep(object, after)
            }
            keepWhatKeptTriggersName(after)
        }
    }

    /// The changes that rows may not fit, in words.
    var tightened: [String] {
        let indexes = objects.filter { object in
            guard isUniqueIndex(object), before[.init(type: "table", name: object.table)] != nil else {
                return false
            }
            let tokens = SQLTokens(object, names: names)
            return !isAsBefore(object)
                || recollated[object.table, default: []].contains(where: tokens.mention)
        }
        return wanted.objects.filter { $0.type == "table" }.flatMap { tightenedTables[$0.name] ?? [] }
            + indexes.map { "\($0.key.title) is UNIQUE" }
    }

    /// Keeps a table that the wanted schema does not have.
    private mutating func keep(_ table: SchemaObject, _ wanted: [DatabaseSchema.Key: SchemaObject]) {
        kept.insert(table.name)
        asked[table.name] = questions.count
        let added = wanted.values.filter { $0.type == "table" }.map(\.name)
            .filter { name in !old.objects.contains { $0.type == "table" && $0.name == name } }
            .sorted { $0.text < $1.text }
        let rename =
            added.first.map {
                " If it is \($0.text.quoted) now, pass --rename-table \("\(table.name)=\($0)".shellWord)."
            } ?? ""
        let loss = FullTextTable(table)?.content == .external ? "the index" : "its rows"
        questions.append(
            SchemaQuestion(
                "table \(table.name.text.quoted)",
                "The schema has no such table. It stays, because dropping it loses \(loss).\(rename)",
                missing: .init(path: table.name.text, isTable: true, newNames: added.map(\.text))))
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
        missing[object.name] = Self.columns(of: object, names).subtracting(Self.columns(of: earlier, names))
        questions.append(
            SchemaQuestion(
                "table \(object.name.text.quoted)",
                "It is a virtual table whose contents cannot be copied into the new one. Rebuild it by hand.")
        )
    }

    // MARK: Dependents

    /// Leaves out what cannot be without the changes that are left out.
    mutating func settle() throws {
        leaveOutDependents()
        guard !questions.isEmpty else { return }
        let known = try Set(
            [old, wanted].flatMap { try SchemaProblem.find(among: $0.objects, old.configuration) }.map(
                \.culprit))
        // Each round makes one object what it was, and the old schema has no problem that is not known.
        while let problem = try SchemaProblem.find(among: objects, old.configuration).first(where: {
            !known.contains($0.culprit)
        }) {
            guard resolve(problem) else { return }
            leaveOutDependents()
        }
    }

    /// Leaves out what needs columns that are left out, or names that are taken.
    private mutating func leaveOutDependents() {
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for object in objects where !isAsBefore(object) {
                guard let cause = cause(for: object) else { continue }
                leaveOut(object, waitingFor: cause)
                hasChanged = true
            }
        }
    }

    /// Leaves out the change that makes a problem; returns false if there is none.
    private mutating func resolve(_ problem: SchemaProblem) -> Bool {
        switch problem.culprit {
        case .object(let key):
            guard let object = objects.first(where: { $0.key == key }) else { return false }
            let tokens = SQLTokens(object, names: names)
            if !isAsBefore(object) {
                leaveOut(
                    object, waitingFor: askedTable { $0 == object.table || tokens.mention($0) },
                    because: problem.reason)
            } else if let needed = objects.first(where: { canGoBack($0) && tokens.mention($0.name) }) {
                leaveOut(needed, because: "\(key.title) stays, and needs it")
            } else {
                return false
            }
        case .foreignKey(let childName, let parentName):
            let (child, parent) = (table(childName), table(parentName))
            let reason = "table \(childName.text.quoted) stays, and refers to columns that are unique now"
            if let parent, canGoBack(parent), child.map(isAsWanted) != true || child.map(isAsBefore) == true {
                leaveOut(parent, because: reason)
            } else if let child, !isAsBefore(child) {
                leaveOut(
                    child, waitingFor: askedTable { $0 == parentName && $0 != childName },
                    because: problem.reason)
            } else if let index = lostUniqueIndex(of: parentName) {
                objects.removeAll { $0.key == index.key }
                objects.append(index)
                ask(about: index, reason)
            } else {
                return false
            }
        }
        return true
    }

    private func table(_ name: SQLName) -> SchemaObject? {
        objects.first { $0.type == "table" && $0.name == name }
    }

    /// Returns a unique index of a table that is not what it was; nil if there is none.
    private func lostUniqueIndex(of table: SQLName) -> SchemaObject? {
        old.objects.first { index in
            isUniqueIndex(index) && index.table == table
                && !objects.contains { $0.key == index.key && isAsBefore($0) }
        }
    }

    private func isUniqueIndex(_ object: SchemaObject) -> Bool {
        object.type == "index"
            && SQLTokens(object, names: names).tokens.dropFirst().first?.word == "UNIQUE"
    }

    private func askedTable(where isIt: (SQLName) -> Bool) -> SQLName? {
        asked.keys.filter(isIt).min { $0.text < $1.text }
    }

    private func isAsBefore(_ object: SchemaObject) -> Bool {
        before[object.key].map { $0.isSame(as: object, names: names) } ?? false
    }

    private func canGoBack(_ object: SchemaObject) -> Bool {
        ["table", "view"].contains(object.type) && before[object.key] != nil && !isAsBefore(object)
    }

    private func isAsWanted(_ object: SchemaObject) -> Bool {
        wanted.byKey[object.key].map { $0.isSame(as: object, names: names) } ?? false
    }

    /// Makes an object what it was, and names it at the question about a table, or asks about it.
    private mutating func leaveOut(
        _ object: SchemaObject, waitingFor table: SQLName? = nil, because reason: String? = nil
    ) {
        guard let index = objects.firstIndex(where: { $0.key == object.key }) else { return }
        if let earlier = before[object.key] {
            objects[index] = earlier
        } else {
            objects.remove(at: index)
        }
        if object.type == "table", let earlier = before[object.key] {
            tightenedTables[object.name] = nil
            missing[object.name, default: []].formUnion(
                Self.columns(of: object, names).subtracting(Self.columns(of: earlier, names)))
        } else {
            left.insert(object.key)
        }
        let question = table.flatMap { asked[$0] }
        if let question {
            questions[question].waiting.append(object.key.title)
        } else if let reason {
            ask(about: object, reason)
        }
        // What needs the object waits at the same question.
        if ["table", "view"].contains(object.type), asked[object.name] == nil {
            asked[object.name] = question ?? (reason == nil ? nil : questions.count - 1)
        }
    }

    private mutating func ask(about object: SchemaObject, _ reason: String) {
        questions.append(
            SchemaQuestion(
                object.key.title,
                """
                It \(before[object.key] == nil ? "is left out" : "stays as it is"), because \(reason). \
                Answer the other questions first, or change it by hand.
                """))
    }

    /// Returns the columns of a table, by its SQL.
    private static func columns(of table: SchemaObject, _ names: Set<SQLName>) -> Set<SQLName> {
        Set(
            table.isVirtual
                ? FullTextTable.columns(of: table) : TableOutline(table, names: names).columns.map(\.name))
    }

    /// Returns the table because of which an object cannot be as it is wanted; nil if there is none.
    private func cause(for object: SchemaObject) -> SQLName? {
        if object.type == "table" || object.type == "view" || object.type == "index",
            kept.contains(object.name),
            before[object.key] == nil
        {
            return object.name
        }
        // A table needs no other, but for a full-text index of texts that another one holds.
        let content = FullTextTable(object)?.contentTable
        guard object.type != "table" || content != nil else { return nil }
        let tokens = SQLTokens(object, names: names)
        func needs(_ name: SQLName) -> Bool {
            object.type == "table" ? name == content : name == object.table || tokens.mention(name)
        }
        for (table, columns) in missing.sorted(by: { $0.key.text < $1.key.text }) where needs(table) {
            if columns.contains(where: tokens.mention) { return table }
        }
        return left.filter { key in
            (key.type == "view" || key.type == "table") && needs(key.name) && key != object.key
        }.map(\.name).min { $0.text < $1.text }
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
