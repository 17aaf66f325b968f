#include "CMigrationSQLite.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// The declarations of sqlite3.h, which is not there in every build.
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_create_collation_v2(
    sqlite3 *, const char *, int, void *, int (*)(void *, int, const void *, int, const void *),
    void (*)(void *));
int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int sqlite3_bind_pointer(sqlite3_stmt *, int, void *, const char *, void (*)(void *));
int sqlite3_step(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);

enum { utf8 = 1 };

// Collations

static unsigned char lowered(unsigned char byte) {
    return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

static int compare(void *how, int count, const void *text, int other_count, const void *other) {
    const unsigned char *one = text, *two = other;
    if ((size_t)how == app_migrations_without_end) {
        while (count > 0 && one[count - 1] == ' ') count--;
        while (other_count > 0 && two[other_count - 1] == ' ') other_count--;
    }
    for (int i = 0; i < count && i < other_count; i++) {
        int isFolded = (size_t)how == app_migrations_without_case;
        int first = isFolded ? lowered(one[i]) : one[i], second = isFolded ? lowered(two[i]) : two[i];
        if (first != second) return first - second;
    }
    return count - other_count;
}

int app_migrations_add_collation(app_migrations_connection *connection, const char *name, int comparison) {
    return sqlite3_create_collation_v2(
        (sqlite3 *)connection, name, utf8, (void *)(size_t)comparison, compare, NULL);
}

// Tokenizers: the beginning of the structures of fts5.h, which later versions only extend.

typedef struct tokenizer_instance tokenizer_instance;
typedef struct {
    int (*create)(void *, const char **, int, tokenizer_instance **);
    void (*delete)(tokenizer_instance *);
    int (*tokenize)(
        tokenizer_instance *, void *, int, const char *, int,
        int (*)(void *, int, const char *, int, int, int));
} tokenizer;

typedef struct fts5_api fts5_api;
struct fts5_api {
    int version;
    int (*create_tokenizer)(fts5_api *, const char *, void *, tokenizer *, void (*)(void *));
    int (*find_tokenizer)(fts5_api *, const char *, void **, tokenizer *);
};

typedef struct {
    tokenizer model;
    void *context;
} stand_in;

static fts5_api *api_of(app_migrations_connection *connection) {
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2((sqlite3 *)connection, "SELECT fts5(?1)", -1, &statement, NULL) == 0) {
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    return api;
}

static int create(void *context, const char **arguments, int count, tokenizer_instance **instance) {
    (void)arguments, (void)count;
    stand_in *found = context;
    return found->model.create(found->context, NULL, 0, instance);
}

int app_migrations_add_tokenizer(
    app_migrations_connection *connection, const char *name, const char *model) {
    fts5_api *api = api_of(connection);
    stand_in *added = calloc(1, sizeof(stand_in));
    if (!api || !added || api->find_tokenizer(api, model, &added->context, &added->model)) {
        free(added);
        return 1;
    }
    tokenizer methods = {create, added->model.delete, added->model.tokenize};
    return api->create_tokenizer(api, name, added, &methods, free) ? 1 : 0;
}

int app_migrations_has_tokenizer(app_migrations_connection *connection, const char *name) {
    fts5_api *api = api_of(connection);
    void *context = NULL;
    tokenizer found;
    // Without a name, FTS5 would return the default one.
    return api && name && api->find_tokenizer(api, name, &context, &found) == 0;
}
