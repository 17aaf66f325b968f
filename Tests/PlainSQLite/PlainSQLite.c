#include "PlainSQLite.h"

#include <stddef.h>

// SQLite calls these under a lock of its own, or from one thread.
static sqlite3_mem_methods ordinary;
static int64_t count;
static int64_t failing_allocation = -1;
static bool fails_onward;

static bool fails(void) {
    int64_t number = count++;
    if (failing_allocation < 0) { return false; }
    return fails_onward ? number >= failing_allocation : number == failing_allocation;
}

static void *allocate(int size) { return fails() ? NULL : ordinary.xMalloc(size); }

static void *reallocate(void *memory, int size) { return fails() ? NULL : ordinary.xRealloc(memory, size); }

int scarce_memory_begin(int64_t failing, bool onward) {
    int result = sqlite3_shutdown();
    if (result == SQLITE_OK) { result = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &ordinary); }
    if (result != SQLITE_OK) { return result; }
    sqlite3_mem_methods scarce = ordinary;
    scarce.xMalloc = allocate;
    scarce.xRealloc = reallocate;
    result = sqlite3_config(SQLITE_CONFIG_MALLOC, &scarce);
    // The first allocations are those of the first connection.
    if (result == SQLITE_OK) { result = sqlite3_initialize(); }
    failing_allocation = failing;
    fails_onward = onward;
    count = 0;
    return result;
}

int64_t scarce_memory_count(void) { return count; }
