/// The conversion that SQLite applies to values of a column (datatype3.html, 3.1), by its name in SQL.
package enum Affinity: String, Sendable {
    case integer = "INTEGER"
    case text = "TEXT"
    case blob = "BLOB"
    case real = "REAL"
    case numeric = "NUMERIC"

    /// Reads the declared type of a column.
    ///
    /// - Parameter isStrict: whether the table is `STRICT`; asked only where it makes a difference.
    package init(type: String, isStrict: @autoclosure () throws -> Bool) rethrows {
        let type = type.uppercasedASCII
        self =
            switch type {
            case _ where type.contains("INT"): .integer
            case _ where ["CHAR", "CLOB", "TEXT"].contains(where: type.contains): .text
            case _ where type.isEmpty || type.contains("BLOB"): .blob
            case _ where ["REAL", "FLOA", "DOUB"].contains(where: type.contains): .real
            // stricttables.html: ANY converts nothing in a STRICT table.
            case "ANY" where try isStrict(): .blob
            default: .numeric
            }
    }
}
