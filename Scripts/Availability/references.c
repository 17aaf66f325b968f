// Prints the references in an index store as "file:line<TAB>USR", for the files in a folder.
//
// Usage: references <index store> <folder, with a slash at its end>
#include <indexstore/indexstore.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static indexstore_t store;
static const char *folder;
static char file[4096];

// Returns whether a path is in the folder and still there: units of removed files stay in the store.
static bool take_file(indexstore_string_ref_t path) {
    size_t length = strlen(folder);
    if (path.length <= length || strncmp(path.data, folder, length) != 0) return false;
    snprintf(file, sizeof file, "%.*s", (int)path.length, path.data);
    if (access(file, F_OK) != 0) return false;
    memmove(file, file + length, strlen(file + length) + 1);
    return strncmp(file, ".build", 6) != 0;
}

static bool print_reference(void *context, indexstore_occurrence_t occurrence) {
    if (!(indexstore_occurrence_get_roles(occurrence) & INDEXSTORE_SYMBOL_ROLE_REFERENCE)) return true;
    unsigned line, column;
    indexstore_occurrence_get_line_col(occurrence, &line, &column);
    indexstore_string_ref_t usr = indexstore_symbol_get_usr(indexstore_occurrence_get_symbol(occurrence));
    printf("%s:%u\t%.*s\n", file, line, (int)usr.length, usr.data);
    return true;
}

static bool read_dependency(void *context, indexstore_unit_dependency_t dependency) {
    if (indexstore_unit_dependency_get_kind(dependency) != INDEXSTORE_UNIT_DEPENDENCY_RECORD) return true;
    if (!take_file(indexstore_unit_dependency_get_filepath(dependency))) return true;
    indexstore_string_ref_t name = indexstore_unit_dependency_get_name(dependency);
    char record[1024];
    snprintf(record, sizeof record, "%.*s", (int)name.length, name.data);
    indexstore_error_t error = NULL;
    indexstore_record_reader_t reader = indexstore_record_reader_create(store, record, &error);
    if (!reader) return true;
    indexstore_record_reader_occurrences_apply_f(reader, NULL, print_reference);
    indexstore_record_reader_dispose(reader);
    return true;
}

static bool read_unit(void *context, indexstore_string_ref_t name) {
    char unit[1024];
    snprintf(unit, sizeof unit, "%.*s", (int)name.length, name.data);
    indexstore_error_t error = NULL;
    indexstore_unit_reader_t reader = indexstore_unit_reader_create(store, unit, &error);
    if (!reader) return true;
    if (take_file(indexstore_unit_reader_get_main_file(reader)))
        indexstore_unit_reader_dependencies_apply_f(reader, NULL, read_dependency);
    indexstore_unit_reader_dispose(reader);
    return true;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    indexstore_error_t error = NULL;
    store = indexstore_store_create(arguments[1], &error);
    if (!store) {
        fprintf(stderr, "error: %s is not an index store\n", arguments[1]);
        return 1;
    }
    folder = arguments[2];
    indexstore_store_units_apply_f(store, 0, NULL, read_unit);
    return 0;
}
