package import SchemaMigrations
import TextOutput

/// The changes that lead from one schema to another, worked out without rows.
///
/// Whatever would lose data is left out, and is a question.
package struct GeneratedMigration: Sendable {
    /// The handling of changes that lose data.
    package enum Losses: Sendable {
        /// Leave the change out, and ask.
        case ask
        /// Make the change, as a down migration does with what its migration has added.
        case accept
    }

    /// The changes, in the order in which they can be made.
    package private(set) var changes: [SchemaAlteration] = []
    /// The differences that are left out.
    package private(set) var questions: [SchemaQuestion] = []
    /// The changes that some rows may not fit, in words.
    package private(set) var tightened: [String] = []
    /// The schema that the changes lead to: the wanted one, except for the questions.
    package let result: SchemaDescription
    /// The tables that stay or are rebuilt, with the values that their columns get.
    package private(set) var copies: [SQLName: [TableRebuild.Copy]] = [:]

    /// The objects that one of the schemas has, or both differently.
    package let summary: [String]

    /// Compares two schemas.
    ///
    /// - Parameter drops: what to drop though it loses data.
    package init(
        from old: SchemaDescription, to wanted: SchemaDescription, losses: Losses,
        dropping drops: SchemaRenames = SchemaRenames()
    ) throws {
        let names = old.names.union(wanted.names)
        var merge = SchemaMerge(old, wanted, losses, names: names, dropping: drops)
        try merge.settle()
        result = SchemaDescription(merge.objects, names: names, like: old)
        questions = merge.questions
        tightened = merge.tightened
        var plan = AlterationPlan(from: old, to: result, names: names)
        plan.make()
        changes = plan.changes
        copies = plan.copies
        summary = plan.summary
    }
}
