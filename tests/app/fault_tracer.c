/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program and counts the system calls by which it changes files in a folder: opening for writing, writing, cutting,
 * syncing, renaming, removing, making folders. At the n-th it kills the program, or makes the call fail, whichever library
 * it comes from.
 *
 *     fault_tracer MODE N FOLDER COUNT -- program arguments…
 *
 * MODE: count (N is not used); kill (before the call is made); ENOSPC, EIO (this call fails); full (from this call on
 * everything that would need room fails with ENOSPC). COUNT: the file that receives how many calls there were. Ends as the
 * program did; 137 when it was killed; 77 where programs may not be traced. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if !defined(__x86_64__)
int main(void)
{
    puts("skipped: this tool knows x86-64's registers only");
    return 77;
}
#else

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

typedef enum argument { BY_FD, BY_PATH, BY_PATH_AT } argument;

typedef struct call {
    long number;
    argument names; /* how the call says which file it means */
    int flags_at;   /* argument with open(2)'s flags; -1: it is no open */
    bool grows;     /* needs room on the disk */
} call;

static const call calls[] = {
    {SYS_write, BY_FD, -1, true},          {SYS_pwrite64, BY_FD, -1, true},
    {SYS_writev, BY_FD, -1, true},         {SYS_pwritev, BY_FD, -1, true},
    {SYS_ftruncate, BY_FD, -1, false},     {SYS_fsync, BY_FD, -1, false},
    {SYS_fdatasync, BY_FD, -1, false},     {SYS_fallocate, BY_FD, -1, true},
    {SYS_open, BY_PATH, 1, true},          {SYS_openat, BY_PATH_AT, 2, true},
    {SYS_creat, BY_PATH, -1, true},        {SYS_rename, BY_PATH, -1, false},
    {SYS_renameat, BY_PATH_AT, -1, false}, {SYS_renameat2, BY_PATH_AT, -1, false},
    {SYS_unlink, BY_PATH, -1, false},      {SYS_unlinkat, BY_PATH_AT, -1, false},
    {SYS_rmdir, BY_PATH, -1, false},       {SYS_mkdir, BY_PATH, -1, true},
    {SYS_mkdirat, BY_PATH_AT, -1, true},
};
#define N_CALLS (sizeof calls / sizeof *calls)

static void trace_me(void)
{
    struct sock_filter filter[2 * N_CALLS + 3];
    size_t n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < N_CALLS; i++) {
        filter[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i].number, 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | (uint32_t)i);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)n, filter};
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        _exit(77);
    raise(SIGSTOP); /* until the parent has said what it wants to see */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

static void read_text(pid_t pid, unsigned long long at, char *text, size_t capacity)
{
    struct iovec here = {text, capacity - 1}, there = {(void *)(uintptr_t)at, capacity - 1};
    ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (got < 0) { /* the end of a page that is the last */
        there.iov_len = here.iov_len = 4096 - at % 4096;
        got = process_vm_readv(pid, &here, 1, &there, 1, 0);
    }
    text[got > 0 ? got : 0] = '\0';
}

static void file_of_fd(pid_t pid, int fd, char *path, size_t capacity)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%d/fd/%d", pid, fd);
    ssize_t got = readlink(link, path, capacity - 1);
    path[got > 0 ? got : 0] = '\0';
}

/* Does the call change something in the folder? */
static bool counts(pid_t pid, const call *c, const struct user_regs_struct *r, const char *folder)
{
    const unsigned long long arguments[] = {r->rdi, r->rsi, r->rdx};
    char path[8192] = "", name[4096];
    if (c->flags_at >= 0 && !(arguments[c->flags_at] & (O_WRONLY | O_RDWR | O_CREAT)))
        return false;
    if (c->names == BY_FD) {
        file_of_fd(pid, (int)r->rdi, path, sizeof path);
    } else {
        read_text(pid, c->names == BY_PATH ? r->rdi : r->rsi, name, sizeof name);
        if (name[0] != '/' && c->names == BY_PATH_AT && (int)r->rdi != AT_FDCWD)
            file_of_fd(pid, (int)r->rdi, path, 4096);
        size_t used = strlen(path);
        snprintf(path + used, sizeof path - used, "%s%s", used ? "/" : "", name);
    }
    return strncmp(path, folder, strlen(folder)) == 0;
}

typedef struct plan {
    const char *mode, *folder;
    long n, seen;
    bool verbose;
} plan;

/* At a call: 0, or the error it is to fail with; -1: the program dies here. */
static int decide(plan *p, const call *c)
{
    p->seen++;
    bool here = p->seen == p->n;
    if (strcmp(p->mode, "kill") == 0 && here)
        return -1;
    if (strcmp(p->mode, "ENOSPC") == 0 && here)
        return ENOSPC;
    if (strcmp(p->mode, "EIO") == 0 && here)
        return EIO;
    if (strcmp(p->mode, "full") == 0 && p->seen >= p->n && c->grows)
        return ENOSPC;
    return 0;
}

static int watch(pid_t child, plan *p)
{
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    ptrace(PTRACE_SETOPTIONS, child, NULL,
           PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
               PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC);
    ptrace(PTRACE_CONT, child, NULL, NULL);
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            return 1;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == child)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int deliver = 0;
        if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) {
            unsigned long which = 0;
            struct user_regs_struct r;
            ptrace(PTRACE_GETEVENTMSG, pid, NULL, &which);
            ptrace(PTRACE_GETREGS, pid, NULL, &r);
            if (which < N_CALLS && counts(pid, &calls[which], &r, p->folder)) {
                int error = decide(p, &calls[which]);
                if (error < 0) {
                    kill(child, SIGKILL);
                    continue; /* it never gets to make the call */
                }
                if (error) {
                    r.orig_rax = (unsigned long long)-1; /* no call */
                    r.rax = (unsigned long long)-error;
                    ptrace(PTRACE_SETREGS, pid, NULL, &r);
                }
            }
        } else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) {
            deliver = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)deliver);
    }
}

int main(int count, char **arguments)
{
    if (count < 7 || strcmp(arguments[5], "--") != 0) {
        fprintf(stderr, "fault_tracer MODE N FOLDER COUNT -- program arguments…\n");
        return 2;
    }
    plan p = {.mode = arguments[1], .folder = arguments[3], .n = strtol(arguments[2], NULL, 10)};
    pid_t child = fork();
    if (child == 0) {
        trace_me();
        execvp(arguments[6], arguments + 6);
        _exit(127);
    }
    int code = child < 0 ? 77 : watch(child, &p);
    FILE *file = fopen(arguments[4], "w");
    if (file) {
        fprintf(file, "%ld\n", p.seen);
        fclose(file);
    }
    return code;
}
#endif
