/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/probe.h"

#include "base/clock.h"
#include "runtime/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* What the child sends: fixed size, so that anything shorter is known to be cut off. */
typedef struct report {
    uint32_t magic;
    int32_t ok; /* probe and trial */
    sk_engine_probe probe;
    char problem[SK_RUNTIME_WHY];
} report;
#define MAGIC 0x736b7072u

/* --- the child --- */

/* Libraries print; a probe's words belong in its row, not on the person's terminal. */
static void be_quiet(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

/* Handlers of the program skitter is part of must not run for the child's accidents. */
static const int plain_signals[] = {SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGILL,
                                    SIGFPE, SIGABRT, SIGTRAP, SIGCHLD};

static void probe_in_child(const sk_engine *engine, int fd)
{
    static report r; /* zero; large */
    sk_error err = {0};
    struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core); /* a crash here is an answer, not an accident to keep */
    for (size_t i = 0; i < sizeof plain_signals / sizeof plain_signals[0]; i++)
        signal(plain_signals[i], SIG_DFL);
    be_quiet();
    r.magic = MAGIC;
    sk_status status = engine->probe(&r.probe, &err);
    if (status == SK_OK && r.probe.available)
        status = sk_runtime_trial(engine, &err);
    r.ok = status == SK_OK;
    snprintf(r.problem, sizeof r.problem, "%.310s", err.message);
    const char *at = (const char *)&r;
    for (size_t left = sizeof r; left;) {
        ssize_t n = send(fd, at, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        at += n;
        left -= (size_t)n;
    }
}

/* --- the parent --- */

typedef enum { HEARD, CLOSED, LATE } heard;

static heard listen_to(int fd, report *r, int64_t limit_ms)
{
    int64_t until = sk_clock_ns() + limit_ms * 1000000;
    char *at = (char *)r;
    for (size_t left = sizeof *r; left;) {
        int64_t wait_ms = (until - sk_clock_ns()) / 1000000;
        if (wait_ms <= 0)
            return LATE;
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        int ready = poll(&waiting, 1, wait_ms > 60000 ? 60000 : (int)wait_ms);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = ready < 0 ? -1 : read(fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return CLOSED;
        at += n;
        left -= (size_t)n;
    }
    return HEARD;
}

/* Reaps the child; one that answered has a moment to leave by itself, any other is ended. */
static int reap(pid_t pid, bool answered)
{
    int code = 0;
    for (int i = 0; answered && i < 20; i++) {
        pid_t got = waitpid(pid, &code, WNOHANG);
        if (got == pid)
            return code;
        if (got < 0 && errno != EINTR)
            return 0;
        sk_clock_sleep_ns(5000000);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
        ;
    return code;
}

static void close_text(char *text, size_t capacity)
{
    text[capacity - 1] = '\0';
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127)
            *p = ' ';
}

/* Engines say what is missing and then how to get it, in one text. */
static void explain(const char *detail, sk_probe_row *row)
{
    static const char mark[] = " To get it: ";
    const char *remedy = strstr(detail, mark);
    size_t length = remedy ? (size_t)(remedy - detail) : strlen(detail);
    if (remedy && length && detail[length - 1] == '.')
        length--; /* the reason goes into the middle of sentences */
    snprintf(row->reason, sizeof row->reason, "%.*s",
             (int)(length < sizeof row->reason ? length : sizeof row->reason - 1), detail);
    if (remedy)
        snprintf(row->remedy, sizeof row->remedy, "%.500s", remedy + strlen(mark));
}

/* Copies what the engine said; it may be any bytes. */
static void take_report(report *r, sk_probe_row *row)
{
    sk_engine_probe *p = &r->probe;
    close_text(p->version, sizeof p->version);
    close_text(p->detail, sizeof p->detail);
    close_text(r->problem, sizeof r->problem);
    row->available = r->ok && p->available;
    snprintf(row->version, sizeof row->version, "%s", p->version);
    if (p->detail[0] == '/' && p->available)
        snprintf(row->library, sizeof row->library, "%.255s", p->detail);
    int32_t n = p->n_devices < 0                       ? 0
                : p->n_devices > SK_ENGINE_MAX_DEVICES ? SK_ENGINE_MAX_DEVICES
                                                       : p->n_devices;
    for (int32_t i = 0; i < n; i++) {
        close_text(p->devices[i].name, sizeof p->devices[i].name);
        snprintf(row->devices[row->n_devices++], sizeof row->devices[0], "%s", p->devices[i].name);
    }
    if (row->available)
        snprintf(row->reason, sizeof row->reason, "a test convolution ran and was right");
    else if (r->ok)
        explain(p->detail[0] ? p->detail : "its engine says no more", row);
    else
        snprintf(row->reason, sizeof row->reason, "%s%.270s",
                 p->available ? "it is there, but its test run failed: " : "",
                 r->problem[0] ? r->problem : "no reason given");
}

static void take_silence(heard how, int code, int64_t limit_ms, sk_probe_row *row)
{
    if (how == LATE)
        snprintf(row->reason, sizeof row->reason, "the probe hung and was ended after %.1f s",
                 (double)limit_ms * 1e-3);
    else if (WIFSIGNALED(code))
        snprintf(row->reason, sizeof row->reason, "the probe crashed with signal %d (%s)", WTERMSIG(code),
                 strsignal(WTERMSIG(code)));
    else
        snprintf(row->reason, sizeof row->reason, "the probe's process left without an answer, exit code %d",
                 WIFEXITED(code) ? WEXITSTATUS(code) : -1);
    snprintf(row->remedy, sizeof row->remedy, "reinstall or update the runtime's library or driver");
}

void sk_probe_engine(const sk_engine *engine, int64_t limit_ms, sk_probe_row *row)
{
    static const sk_probe_row empty;
    sk_runtime runtime = row->runtime;
    *row = empty;
    row->runtime = runtime;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        snprintf(row->reason, sizeof row->reason, "it could not be probed: %s", strerror(errno));
        return;
    }
    fflush(NULL); /* what is buffered would be written twice if the child left through exit() */
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        probe_in_child(engine, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        snprintf(row->reason, sizeof row->reason, "it could not be probed: %s", strerror(errno));
    } else {
        report r;
        heard how = listen_to(ends[0], &r, limit_ms);
        int code = 0;
        if (how == CLOSED) { /* the process is ending by itself; its code says how */
            while (waitpid(pid, &code, 0) < 0 && errno == EINTR)
                ;
        } else {
            code = reap(pid, how == HEARD);
        }
        if (how == HEARD && r.magic == MAGIC)
            take_report(&r, row);
        else
            take_silence(how, code, limit_ms, row);
    }
    close(ends[0]);
}

/* SKITTER_PROBE_SECONDS for machines where a healthy driver takes longer, or a sick one should not be waited for. */
static int64_t limit_ms(void)
{
    const char *text = getenv("SKITTER_PROBE_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds >= 0.1 && seconds <= 3600 ? (int64_t)(seconds * 1000) : SK_PROBE_LIMIT_MS;
}

void sk_probe_one(sk_runtime runtime, bool fresh, sk_probe_row *row)
{
    memset(row, 0, sizeof *row);
    row->runtime = runtime;
    const sk_engine *engine = sk_engine_find(sk_runtime_name(runtime));
    if (!engine) {
        sk_probe_absent(runtime, row);
        return;
    }
    if (!fresh && sk_probe_cache_read(runtime, row))
        return;
    sk_probe_engine(engine, limit_ms(), row);
    /* Without the vendor's driver no library helps: that comes first. */
    if (!row->available && (runtime == SK_RUNTIME_ONNX_CUDA || runtime == SK_RUNTIME_ONNX_ROCM))
        (void)sk_probe_machine(runtime, row);
    if (row->available && row->library[0])
        sk_probe_cache_write(row);
}

void sk_probe_all(bool fresh, sk_probe_row rows[SK_RUNTIME_COUNT])
{
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        sk_probe_one((sk_runtime)i, fresh, &rows[i]);
}

void sk_probe_facts(const sk_probe_row rows[SK_RUNTIME_COUNT], sk_runtime_facts *out)
{
    const sk_probe_row *r = rows;
    *out = (sk_runtime_facts){
        .mps = r[SK_RUNTIME_MPS].available,
        .rocm = r[SK_RUNTIME_ROCM].available || r[SK_RUNTIME_ONNX_ROCM].available,
        /* whatever computed on the device proves the device */
        .cuda = r[SK_RUNTIME_CUDA].available || r[SK_RUNTIME_ONNX_CUDA].available ||
                r[SK_RUNTIME_TENSORRT].available,
        .ort = r[SK_RUNTIME_ONNX_CPU].available || r[SK_RUNTIME_ONNX_CUDA].available ||
               r[SK_RUNTIME_ONNX_ROCM].available,
        .ort_providers_known = true,
        .ort_cpu = r[SK_RUNTIME_ONNX_CPU].available,
        .ort_cuda = r[SK_RUNTIME_ONNX_CUDA].available,
        .ort_rocm = r[SK_RUNTIME_ONNX_ROCM].available,
        .tensorrt = r[SK_RUNTIME_TENSORRT].available,
        .openvino = r[SK_RUNTIME_OPENVINO].available,
        .graph_importable = true,
    };
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        out->failed[i] = !rows[i].available;
        if (out->failed[i])
            snprintf(out->why[i], sizeof out->why[i], "%s", rows[i].reason);
    }
}
