#define _GNU_SOURCE
#include "CMigrationSystem.h"

#if defined(__linux__)
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

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
