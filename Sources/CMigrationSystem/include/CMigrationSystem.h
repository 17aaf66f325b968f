// What the C library has and Swift's module of it does not show.

#ifndef APP_MIGRATIONS_CMIGRATIONSYSTEM_H
#define APP_MIGRATIONS_CMIGRATIONSYSTEM_H

#include <stdint.h>

/// Opens a file, and creates it if it is missing. On iOS, tvOS, watchOS and visionOS a new file has the protection class
/// C from its first byte on: an app can use it in the background once the device has been unlocked, whatever class the
/// app's files have by default. A descriptor, or -1 with errno set.
int app_migrations_create(const char *path, int flags, int mode);

/// Renames a file, unless there is one of the new name. 0, or -1 with errno set: EEXIST, or EXDEV for another volume.
int app_migrations_rename(const char *path, const char *new_path);

/// Gives a file the protection class of the files that are created in a folder, on iOS, tvOS, watchOS and visionOS; does
/// nothing elsewhere. 0, or -1 with errno set.
int app_migrations_protect(const char *path, const char *folder);

/// The time at which the status of a file was last changed, in nanoseconds since 1970.
///
/// Swift finds the parts of a `timespec` in one of several modules, depending on what it has compiled before.
///
/// @param status what `stat` has filled in.
int64_t app_migrations_changed(const void *status);

#if defined(__linux__)
/// Writes out everything that was written on the file system of an open file. 0, or -1 with errno set.
int app_migrations_syncfs(int file_descriptor);

/// Runs a body on a new thread, which nobody joins. 0, or the error's number if there is no thread.
int app_migrations_start_thread(void (*body)(void *context), void *context);
#endif

#endif
