import TextOutput

/// One way in which migrations differ from what was recorded.
enum LockDifference {
    case edited(title: String, lines: [String])
    case removed(title: String)
    case moved(title: String)
    /// A new migration before recorded ones.
    case inserted(title: String)
    case consequences(count: Int)
    case new(title: String)

    /// True if it concerns a migration that has shipped.
    var isOfShipped: Bool { if case .new = self { false } else { true } }

    /// True if it is there because of a new migration before recorded ones, which may do something else after it.
    var isInsertion: Bool {
        switch self {
        case .inserted, .consequences: true
        default: false
        }
    }

    var description: String {
        switch self {
        case .edited(let title, _): "\(title) does something else"
        case .removed(let title): "\(title) was removed"
        case .moved(let title): "\(title) has another place in the order"
        case .inserted(let title): "\(title) is new, and runs before recorded ones"
        case .consequences(1): "1 later one differs in consequence"
        case .consequences(let count): "\(count) later ones differ in consequence"
        case .new(let title): "\(title) is not recorded"
        }
    }

    /// The lines of an edited migration that are others now, below each other.
    var details: String {
        guard case .edited(let title, let lines) = self else { return "" }
        return "\n\(title)\n" + lines.map { "  \($0)" }.joined(separator: "\n")
    }

    /// Returns the differences: the first edit, and the number of those that follow from it, or from another difference.
    static func all(from old: [LockedMigration], to new: [LockedMigration]) -> [LockDifference] {
        let moves = moves(from: old, to: new)
        let now = Dictionary(new.map { ($0.title, $0) }, uniquingKeysWith: { $1 })
        let firstInserted = new.firstIndex { moves.inserted.contains($0.title) } ?? new.endIndex
        let beforeInserted = Set(new[..<firstInserted].map(\.title))
        var differences: [LockDifference] = []
        var consequences = 0
        for migration in old {
            guard let other = now[migration.title] else {
                differences.append(.removed(title: migration.title))
                continue
            }
            if moves.moved.contains(migration.title) {
                // A migration that runs elsewhere also changes the schema elsewhere.
                differences.append(.moved(title: migration.title))
            } else if other.lines != migration.lines {
                if differences.isEmpty, beforeInserted.contains(migration.title) {
                    differences.append(
                        .edited(title: migration.title, lines: other.changes(since: migration)))
                } else {
                    consequences += 1
                }
            }
        }
        differences += new.map(\.title).filter(moves.inserted.contains).map { .inserted(title: $0) }
        if consequences > 0 { differences.append(.consequences(count: consequences)) }
        return differences + moves.added.map { .new(title: $0) }
    }

    /// Finds the recorded migrations with another place in the order, and the others, which are in between or at the end.
    private static func moves(
        from old: [LockedMigration], to new: [LockedMigration]
    ) -> (moved: Set<String>, inserted: Set<String>, added: [String]) {
        let (old, new) = (old.map(\.title), new.map(\.title))
        let known = Set(old)
        let expected = old.filter(Set(new).contains)
        let moved = new.filter(known.contains).difference(from: expected).removals.map(\.element)
        // A new migration between shipped ones runs late on databases that have them.
        let end = new.lastIndex(where: known.contains).map { $0 + 1 } ?? 0
        return (Set(moved), Set(new[..<end].filter { !known.contains($0) }), Array(new[end...]))
    }
}

extension LockedMigration {
    /// Returns the lines that differ, each with what has become of it.
    fileprivate func changes(since old: LockedMigration) -> [String] {
        let changes = lines.difference(from: old.lines).inferringMoves()
        return changes.removals.map { "\($0.isMove ? "moved" : "was"): \($0.element.text)" }
            + changes.insertions.filter { !$0.isMove }.map { "now: \($0.element.text)" }
    }
}

extension CollectionDifference.Change {
    fileprivate var element: ChangeElement {
        switch self {
        case .insert(_, let element, _), .remove(_, let element, _): element
        }
    }

    /// True if the element is there in both, at another place.
    fileprivate var isMove: Bool {
        switch self {
        case .insert(_, _, let other), .remove(_, _, let other): other != nil
        }
    }
}
