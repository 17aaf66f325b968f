// The calls of SQLite's C interface that GRDB does not offer.
//
// No header of SQLite is included, and nothing is linked: the functions are those of the SQLite that GRDB is built
// with, be it the system's, a custom build or SQLCipher.

#ifndef APP_MIGRATIONS_CMIGRATIONSQLITE_H
#define APP_MIGRATIONS_CMIGRATIONSQLITE_H

#include <stdint.h>

/// The type that SQLite calls `sqlite3`.
typedef struct app_migrations_connection app_migrations_connection;

/// The type that SQLite calls `sqlite3_stmt`.
typedef struct app_migrations_statement app_migrations_statement;

/// Stops the connection's running statements. May be called from another thread.
void app_migrations_interrupt(app_migrations_connection *connection);

/// Ends all statements that have not come to their end. As long as there is one, an interrupted connection refuses every other
/// (https://sqlite.org/c3ref/interrupt.html).
void app_migrations_reset_statements(app_migrations_connection *connection);

/// Lets a function say, in the course of each long statement, whether to stop it by returning 1; NULL to ask no longer. Takes
/// the place of the connection's progress handler (https://sqlite.org/c3ref/progress_handler.html).
void app_migrations_ask_to_stop(
    app_migrations_connection *connection, int (*is_to_stop)(void *), void *context);

/// Sets how long the connection waits by itself for others.
void app_migrations_busy_timeout(app_migrations_connection *connection, int milliseconds);

/// Runs statements, and hands the texts of each row to a function, which returns 0 to go on. Returns an error code of SQLite's,
/// or 0 (https://sqlite.org/c3ref/exec.html).
int app_migrations_execute(
    app_migrations_connection *connection, const char *sql, int (*row)(void *, int, char **, char **),
    void *context);

/// The text that a statement was compiled from, or NULL. It lives as long as the statement.
const char *app_migrations_sql(app_migrations_statement *statement);

// Set an argument, whose place counts from 1. The text is copied; the result is an error code of SQLite's, or 0.
void app_migrations_bind_null(app_migrations_statement *statement, int place);
void app_migrations_bind_integer(app_migrations_statement *statement, int place, int64_t integer);
void app_migrations_bind_double(app_migrations_statement *statement, int place, double number);
int app_migrations_bind_text(app_migrations_statement *statement, int place, const char *text);

// Set an argument to bytes that are not copied: they have to stay where they are until the arguments are cleared.

/// Sets an argument to a text of so many bytes. The encoding is the number that a database's header has for it: 1 for UTF-8,
/// 2 for UTF-16 little endian, 3 for big endian.
int app_migrations_bind_text_bytes(
    app_migrations_statement *statement, int place, const void *bytes, int64_t count, int encoding);

/// Sets an argument to a blob of so many bytes.
int app_migrations_bind_blob_bytes(
    app_migrations_statement *statement, int place, const void *bytes, int64_t count);

/// Sets all arguments to null.
void app_migrations_clear_arguments(app_migrations_statement *statement);

/// Runs a statement that returns no row. Returns an error code of SQLite's, or 0.
int app_migrations_run(app_migrations_statement *statement);

/// The number of rows that the last INSERT, UPDATE or DELETE of the statement's connection has changed.
int app_migrations_changes(app_migrations_statement *statement);

/// The words for a result code. They live for ever.
const char *app_migrations_words(int code);

/// The message of the last error. It lives until the connection is used again.
const char *app_migrations_message(app_migrations_statement *statement);

/// Reads a column of the current row. Returns 1 if it holds an integer, and 0 otherwise.
int app_migrations_integer(app_migrations_statement *statement, int column, int64_t *integer);

/// Reads a column of the current row, of whatever type: 1 for an integer, 2 for a real, 3 for a text in UTF-8, 4 for a blob, and 5
/// for null (https://sqlite.org/c3ref/c_blob.html). Bytes stay where they are until the next row.
int app_migrations_value(
    app_migrations_statement *statement, int column, int64_t *integer, double *real, const void **bytes,
    int *count);

