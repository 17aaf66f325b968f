#define _GNU_SOURCE
#include "CMigrationSystem.h"

#if defined(__linux__)
#include <unistd.h>

int app_migrations_syncfs(int file_descriptor) {
    return syncfs(file_descriptor);
}
#endif
