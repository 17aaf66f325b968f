/// The sums of many verdicts, as notes.
struct SalvageNotes {
    let verdicts: [SalvageVerdict]

    /// A note for each kind of damage and of fault, and one for the salvages that are worst beside `.recover`.
    var all: [String] { kinds + ["all: \(Self.sum(verdicts))"] + faults + worst }

    private var kinds: [String] {
        SalvageKind.all.compactMap { kind in
            let all = verdicts.filter { $0.kind == kind }
            return all.isEmpty ? nil : "\(kind): \(Self.sum(all))"
        }
    }

    private static func sum(_ all: [SalvageVerdict]) -> String {
        func sum(_ count: (SalvageVerdict) -> Int) -> Int { all.reduce(0) { $0 + count($1) } }
        var parts = [
            "\(all.count) files, \(sum(\.right)) of \(sum(\.rows)) rows saved, \(sum(\.changed)) changed\(putBack(sum(\.putBack), sum(\.seeds)))"
        ]
        let recovered = all.compactMap(\.recovered)
        if !recovered.isEmpty {
            parts.append(
                """
                .recover \(recovered.reduce(0) { $0 + $1.right }), \(recovered.reduce(0) { $0 + $1.wrong }) changed, \
                \(recovered.reduce(0) { $0 + $1.orphaned }) without parent
                """)
        }
        parts += [counts("refused", all.compactMap(\.refusal)), counts("launches", all.compactMap(\.launch))]
        return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }

    private static func putBack(_ count: Int, _ changed: Int) -> String {
        count == 0 ? "" : ", \(count) as migrations insert them, \(changed) of them not as they were"
    }

    private static func counts(_ title: String, _ texts: [String]) -> String {
        let counts = Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +)
        guard !counts.isEmpty else { return "" }
        let list = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return "\(title): \(list.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
    }

    private var faults: [String] {
        SalvageFault.Kind.allCases.compactMap { kind in
            let all = verdicts.filter { $0.faults.contains { $0.kind == kind } }
            guard !all.isEmpty else { return nil }
            // The first of each kind of damage.
            var damages: Set<SalvageKind> = []
            let shown = all.filter { damages.insert($0.kind).inserted }.prefix(12)
            let seeds = shown.map { "\($0.seed) (\($0.kind))" }.joined(separator: ", ")
            return "\(kind.rawValue): \(all.count) files, as of seeds \(seeds)"
        }
    }

    private var worst: [String] {
        let behind = verdicts.filter { $0.faults.contains { $0.kind == .fewerRows } }.map { verdict in
            (verdict: verdict, count: (verdict.recovered?.right ?? 0) - verdict.right)
        }.sorted { ($1.count, $0.verdict.seed) < ($0.count, $1.verdict.seed) }
        guard !behind.isEmpty else { return [] }
        let list = behind.prefix(12).map { verdict, count in "\(verdict.seed) (\(verdict.kind): \(count))" }
        return ["furthest behind .recover: seeds \(list.joined(separator: ", "))"]
    }
}
