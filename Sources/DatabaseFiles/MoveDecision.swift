/// The decision about the files at the places of one database: a pure function of what is found there.
///
/// The first place is where the database belongs; the others are where older versions of the app had it, the newest
/// first. The database is the first file with data, or the first one of all if none has any. Of the others,
///
/// - one without data gives way,
/// - one that is what a completed move has copied, and that nothing has changed since, is removed,
/// - one with other data is ignored if the database was moved before, and otherwise the app has to choose.
enum MoveDecision: Equatable {
    case keep(Int, settingAside: [Int], removing: [Int], ignoring: [Int])
    case two([Int])

    init(_ found: [FoundDatabase]) {
        let withData = found.indices.filter { !found[$0].isEmpty }
        let kept = withData.first ?? 0
        let others = found.indices.filter { $0 != kept }
        let leftovers = others.filter { index in
            guard let source = found[kept].mark?.source else { return false }
            return found[index].identity == source
        }
        let rest = others.filter { !leftovers.contains($0) }
        let ignored = rest.filter { !found[$0].isEmpty }
        if !ignored.isEmpty, found[kept].mark == nil {
            self = .two(withData)
        } else {
            self = .keep(
                kept, settingAside: rest.filter { found[$0].isEmpty }, removing: leftovers, ignoring: ignored)
        }
    }
}