/// Looks up the declared type and the collation of a column of the main database. Both are NULL if it is unknown, and
/// live until the schema changes.
void app_migrations_column_metadata(
    app_migrations_connection *connection, const char *table, const char *column, const char **type,
    const char **collation);

/// A number that changes whenever the main database does: at once if this connection changes it, and otherwise as soon as
/// this connection begins to read (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html,
/// SQLITE_FCNTL_DATA_VERSION).
uint32_t app_migrations_data_version(app_migrations_connection *connection);

/// 1 if the main database's file has lost its name, or another file has it by now
/// (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_HAS_MOVED).
int app_migrations_has_moved(app_migrations_connection *connection);

/// 0 if no foreign key would keep the transaction from being committed
/// (https://sqlite.org/c3ref/c_dbstatus_options.html, SQLITE_DBSTATUS_DEFERRED_FKS).
int app_migrations_has_unresolved_keys(app_migrations_connection *connection);

/// 1 if a column of the main database is an AUTOINCREMENT key.
int app_migrations_is_autoincremented(
    app_migrations_connection *connection, const char *table, const char *column);

/// Sets a setting of the connection to 0 or 1, also inside a transaction, and returns what it was; -1 if this SQLite does
/// not know it (https://sqlite.org/c3ref/c_dbconfig_defensive.html). A negative value changes nothing.
int app_migrations_setting(app_migrations_connection *connection, int setting, int value);

/// 1 if the open transaction writes an attached database that is a file, and not in memory
/// (https://sqlite.org/c3ref/txn_state.html).
int app_migrations_is_written(app_migrations_connection *connection, const char *schema);

/// 1 if the connection cannot write the main database because of the format that its header names, and not because of its file.
/// Asks a second connection, which has no passphrase (https://sqlite.org/c3ref/db_readonly.html).
int app_migrations_has_read_only_format(app_migrations_connection *connection);

/// Says whether the write-ahead log of the main database stays when the connection, as the last one, closes it
/// (https://sqlite.org/c3ref/c_fcntl_begin_atomic_write.html, SQLITE_FCNTL_PERSIST_WAL).
void app_migrations_keep_log(app_migrations_connection *connection, int is_kept);

/// Limits the number of attached databases, and returns the former limit; a negative number changes nothing
/// (https://sqlite.org/c3ref/limit.html, SQLITE_LIMIT_ATTACHED).
int app_migrations_limit_attached(app_migrations_connection *connection, int count);

// What stands in for what an app adds to a connection. The name is taken only if the connection has nothing of that name.

/// A way to compare texts.
enum {
    /// By their bytes, as BINARY does.
    app_migrations_by_bytes = 0,
    /// By their bytes, with ASCII letters in lower case, as NOCASE does.
    app_migrations_without_case = 1,
    /// By their bytes without spaces at the end, as RTRIM does.
    app_migrations_without_end = 2,
};

/// Adds a collation. Returns an error code of SQLite's, or 0 (https://sqlite.org/c3ref/create_collation.html).
int app_migrations_add_collation(app_migrations_connection *connection, const char *name, int comparison);

/// Lets FTS5 know one of its tokenizers by another name as well, without its arguments. Returns 0; 1 if FTS5 is not there or
/// has no such tokenizer (https://sqlite.org/fts5.html, 7.1).
int app_migrations_add_tokenizer(
    app_migrations_connection *connection, const char *name, const char *model);

/// 1 if FTS5 has a tokenizer of a name.
int app_migrations_has_tokenizer(app_migrations_connection *connection, const char *name);

/// Registers the VFS `still-time`, for which the present is the moment of this call: otherwise it is SQLite's default one. Called
/// once. Returns an error code of SQLite's, or 0 (https://sqlite.org/c3ref/vfs.html).
int app_migrations_register_still_time(void);

#endif
