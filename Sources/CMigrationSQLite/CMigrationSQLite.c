#include "CMigrationSQLite.h"

#include <stddef.h>

// The declarations of sqlite3.h, which is not there in every build.
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
void sqlite3_interrupt(sqlite3 *);
int sqlite3_busy_timeout(sqlite3 *, int);
const char *sqlite3_sql(sqlite3_stmt *);
int sqlite3_column_type(sqlite3_stmt *, int);
long long sqlite3_column_int64(sqlite3_stmt *, int);
int sqlite3_table_column_metadata(
    sqlite3 *, const char *, const char *, const char *, const char **, const char **, int *, int *, int *);
int sqlite3_file_control(sqlite3 *, const char *, int, void *);

enum { ok = 0, integer_type = 1, data_version = 35 };

void app_migrations_interrupt(app_migrations_connection *connection) {
    sqlite3_interrupt((sqlite3 *)connection);
}

void app_migrations_busy_timeout(app_migrations_connection *connection, int milliseconds) {
    sqlite3_busy_timeout((sqlite3 *)connection, milliseconds);
}

const char *app_migrations_sql(app_migrations_statement *statement) {
    return sqlite3_sql((sqlite3_stmt *)statement);
}

int app_migrations_integer(app_migrations_statement *statement, int column, int64_t *integer) {
    int is_integer = sqlite3_column_type((sqlite3_stmt *)statement, column) == integer_type;
    *integer = sqlite3_column_int64((sqlite3_stmt *)statement, column);
    return is_integer;
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
