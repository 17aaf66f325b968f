#define _GNU_SOURCE
#include "CMigrationSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#elif defined(__linux__)
#include <sys/syscall.h>
#endif

int64_t app_migrations_changed(const void *status) {
#if defined(__APPLE__)
    struct timespec time = ((const struct stat *)status)->st_ctimespec;
#else
    struct timespec time = ((const struct stat *)status)->st_ctim;
#endif
    return (int64_t)((uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec);
}

int app_migrations_create(const char *path, int flags, int mode) {
#if defined(__APPLE__) && TARGET_OS_IPHONE
    // sys/cprotect.h of the kernel: class C is completeUntilFirstUserAuthentication.
    const int class = 3;
    int descriptor = open_dprotected_np(path, flags | O_CREAT, class, 0, mode);
    // File systems without protection classes refuse it, and those of simulators.
    if (descriptor >= 0 || (errno != ENOTSUP && errno != EINVAL)) { return descriptor; }
    descriptor = open(path, flags | O_CREAT, mode);
    if (descriptor < 0 || fcntl(descriptor, F_SETPROTECTIONCLASS, class) == 0 || errno == ENOTSUP ||
        errno == EINVAL) {
        return descriptor;
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
#else
    return open(path, flags | O_CREAT, mode);
#endif
}

int app_migrations_rename(const char *path, const char *new_path) {
#if defined(__APPLE__)
    if (renamex_np(path, new_path, RENAME_EXCL) == 0) { return 0; }
    if (errno != ENOTSUP && errno != EINVAL) { return -1; }
#elif defined(__linux__)
    // renameat2(2) with RENAME_NOREPLACE, by its number: not every C library has it.
    if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, new_path, 1) == 0) { return 0; }
    if (errno != EINVAL && errno != ENOSYS) { return -1; }
#endif
    // A file system without it: between these two calls nothing else that respects the lock of a move comes.
    struct stat status;
    if (lstat(new_path, &status) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(path, new_path);
}

int app_migrations_protect(const char *path, const char *folder) {
#if defined(__APPLE__) && TARGET_OS_IPHONE
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) { return -1; }
    int class = fcntl(descriptor, F_GETPROTECTIONCLASS);
    close(descriptor);
    // The folder of an app group has no class of its own: C, like every file of this package.
    if (class <= 0) { class = 3; }
    descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (descriptor < 0) { return -1; }
    int result = fcntl(descriptor, F_SETPROTECTIONCLASS, class);
    int error = errno;
    close(descriptor);
    errno = error;
    return result == 0 || error == ENOTSUP || error == EINVAL ? 0 : -1;
#else
    (void)path;
    (void)folder;
    return 0;
#endif
}

#if defined(__linux__)
#include <pthread.h>
#include <stdlib.h>

int app_migrations_syncfs(int file_descriptor) {
    return syncfs(file_descriptor);
}

struct start {
    void (*body)(void *context);
    void *context;
};

static void *run(void *context) {
    struct start start = *(struct start *)context;
    free(context);
    start.body(start.context);
    return NULL;
}

int app_migrations_start_thread(void (*body)(void *context), void *context) {
    struct start *start = malloc(sizeof *start);
    if (!start) { return ENOMEM; }
    *start = (struct start){body, context};
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (!error) {
        // Musl's threads have 128 kB unless told otherwise: too little for SQLite and an app's closures.
        size_t size = 0;
        pthread_attr_getstacksize(&attributes, &size);
        if (size < 1 << 20) { pthread_attr_setstacksize(&attributes, 1 << 20); }
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_t thread;
        error = pthread_create(&thread, &attributes, run, start);
        pthread_attr_destroy(&attributes);
    }
    if (error) { free(start); }
    return error;
}
#endif
