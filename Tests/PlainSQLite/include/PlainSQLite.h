// SQLite itself, without GRDB, and a way to let it run out of memory.

#ifndef PLAIN_SQLITE_H
#define PLAIN_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/// Counts SQLite's allocations from now on, and lets one fail, or that and all after it.
///
/// - failing: the allocation, from 0; below 0 for none.
///
/// For a process in which SQLite has no open connection. Returns SQLite's result code.
int scarce_memory_begin(int64_t failing, bool onward);

/// How many allocations there have been.
int64_t scarce_memory_count(void);

#endif
