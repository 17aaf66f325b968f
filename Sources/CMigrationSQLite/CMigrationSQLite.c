#include "CMigrationSQLite.h"

#include <stddef.h>

// The declarations of sqlite3.h, which is not there in every build.
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
void sqlite3_interrupt(sqlite3 *);
void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
int sqlite3_busy_timeout(sqlite3 *, int);
int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
const char *sqlite3_sql(sqlite3_stmt *);
int sqlite3_bind_double(sqlite3_stmt *, int, double);
int sqlite3_bind_int64(sqlite3_stmt *, int, long long);
int sqlite3_bind_null(sqlite3_stmt *, int);
int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, void (*)(void *));
int sqlite3_bind_text64(
    sqlite3_stmt *, int, const char *, unsigned long long, void (*)(void *), unsigned char);
int sqlite3_bind_blob64(sqlite3_stmt *, int, const void *, unsigned long long, void (*)(void *));
int sqlite3_bind_zeroblob(sqlite3_stmt *, int, int);
int sqlite3_clear_bindings(sqlite3_stmt *);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_reset(sqlite3_stmt *);
sqlite3_stmt *sqlite3_next_stmt(sqlite3 *, sqlite3_stmt *);
int sqlite3_stmt_busy(sqlite3_stmt *);
int sqlite3_changes(sqlite3 *);
const char *sqlite3_errmsg(sqlite3 *);
const char *sqlite3_errstr(int);
sqlite3 *sqlite3_db_handle(sqlite3_stmt *);
int sqlite3_column_type(sqlite3_stmt *, int);
long long sqlite3_column_int64(sqlite3_stmt *, int);
double sqlite3_column_double(sqlite3_stmt *, int);
const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
const void *sqlite3_column_blob(sqlite3_stmt *, int);
int sqlite3_column_bytes(sqlite3_stmt *, int);
int sqlite3_table_column_metadata(
    sqlite3 *, const char *, const char *, const char *, const char **, const char **, int *, int *, int *);
int sqlite3_file_control(sqlite3 *, const char *, int, void *);
int sqlite3_db_status(sqlite3 *, int, int *, int *, int);
int sqlite3_db_config(sqlite3 *, int, ...);
int sqlite3_limit(sqlite3 *, int, int);
int sqlite3_txn_state(sqlite3 *, const char *);
const char *sqlite3_db_filename(sqlite3 *, const char *);
int sqlite3_db_readonly(sqlite3 *, const char *);
int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
int sqlite3_close(sqlite3 *);

enum { ok = 0, deferred_foreign_keys = 10, data_version = 35, has_moved = 20, write_transaction = 2, attached_limit = 7 };
enum { persistent_log = 10 };
enum { open_for_writing = 2 };
enum { integer_type = 1, real_type = 2, text_type = 3, blob_type = 4 };

void app_migrations_reset_statements(app_migrations_connection *connection) {
    sqlite3_stmt *statement = sqlite3_next_stmt((sqlite3 *)connection, 0);
    for (; statement; statement = sqlite3_next_stmt((sqlite3 *)connection, statement)) {
        if (sqlite3_stmt_busy(statement)) sqlite3_reset(statement);
    }
}

void app_migrations_interrupt(app_migrations_connection *connection) {
    sqlite3_interrupt((sqlite3 *)connection);
}

void app_migrations_ask_to_stop(
    app_migrations_connection *connection, int (*is_to_stop)(void *), void *context) {
    // Often enough to stop within a millisecond, and longer than any statement that ends a transaction.
    sqlite3_progress_handler((sqlite3 *)connection, 1000, is_to_stop, context);
}

void app_migrations_busy_timeout(app_migrations_connection *connection, int milliseconds) {
    sqlite3_busy_timeout((sqlite3 *)connection, milliseconds);
}

int app_migrations_execute(
    app_migrations_connection *connection, const char *sql, int (*row)(void *, int, char **, char **),
    void *context) {
    return sqlite3_exec((sqlite3 *)connection, sql, row, context, NULL);
}

const char *app_migrations_sql(app_migrations_statement *statement) {
    return sqlite3_sql((sqlite3_stmt *)statement);
}

void app_migrations_bind_null(app_migrations_statement *statement, int place) {
    sqlite3_bind_null((sqlite3_stmt *)statement, place);
}

void app_migrations_bind_integer(app_migrations_statement *statement, int place, int64_t integer) {
    sqlite3_bind_int64((sqlite3_stmt *)statement, place, integer);
}

void app_migrations_bind_double(app_migrations_statement *statement, int place, double number) {
    sqlite3_bind_double((sqlite3_stmt *)statement, place, number);
}

int app_migrations_bind_text(app_migrations_statement *statement, int place, const char *text) {
    // SQLITE_TRANSIENT: SQLite copies the text.
    return sqlite3_bind_text((sqlite3_stmt *)statement, place, text, -1, (void (*)(void *)) - 1);
}

int app_migrations_bind_text_bytes(
    app_migrations_statement *statement, int place, const void *bytes, int64_t count, int encoding) {
    // c3ref/bind_blob.html: a null pointer would bind a null. SQLITE_STATIC: SQLite does not copy the text.
    return sqlite3_bind_text64(
        (sqlite3_stmt *)statement, place, bytes ? bytes : "", (unsigned long long)count, NULL,
        (unsigned char)encoding);
}

