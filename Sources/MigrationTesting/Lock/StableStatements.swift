import Foundation
import MigrationTools
import SchemaMigrations

/// The statements of a migration as lines that are the same in each run.
///
/// Values that differ between two runs, or that name the time at which the migration runs, are parameters. It makes no
/// difference whether they are arguments, or whether the migration writes them into its SQL. So are all arguments with a date: a
/// day alone does not show whether the code says it, or today's clock.
struct StableStatements {
    /// The time of the runs.
    let time: Date

    /// Returns the lines of a migration that ran twice on a database without rows.
    func lines(of statements: [TracedStatement], again: [TracedStatement]) -> [String] {
        statements.enumerated().map { index, statement in
            let other = index < again.count ? again[index] : nil
            let isStable = other?.expanded == statement.expanded
            let own = isStable ? Set(NormalSQL(statement.sql).tokens) : []
            let normal = NormalSQL(isStable ? statement.expanded : statement.sql)
            let second = other.map { NormalSQL(isStable ? $0.expanded : $0.sql) }
            let isComparable = second?.tokens.count == normal.tokens.count
            return normal.replacingLiterals { index, literal in
                !isComparable || second?.tokens[index].text != literal || isNow(literal)
                    || isStable && !own.contains(normal.tokens[index])
                        && PresentTime.mayBeArgument(literal, now: time)
            }.text
        }
    }

    /// Returns the lines of statements that a migration runs over rows, each once.
    ///
    /// - Parameters:
    ///   - statements: those over some rows.
    ///   - others: those over other rows. A literal that is not the same over both comes from the rows.
    func lines(over statements: [String], and others: [String]) -> [String] {
        let (own, other) = (statements.map(NormalSQL.init), others.map(NormalSQL.init))
        let shapes = Dictionary(grouping: own, by: \.shape)
        let otherShapes = Dictionary(grouping: other, by: \.shape)
        var lines: [String] = []
        for shape in own.map(\.shape) {
            guard let first = shapes[shape]?.first else { continue }
            let all = (shapes[shape] ?? []) + (otherShapes[shape] ?? [])
            let line = first.replacingLiterals { index, literal in
                otherShapes[shape] == nil || isNow(literal)
                    || !all.allSatisfy { $0.tokens[index].text == literal }
            }.joiningParameters.text
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }

    private func isNow(_ literal: String) -> Bool { PresentTime.isMoment(literal, since: time) }
}

extension NormalSQL {
    /// The statement without its literals.
    fileprivate var shape: NormalSQL { replacingLiterals { _, _ in true } }

    /// The statement with one parameter in the place of a list, which has one for each row.
    fileprivate var joiningParameters: NormalSQL {
        var copy = self
        copy.tokens = tokens.enumerated().filter { index, token in
            let isRepeated = { (at: Int) in
                at > 1 && tokens[at] == .parameter && tokens[at - 1].text == ","
                    && tokens[at - 2] == .parameter
            }
            return !isRepeated(index) && !(index + 1 < tokens.count && isRepeated(index + 1))
        }.map(\.element)
        return copy
    }
}
