#define _GNU_SOURCE
#include "Tracer.h"
#include "Hang.h"

#if defined(__linux__)

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t tracer_start(tracer_body body, void *context, int output, unsigned seconds) {
    pid_t process = fork();
    if (process != 0) { return process; }
    // Nobody would end one that is stopped.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(output, STDOUT_FILENO) < 0) { _exit(127); }
    end_when_hung(seconds);
    _exit(body(context));
}

bool tracer_wait(pid_t process, struct tracer_end *end) {
    int status;
    while (waitpid(process, &status, WUNTRACED) < 0) {
        if (errno != EINTR) { return false; }
    }
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return !WIFSTOPPED(status);
}

#else

pid_t tracer_start(tracer_body body, void *context, int output, unsigned seconds) { return -1; }
bool tracer_wait(pid_t process, struct tracer_end *end) { return false; }

#endif
