import AppMigrations
import MigrationDiagnostics

extension TableShape {
    /// Throws an error if a new definition is more than a change of constraints.
    func refuse(_ new: TableShape) throws {
        try refuseColumns(new)
        if isStrict != new.isStrict {
            throw refusal("would \(new.isStrict ? "become" : "no longer be") STRICT", .copy)
        }
        if isWithoutRowID != new.isWithoutRowID {
            throw refusal(
                new.isWithoutRowID ? "would lose its row ids (WITHOUT ROWID)" : "would get row ids", .copy)
        }
        for (column, newColumn) in zip(columns, new.columns) { try refuse(column, newColumn) }
        if isAutoincremented != new.isAutoincremented {
            throw refusal("would \(new.isAutoincremented ? "get" : "lose") AUTOINCREMENT", .copy)
        }
        let isSameKey = key.map(\.name) == new.key.map(\.name) && hasRowIDKey == new.hasRowIDKey
        if !isSameKey || indexes(of: "pk") != new.indexes(of: "pk") {
            throw refusal(
                "would have another primary key (\(keyDescription), then \(new.keyDescription))", .copy)
        }
        guard indexes == new.indexes else { throw refuseUnique(new) }
    }

    private func refuseColumns(_ new: TableShape) throws {
        let (names, newNames) = (columns.map(\.name), new.columns.map(\.name))
        guard names != newNames else { return }
        let missing = names.filter { !newNames.contains($0) }
        let added = newNames.filter { !names.contains($0) }
        if let missing = missing.first, let added = added.first {
            throw refusal(
                "would have a column \(added) in place of \(missing)",
                .statement("ALTER TABLE \(name.sql) RENAME COLUMN \(missing.sql) TO \(added.sql)"))
        }
        if let added = added.first {
            throw refusal(
                "would get a column \(added)", .statement("ALTER TABLE \(name.sql) ADD COLUMN \(added.sql)"))
        }
        if let missing = missing.first {
            throw refusal(
                "would lose its column \(missing)",
                .statement("ALTER TABLE \(name.sql) DROP COLUMN \(missing.sql)"))
        }
        throw refusal(
            "would have its columns in another order (\(newNames.map(\.text).list))", .oldOrder(names))
    }

    private func refuse(_ column: Column, _ new: Column) throws {
        let title = "would have another"
        if column.kind != new.kind || column.generatedValue != new.generatedValue {
            throw refusal("\(title) generated value in column \(column.name)", .copy)
        }
        if column.affinity != new.affinity || isStrict && SQLName(column.type) != SQLName(new.type) {
            throw refusal(
                "\(title) type in column \(column.name) (\(column.typeName), then \(new.typeName))", .copy)
        }
        if column.collation != new.collation {
            throw refusal(
                "\(title) collation in column \(column.name) (\(column.collation), then \(new.collation))",
                .copy)
        }
    }

    private func refuseUnique(_ new: TableShape) -> MigrationError {
        let old = indexes.filter { !new.indexes.contains($0) }
        let added = new.indexes.filter { !indexes.contains($0) }
        if let index = added.first, !indexes.contains(where: { $0.terms == index.terms }) {
            return refusal(
                "would get UNIQUE (\(names(index)))",
                .statement("CREATE UNIQUE INDEX … ON \(name.sql)(\(names(index)))"))
        }
        if let index = old.first, !new.indexes.contains(where: { $0.terms == index.terms }) {
            return refusal("would lose UNIQUE (\(names(index)))", .copy)
        }
        return refusal("would have its UNIQUE constraints in another order", .keepOrder)
    }

    private func indexes(of origin: String) -> [Index] { indexes.filter { $0.origin == origin } }

    private func names(_ index: Index) -> String {
        index.terms.filter(\.isKey).compactMap {
            columns.indices.contains($0.column) ? columns[$0.column].name.text : nil
        }
        .list
    }

    private var keyDescription: String {
        guard !key.isEmpty else { return "none" }
        return key.map { "\($0.name.text)\($0.type.isEmpty ? "" : " \($0.type)")" }.list
    }
}

extension TableShape.Column {
    fileprivate var typeName: String { type.isEmpty ? "none" : type }
}

extension [String] {
    fileprivate var list: String { joined(separator: ", ") }
}

extension TableShape {
    /// What does what redefining a table cannot do.
    enum Alternative {
        case copy
        case statement(String)
        case oldOrder([SQLName])
        case keepOrder

        fileprivate var remedy: String {
            switch self {
            case .copy:
                """
                That is more than a constraint: create another table, copy the rows, drop this one and rename the other.
                """
            case .statement(let sql): "Use \(sql)."
            case .oldOrder(let names): "Keep the order: \(names.map(\.text).list)."
            case .keepOrder: "Keep their order: SQLite numbers their indexes."
            }
        }
    }

    private func refusal(_ problem: String, _ alternative: Alternative) -> MigrationError {
        MigrationError(
            .invalidMigration, "Table \(name) \(problem)",
            remedy: "\(alternative.remedy) Nothing was changed.")
    }
}
