#define _GNU_SOURCE
#include "Tracer.h"
#include "Hang.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

// A thread of the traced process, and the call that it is in.
struct thread {
    struct tracer_call call;
    int32_t error;
    struct thread *next;
};

static struct thread *thread_with_id(struct thread **threads, pid_t id) {
    for (struct thread *thread = *threads; thread; thread = thread->next) {
        if (thread->call.thread == id) { return thread; }
    }
    struct thread *thread = calloc(1, sizeof *thread);
    if (!thread) { abort(); }
    thread->call.thread = id;
    thread->next = *threads;
    *threads = thread;
    return thread;
}

static bool get_registers(pid_t id, struct user_regs_struct *registers) {
    struct iovec part = {registers, sizeof *registers};
    return ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &part) == 0;
}

static void set_registers(pid_t id, struct user_regs_struct *registers) {
    struct iovec part = {registers, sizeof *registers};
    ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &part);
}

static void halve_third_argument(pid_t id) {
    struct user_regs_struct registers;
    if (!get_registers(id, &registers)) { return; }
#if defined(__x86_64__)
    registers.rdx /= 2;
#else
    registers.regs[2] /= 2;
#endif
    set_registers(id, &registers);
}

// No kernel has a call of this number: it changes nothing, and returns an error.
static void leave_out(pid_t id) {
#if defined(__x86_64__)
    struct user_regs_struct registers;
    if (!get_registers(id, &registers)) { return; }
    registers.orig_rax = -1;
    set_registers(id, &registers);
#else
    int number = -1;
    struct iovec part = {&number, sizeof number};
    ptrace(PTRACE_SETREGSET, id, NT_ARM_SYSTEM_CALL, &part);
#endif
}

static void set_result(pid_t id, int64_t result) {
    struct user_regs_struct registers;
    if (!get_registers(id, &registers)) { return; }
#if defined(__x86_64__)
    registers.rax = (unsigned long long)result;
#else
    registers.regs[0] = (unsigned long long)result;
#endif
    set_registers(id, &registers);
}

// Shows a call to the watcher, and does with it as told.
static enum tracer_order judge(struct thread *thread, tracer_watcher watcher, void *context) {
    struct tracer_call *call = &thread->call;
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, call->thread, sizeof info, &info) <= 0) { return tracer_go_on; }
    call->is_done = info.op == PTRACE_SYSCALL_INFO_EXIT;
    if (call->is_done) {
        call->result = info.exit.rval;
        if (thread->error) {
            call->result = -thread->error;
            set_result(call->thread, call->result);
            thread->error = 0;
        }
    } else if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        call->number = (int64_t)info.entry.nr;
        for (int i = 0; i < 6; i++) { call->arguments[i] = info.entry.args[i]; }
        call->result = 0;
    } else {
        return tracer_go_on;
    }
    struct tracer_verdict verdict = watcher(context, call);
    if (verdict.order == tracer_halve) { halve_third_argument(call->thread); }
    if (verdict.order == tracer_fail) {
        if (call->is_done) {
            set_result(call->thread, -verdict.error);
        } else {
            leave_out(call->thread);
            thread->error = verdict.error;
        }
    }
    return verdict.order;
}

// Lets a stopped process run from call to call, until it has ended.
static void trace(pid_t process, tracer_watcher watcher, void *context, struct tracer_end *end) {
    struct thread *threads = NULL;
    enum __ptrace_request until_next = PTRACE_SYSCALL;
    while (true) {
        int status;
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0) {
            if (errno == EINTR) { continue; }
            break;
        }
        if (!WIFSTOPPED(status)) {
            if (id != process) { continue; }
            end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
            end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
            break;
        }
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            signal = 0;
            enum tracer_order order = judge(thread_with_id(&threads, id), watcher, context);
            if (order == tracer_kill) {
                kill(process, SIGKILL);
                continue;
            }
            if (order == tracer_let_go) { until_next = PTRACE_CONT; }
        } else if (signal == SIGSTOP || status >> 16) {
            signal = 0;  // A thread that has just begun, or the news of it.
        }
        ptrace(until_next, id, 0, signal);
    }
    while (threads) {
        struct thread *next = threads->next;
        free(threads);
        threads = next;
    }
}

int tracer_run(
    tracer_body body, void *body_context, int output, unsigned seconds,
    tracer_watcher watcher, void *watcher_context, struct tracer_end *end
) {
    pid_t process = fork();
    if (process < 0) { return errno; }
    if (process == 0) {
        if (dup2(output, STDOUT_FILENO) < 0) { _exit(127); }
        end_when_hung(seconds);
        if (watcher && (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 || raise(SIGSTOP))) { _exit(127); }
        _exit(body(body_context));
    }
    int status;
    if (!watcher) {
        while (waitpid(process, &status, 0) < 0) {
            if (errno != EINTR) { return errno; }
        }
        end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        end->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        return 0;
    }
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    if (waitpid(process, &status, 0) < 0 || !WIFSTOPPED(status)) { return EPERM; }
    if (ptrace(PTRACE_SETOPTIONS, process, 0, options) < 0 || ptrace(PTRACE_SYSCALL, process, 0, 0) < 0) {
        int error = errno;
        kill(process, SIGKILL);
        waitpid(process, &status, 0);
        return error;
    }
    trace(process, watcher, watcher_context, end);
    return 0;
}

size_t tracer_read(pid_t thread, uint64_t address, void *buffer, size_t length) {
    struct iovec local = {buffer, length};
    struct iovec remote = {(void *)(uintptr_t)address, length};
    ssize_t count = process_vm_readv(thread, &local, 1, &remote, 1, 0);
    return count < 0 ? 0 : (size_t)count;
}

// A process that does nothing, to see whether its call to end is seen.
static int32_t nothing(void *context) { return 0; }

static struct tracer_verdict note(void *context, const struct tracer_call *call) {
    *(bool *)context = true;
    return (struct tracer_verdict){tracer_go_on, 0};
}

bool tracer_is_supported(void) {
    bool was_seen = false;
    struct tracer_end end = {0, 0};
    return tracer_run(nothing, NULL, STDOUT_FILENO, 10, note, &was_seen, &end) == 0 && was_seen;
}

#else

#include <errno.h>

bool tracer_is_supported(void) { return false; }

int tracer_run(
    tracer_body body, void *body_context, int output, unsigned seconds,
    tracer_watcher watcher, void *watcher_context, struct tracer_end *end
) {
    return ENOTSUP;
}

size_t tracer_read(pid_t thread, uint64_t address, void *buffer, size_t length) { return 0; }

#endif
