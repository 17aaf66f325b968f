/// The tables that a group of migrations may have broken.
struct Suspects {
    /// The names of tables.
    private(set) var tables: Set<SQLName> = []
    /// The tables to which suspects refer.
    ///
    /// An orphan of any other child of theirs tells that a row was missing before.
    private(set) var parents: Set<SQLName> = []
    /// Whether views and triggers may have been broken.
    private(set) var schemaHasChanged = false
    /// Whether any table may have been touched.
    private(set) var isEverything = false
    /// Whether migrations in Swift ran, whose dropped tables are not known beforehand.
    private var includesCode = false

    /// Every table, view and trigger.
    static let everything = Suspects(schemaHasChanged: true, isEverything: true)

    /// Whether any table is a suspect.
    var includesTables: Bool { isEverything || !tables.isEmpty }

    /// Adds the tables to which suspects refer.
    mutating func addParents(_ keys: some Sequence<ForeignKey>) {
        parents.formUnion(keys.filter { $0.concerns(self) }.map(\.parent))
    }

    /// Returns whether a table that does not exist may have existed before one of the migrations.
    func mayHaveDropped(_ table: SQLName, from before: SchemaShape) -> Bool {
        includesCode || isEverything || tables.contains(table)
            || before.objects.contains { $0.table == table }
    }

    /// Adds the tables that a migration touched.
    mutating func add(tables names: Set<SQLName>, byCode isCode: Bool = false) {
        tables.formUnion(names)
        if isCode { includesCode = true }
    }

    /// Adds the tables whose definition, or whose place in the database file, has changed.
    ///
    /// Leaves out those of which `ALTER TABLE` has changed columns that no foreign key uses. Their rows refer to what
    /// they referred to, and reading them may take long.
    mutating func add(changesSince before: SchemaShape, to after: SchemaShape) {
        guard before.cookie != after.cookie else { return }
        schemaHasChanged = true
        let changed = before.objects.symmetricDifference(after.objects)
        // The schema was changed, and looks the same: something was dropped and created again. For a `.sql`
        // file, the dropped tables are known.
        if changed.isEmpty, includesCode { isEverything = true }
        // A table that Swift code has dropped and created again may look altered, too.
        let altered =
            includesCode
            ? [] : Set(before.objects.map(\.identity)).intersection(after.objects.map(\.identity))
        tables.formUnion(changed.filter { !altered.contains($0.identity) }.map(\.table))
        tables.formUnion(before.keys.symmetricDifference(after.keys).map(\.child))
    }
}
