#define _GNU_SOURCE
#include "CMigrationSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__APPLE__)
#include <TargetConditionals.h>
#endif

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
