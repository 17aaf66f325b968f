#define _GNU_SOURCE
#include "Hang.h"

#if defined(__linux__)

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void print_frames(int signal) {
    void *frames[40];
    backtrace_symbols_fd(frames, backtrace(frames, 40), STDOUT_FILENO);
}

// Prints the first line of a file that says something of a thread.
static void print_file(int thread, const char *name) {
    char path[64], text[200];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) { return; }
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0) { return; }
    dprintf(STDOUT_FILENO, "thread %d %s %.*s\n", thread, name, (int)length, text);
}

// The process hangs, so nothing is lost by calls that a signal's handler must not make.
static void tell_and_end(int number) {
    signal(SIGALRM, SIG_DFL);
    signal(SIGUSR2, print_frames);
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *entry; threads && (entry = readdir(threads));) {
        int thread = atoi(entry->d_name);
        if (thread <= 0) { continue; }
        // The call that it is in, the kernel's function that it waits in, and its times.
        print_file(thread, "syscall");
        print_file(thread, "wchan");
        print_file(thread, "stat");
        if (thread == (int)syscall(SYS_gettid)) {
            print_frames(0);
        } else {
            // Dispatch's threads take no signal.
            syscall(SYS_tgkill, getpid(), thread, SIGUSR2);
            usleep(100000);
        }
    }
    raise(SIGALRM);
    // It is blocked as long as its handler runs.
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

void end_when_hung(unsigned seconds) {
    // A trap says where it is; then the process dies of it, since the handler is gone.
    struct sigaction once = {.sa_handler = print_frames, .sa_flags = SA_RESETHAND};
    sigaction(SIGILL, &once, NULL);
    sigaction(SIGTRAP, &once, NULL);
    signal(SIGALRM, tell_and_end);
    alarm(seconds);
}

#endif
