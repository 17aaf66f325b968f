import CMigrationSQLite
import GRDB
import SchemaMigrations

/// Inserts rows into a table, unless their key is taken or a constraint refuses them.
final class RowInsertion {
    private let db: Database
    private let layout: TableLayout
    private let target: SQLName
    /// The name of the row's id, if the table has one that is no column.
    private let rowid: String?
    private var statements: [Int: Statement] = [:]
    /// The last error of a function that the schema calls, such as that of a generated column.
    private(set) var functionError: DatabaseError?

    /// Creates an insertion.
    ///
    /// - Parameter target: the table, if it is another one than that of the layout.
    init(_ layout: TableLayout, into target: SQLName? = nil, _ db: Database) {
        (self.layout, self.db, self.target) = (layout, db, target ?? layout.name)
        rowid = layout.hiddenRowid
    }

    /// Inserts a row.
    ///
    /// - Returns: false if the row was refused.
    func insert(_ record: SavedRecord, rowid id: Int64?) throws -> Bool {
        let statement = try statement(for: record.values.count)
        let pointer = statement.sqliteStatement
        // SQLite reads texts and blobs where they are, in the bytes of the page.
        let code = record.bytes.withUnsafeBytes { bytes in
            defer { app_migrations_clear_arguments(pointer) }
            let code = bind(record, id, in: bytes, to: pointer)
            return code == 0 ? app_migrations_run(pointer) : code
        }
        switch ResultCode(rawValue: code & 0xff) {
        case .SQLITE_OK:
            // GRDB's own count looks for the right thread each time.
            return app_migrations_changes(pointer) > 0
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG: return false
        default: break
        }
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: code),
            message: String(cString: app_migrations_message(pointer)), sql: statement.sql)
        guard error.resultCode == .SQLITE_ERROR else { throw error }
        functionError = error
        return false
    }

    /// Sets the arguments of a statement.
    ///
    /// - Parameter bytes: those of the record; they are not copied.
    /// - Returns: an error code of SQLite's, or 0.
    private func bind(
        _ record: SavedRecord, _ id: Int64?, in bytes: UnsafeRawBufferPointer, to pointer: SQLiteStatement
    ) -> Int32 {
        var place: Int32 = 1
        if rowid != nil {
            app_migrations_bind_integer(pointer, place, id ?? 0)
            place += 1
        }
        var code: Int32 = 0
        for index in record.values.indices where !layout.columns[index].isGenerated {
            if layout.columns[index].isRowid {
                app_migrations_bind_integer(pointer, place, id ?? 0)
            } else {
                switch record.values[index] {
                case .null: app_migrations_bind_null(pointer, place)
                case .integer(let integer): app_migrations_bind_integer(pointer, place, integer)
                case .real(let number): app_migrations_bind_double(pointer, place, number)
                case .text(let range):
                    let text = UnsafeRawBufferPointer(rebasing: bytes[range])
                    let bound = app_migrations_bind_text_bytes(
                        pointer, place, text.baseAddress, Int64(text.count), Int32(record.encoding))
                    code = max(code, bound)
                case .blob(let range):
                    let blob = UnsafeRawBufferPointer(rebasing: bytes[range])
                    let bound = app_migrations_bind_blob_bytes(
                        pointer, place, blob.baseAddress, Int64(blob.count))
                    code = max(code, bound)
                }
            }
            place += 1
        }
        return code
    }

    private func statement(for count: Int) throws -> Statement {
        if let statement = statements[count] { return statement }
        let names =
            (rowid.map { [$0] } ?? [])
            + layout.columns.prefix(count).filter { !$0.isGenerated }.map(\.name.sql)
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let statement = try db.makeStatement(
            sql: """
                INSERT OR IGNORE INTO \(target.inMain)(\(names.joined(separator: ", "))) VALUES (\(marks))
                """)
        statements[count] = statement
        return statement
    }
}
