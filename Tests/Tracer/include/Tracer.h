// Runs code in a process of its own, and stops it at each of its system calls.

#ifndef TRACER_H
#define TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

/// A system call of the traced process, before or after the kernel has carried it out.
struct tracer_call {
    int64_t number;
    uint64_t arguments[6];
    /// True if the call has been carried out.
    bool is_done;
    /// The value that it has returned, where it is done: below 0 an error's number.
    int64_t result;
    pid_t thread;
};

/// The fate of a call. To halve is for calls that are not done yet.
enum tracer_order {
    tracer_go_on,
    tracer_kill,
    /// Has its third argument halved: of `write` and similar calls, the length.
    tracer_halve,
    /// Is left out, and returns an error; one that is done returns the error all the same.
    tracer_fail,
    /// Goes on, and none that comes after it is shown any more.
    tracer_let_go,
};

struct tracer_verdict {
    enum tracer_order order;
    /// The error's number, above 0.
    int32_t error;
};

/// How the process has ended.
struct tracer_end {
    /// Its exit status, when no signal has killed it.
    int32_t status;
    /// The signal that has killed it, or 0. SIGALRM when it has taken too long: it has then printed where its
    /// threads were.
    int32_t signal;
};

typedef int32_t (*tracer_body)(void *context);
typedef struct tracer_verdict (*tracer_watcher)(void *context, const struct tracer_call *call);

/// True if processes can be traced here.
bool tracer_is_supported(void);

/// Runs a body in a fork of this process, whose only thread must be the calling one.
///
/// - output: a file that the body finds as its standard output.
/// - seconds: how long it may take.
/// - watcher: judges each call; NULL to let the process run untraced.
///
/// Returns 0, or an error's number when there was nothing to be run or traced.
int tracer_run(
    tracer_body body, void *body_context, int output, unsigned seconds,
    tracer_watcher watcher, void *watcher_context, struct tracer_end *end);

/// Starts a body as `tracer_run` does, untraced, and does not wait for it. Returns the process's id, or -1.
pid_t tracer_start(tracer_body body, void *context, int output, unsigned seconds);

/// Waits until a process that was started has ended, and returns true; or has been stopped, and returns false.
bool tracer_wait(pid_t process, struct tracer_end *end);

/// Reads memory of a process that is being traced. Returns how much could be read.
size_t tracer_read(pid_t thread, uint64_t address, void *buffer, size_t length);

#endif
