#include "CMigrationSQLite.h"

#include <stddef.h>

// The beginning of the structure of sqlite3.h, which later versions only extend.
typedef struct sqlite3_vfs sqlite3_vfs;
struct sqlite3_vfs {
    int version;
    int file_size;
    int longest_path;
    sqlite3_vfs *next;
    const char *name;
    void *data;
    /// From opening a file to the last error.
    void (*functions[12])(void);
    int (*current_time)(sqlite3_vfs *, long long *);
};
sqlite3_vfs *sqlite3_vfs_find(const char *);
int sqlite3_vfs_register(sqlite3_vfs *, int);

enum { ok = 0, error = 1, with_current_time = 2 };

static sqlite3_vfs still;
static long long present;

static int tell_present(sqlite3_vfs *vfs, long long *time) {
    *time = present;
    return ok;
}

int app_migrations_register_still_time(void) {
    sqlite3_vfs *ordinary = sqlite3_vfs_find(NULL);
    if (!ordinary || ordinary->version < with_current_time || !ordinary->current_time) return error;
    int code = ordinary->current_time(ordinary, &present);
    if (code != ok) return code;
    still = *ordinary;
    still.version = with_current_time;
    still.next = NULL;
    still.name = "still-time";
    still.current_time = tell_present;
    return sqlite3_vfs_register(&still, 0);
}
