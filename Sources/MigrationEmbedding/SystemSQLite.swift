import Foundation

/// A database in memory, by the SQLite of the computer that builds.
///
/// The library is loaded, and not linked: a build must not fail where it is missing.
final class SystemSQLite {
    /// A statement that SQLite refuses.
    struct Refusal: Error {
        let message: String
        /// The offset in the SQL, in bytes.
        let offset: Int
        /// True for a statement that was not run, because it reaches beyond the database.
        var reachesBeyond = false
    }

    private typealias Open =
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
        ) -> Int32
    private typealias Prepare =
        @convention(c) (
            OpaquePointer, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>,
            UnsafeMutablePointer<UnsafePointer<CChar>?>
        ) -> Int32
    private typealias OfStatement = @convention(c) (OpaquePointer?) -> Int32
    private typealias Text = @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<UInt8>?
    private typealias Message = @convention(c) (OpaquePointer) -> UnsafePointer<CChar>?

    private let library: UnsafeMutableRawPointer
    private let database: OpaquePointer
    private let prepare: Prepare
    private let step: OfStatement
    private let finalize: OfStatement
    private let close: OfStatement
    private let message: Message
    private let text: Text
    private let columnCount: OfStatement
    /// Nil before SQLite 3.38.
    private let errorOffset: OfStatement?

    /// Opens a database; nil if the computer has no SQLite.
    init?() {
        // Of Apple's systems, and of the others.
        let names = ["/usr/lib/libsqlite3.dylib", "libsqlite3.so.0", "libsqlite3.so"]
        guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            return nil
        }
        func function<Function>(_ name: String, _ type: Function.Type) -> Function? {
            // dlsym returns functions as data pointers, which POSIX makes the same size (dlsym, RATIONALE). The cast is
            // sound because each type is the function's in sqlite3.h, which SQLite keeps compatible, and because the
            // library stays open as long as this object.
            dlsym(library, "sqlite3_" + name).map { unsafeBitCast($0, to: type) }
        }
        guard let open = function("open_v2", Open.self), let prepare = function("prepare_v2", Prepare.self),
            let step = function("step", OfStatement.self),
            let finalize = function("finalize", OfStatement.self),
            let close = function("close", OfStatement.self), let message = function("errmsg", Message.self),
            let text = function("column_text", Text.self),
            let columnCount = function("column_count", OfStatement.self)
        else { return nil }
        self.library = library
        self.prepare = prepare
        self.step = step
        self.finalize = finalize
        self.close = close
        self.message = message
        self.text = text
        self.columnCount = columnCount
        errorOffset = function("error_offset", OfStatement.self)
        var database: OpaquePointer?
        // SQLITE_OPEN_READWRITE, _CREATE and _MEMORY
        guard open(":memory:", &database, 0x2 | 0x4 | 0x80, nil) == 0, let database else { return nil }
        self.database = database
    }

    deinit {
        _ = close(database)
        dlclose(library)
    }

    /// Runs all statements of a text without NULs, up to one that reaches beyond the database.
    ///
    /// - Returns: the rows of all queries, as texts.
    @discardableResult
    func run(_ sql: String) throws(Refusal) -> [[String]] {
        var rows: [[String]] = []
        let source = Array(sql.utf8)
        let bytes = sql.utf8CString
        var offset = 0
        while offset < bytes.count - 1 {
            let start = Preamble(source, from: offset).end
            let letters = source[start...].prefix { 0x61...0x7A ~= $0 | 0x20 }
            let word = String(decoding: letters, as: UTF8.self).uppercased()
            if word == "ATTACH" || word == "VACUUM" {
                throw Refusal(message: "it contains \(word)", offset: start, reachesBeyond: true)
            }
            var statement: OpaquePointer?
            var length = 0
            let failure = bytes.withUnsafeBufferPointer { buffer -> Int32? in
                guard let start = buffer.baseAddress?.advanced(by: offset) else { return 0 }
                var tail: UnsafePointer<CChar>?
                let code = prepare(database, start, -1, &statement, &tail)
                guard code == 0 else { return errorOffset?(database) ?? -1 }
                length = (tail ?? start) - start
                return nil
            }
            if let failure { throw refusal(at: failure < 0 ? start : offset + Int(failure)) }
            defer { _ = finalize(statement) }
            guard statement != nil else { return rows }
            var code = step(statement)
            while code == Self.row {
                rows.append(
                    (0..<columnCount(statement)).map { text(statement, $0).map { String(cString: $0) } ?? "" }
                )
                code = step(statement)
            }
            guard code == Self.done else { throw refusal(at: start) }
            offset += length
        }
        return rows
    }

    private static let row: Int32 = 100
    private static let done: Int32 = 101

    private func refusal(at offset: Int) -> Refusal {
        Refusal(message: message(database).map { String(cString: $0) } ?? "SQLite refuses it", offset: offset)
    }
}