int app_migrations_bind_blob_bytes(
    app_migrations_statement *statement, int place, const void *bytes, int64_t count) {
    if (count == 0) return sqlite3_bind_zeroblob((sqlite3_stmt *)statement, place, 0);
    return sqlite3_bind_blob64((sqlite3_stmt *)statement, place, bytes, (unsigned long long)count, NULL);
}

void app_migrations_clear_arguments(app_migrations_statement *statement) {
    sqlite3_clear_bindings((sqlite3_stmt *)statement);
}

int app_migrations_run(app_migrations_statement *statement) {
    sqlite3_step((sqlite3_stmt *)statement);
    // c3ref/reset.html: the error of the step, if it failed.
    return sqlite3_reset((sqlite3_stmt *)statement);
}

int app_migrations_changes(app_migrations_statement *statement) {
    return sqlite3_changes(sqlite3_db_handle((sqlite3_stmt *)statement));
}

const char *app_migrations_words(int code) {
    return sqlite3_errstr(code);
}

const char *app_migrations_message(app_migrations_statement *statement) {
    return sqlite3_errmsg(sqlite3_db_handle((sqlite3_stmt *)statement));
}

int app_migrations_integer(app_migrations_statement *statement, int column, int64_t *integer) {
    int is_integer = sqlite3_column_type((sqlite3_stmt *)statement, column) == integer_type;
    *integer = sqlite3_column_int64((sqlite3_stmt *)statement, column);
    return is_integer;
}

int app_migrations_value(
    app_migrations_statement *statement, int column, int64_t *integer, double *real, const void **bytes,
    int *count) {
    sqlite3_stmt *row = (sqlite3_stmt *)statement;
    int type = sqlite3_column_type(row, column);
    if (type == integer_type) *integer = sqlite3_column_int64(row, column);
    if (type == real_type) *real = sqlite3_column_double(row, column);
    if (type == text_type) *bytes = sqlite3_column_text(row, column);
    if (type == blob_type) *bytes = sqlite3_column_blob(row, column);
    *count = type == text_type || type == blob_type ? sqlite3_column_bytes(row, column) : 0;
    return type;
}

void app_migrations_column_metadata(
    app_migrations_connection *connection, const char *table, const char *column, const char **type,
    const char **collation) {
    int code = sqlite3_table_column_metadata(
        (sqlite3 *)connection, "main", table, column, type, collation, NULL, NULL, NULL);
    if (code != ok) {
        *type = NULL;
        *collation = NULL;
    }
}

uint32_t app_migrations_data_version(app_migrations_connection *connection) {
    uint32_t version = 0;
    sqlite3_file_control((sqlite3 *)connection, "main", data_version, &version);
    return version;
}

int app_migrations_has_moved(app_migrations_connection *connection) {
    int moved = 0;
    sqlite3_file_control((sqlite3 *)connection, "main", has_moved, &moved);
    return moved != 0;
}

int app_migrations_has_unresolved_keys(app_migrations_connection *connection) {
    int current = 0, highest = 0;
    sqlite3_db_status((sqlite3 *)connection, deferred_foreign_keys, &current, &highest, 0);
    return current;
}

int app_migrations_is_autoincremented(
    app_migrations_connection *connection, const char *table, const char *column) {
    int is_autoincremented = 0;
    int code = sqlite3_table_column_metadata(
        (sqlite3 *)connection, "main", table, column, NULL, NULL, NULL, NULL, &is_autoincremented);
    return code == ok && is_autoincremented;
}

int app_migrations_setting(app_migrations_connection *connection, int setting, int value) {
    int before = -1, after = -1;
    // c3ref/c_dbconfig_defensive.html: a negative value leaves the setting as it is.
    if (sqlite3_db_config((sqlite3 *)connection, setting, -1, &before) != ok) return -1;
    if (value >= 0) sqlite3_db_config((sqlite3 *)connection, setting, value, &after);
    return before;
}

int app_migrations_is_written(app_migrations_connection *connection, const char *schema) {
    const char *file = sqlite3_db_filename((sqlite3 *)connection, schema);
    return file && *file && sqlite3_txn_state((sqlite3 *)connection, schema) == write_transaction;
}

int app_migrations_has_read_only_format(app_migrations_connection *connection) {
    if (sqlite3_db_readonly((sqlite3 *)connection, "main") != 1) return 0;
    const char *path = sqlite3_db_filename((sqlite3 *)connection, "main");
    if (!path || !*path) return 0;
    // SQLite opens a file that the system does not let it write for reading alone, and looks at the format when it reads.
    sqlite3 *other = NULL;
    int has_format = sqlite3_open_v2(path, &other, open_for_writing, NULL) == ok
        && sqlite3_db_readonly(other, "main") == 0
        && sqlite3_exec(other, "PRAGMA schema_version", NULL, NULL, NULL) == ok
        && sqlite3_db_readonly(other, "main") == 1;
    sqlite3_close(other);
    return has_format;
}

void app_migrations_keep_log(app_migrations_connection *connection, int is_kept) {
    sqlite3_file_control((sqlite3 *)connection, "main", persistent_log, &is_kept);
}

int app_migrations_limit_attached(app_migrations_connection *connection, int count) {
    return sqlite3_limit((sqlite3 *)connection, attached_limit, count);
}
