/// A promise that a salvage, or the launch after it, has broken.
struct SalvageFault: Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case foreignRow = "a row of another table"
        case deletedRow = "a deleted row"
        case replacedRow = "an earlier value of a row"
        case uncommittedRow = "a row that was never committed"
        case lostTransaction = "a row of a transaction that the log has lost"
        case foreignDatabase = "a row of another database"
        case unknownRow = "a row that never was"
        case lostRow = "a row that only undamaged pages lead to is not saved"
        case lostText = "a text that is none in its encoding, or holds NULs, is not saved"
        case fewerRows = "fewer rows than .recover has"
        case moreChanged = "more rows that nothing shows to be changed than .recover has"
        case replacedIntact = "a database that SQLite calls intact was replaced"
        case refusedIntact = "the error for an intact database says something else"
        case emptyResult = "nothing was saved, and the file was replaced"
        case seed = "a row that a later migration inserts is not there once"
        case count = "the report counts other rows than there are"
        case check = "the new database has a fault"
        case encoding = "the new database has another encoding"
        case sequence = "a key may be given again"
        case changedFile = "a refusal has changed a file"
        case setAside = "the file that was set aside is not the damaged one"
        case refused = "readable rows were refused"
        case unknownError = "an error that is no refusal"
        case newer = "a newer app's database was not left to it"
        case stepTwice = "a step has run again"
        case stepMissing = "a step has not run"
        case launch = "the launch has failed"
    }

    let kind: Kind
    let detail: String
}

/// What came of one damaged database.
struct SalvageVerdict: Sendable {
    let seed: UInt64
    let kind: SalvageKind
    let shape: String
    var faults: [SalvageFault] = []
    /// The reason for which the file was left as it was; nil if it was salvaged.
    var refusal: String?
    /// The rows that the database has, those that were saved, and saved ones that are not as they were.
    var rows = 0
    var right = 0
    var changed = 0
    /// The rows that migrations have inserted again where a page is lost, and those of them that are not as they were.
    var putBack = 0
    var seeds = 0
    /// The same for `.recover`; nil if there is none, or SQLite can read the database.
    var recovered: RecoverShell.Result?
    /// How the launch after the salvage ended; nil if there was none.
    var launch: String?

    mutating func add(_ kind: SalvageFault.Kind, _ detail: String) {
        faults.append(SalvageFault(kind: kind, detail: detail))
    }

    /// The faults, of each kind one, with its number.
    var failure: String? {
        guard !faults.isEmpty else { return nil }
        let texts = SalvageFault.Kind.allCases.compactMap { kind -> String? in
            let all = faults.filter { $0.kind == kind }
            // Not the first one: the order of dictionaries differs from run to run.
            guard let detail = all.map(\.detail).min() else { return nil }
            return "\(kind.rawValue)\(all.count > 1 ? " (\(all.count))" : ""): \(detail)"
        }
        return "seed \(seed) (\(kind); \(shape)): \(texts.joined(separator: "; "))"
    }
}
