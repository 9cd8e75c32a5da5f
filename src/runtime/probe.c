/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/probe.h"

#include "base/child.h"
#include "runtime/trial.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

/* Who is to be probed. */
typedef struct question {
    char engine[64];
} question;

/* --- the child --- */

void sk_probe_serve(int fd, const sk_engine *(*find)(const char *name))
{
    static report r; /* zero; large */
    question asked;
    sk_error err = {0};
    struct rlimit no_core = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &no_core); /* a crash here is an answer, not an accident to keep */
    if (!sk_child_receive(fd, &asked, sizeof asked))
        return;
    asked.engine[sizeof asked.engine - 1] = '\0';
    const sk_engine *engine = find(asked.engine);
    r.magic = MAGIC;
    sk_status status =
        engine ? engine->probe(&r.probe, &err)
               : sk_fail(&err, SK_ERR_NOT_FOUND, "there is no engine '%s' in this program", asked.engine);
    if (status == SK_OK && r.probe.available)
        status = sk_runtime_trial(engine, &err);
    r.ok = status == SK_OK;
    snprintf(r.problem, sizeof r.problem, "%.310s", err.message);
    (void)sk_child_send(fd, &r, sizeof r);
    _exit(0); /* libraries' own endings have nothing to add, and may hang */
}

/* --- the parent --- */

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
    snprintf(row->reason, sizeof row->reason, "%.*s", (int)length, detail);
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
    if (n > 0)
        row->precisions = p->devices[0].precisions;
    if (row->available)
        snprintf(row->reason, sizeof row->reason, "a test convolution ran and was right");
    else if (r->ok)
        explain(p->detail[0] ? p->detail : "its engine says no more", row);
    else
        snprintf(row->reason, sizeof row->reason, "%s%.270s",
                 p->available ? "it is there, but its test run failed: " : "",
                 r->problem[0] ? r->problem : "no reason given");
}

static void take_silence(sk_child_heard how, int code, int64_t limit_ms, sk_probe_row *row)
{
    if (how == SK_CHILD_LATE)
        snprintf(row->reason, sizeof row->reason, "the probe hung and was ended after %.1f s",
                 (double)limit_ms * 1e-3);
    else if (WIFSIGNALED(code))
        snprintf(row->reason, sizeof row->reason, "the probe crashed with signal %d (%s)", WTERMSIG(code),
                 strsignal(WTERMSIG(code)));
    else
        snprintf(row->reason, sizeof row->reason, "the probe's process left without an answer, exit code %d",
                 WEXITSTATUS(code));
    snprintf(row->remedy, sizeof row->remedy, "reinstall or update the runtime's library or driver");
}

void sk_probe_engine(const char *name, int64_t limit_ms, sk_probe_row *row)
{
    static const sk_probe_row empty;
    sk_runtime runtime = row->runtime;
    *row = empty;
    row->runtime = runtime;
    sk_child child;
    sk_error err = {0};
    if (sk_child_start("probe", true, &child, &err) != SK_OK) {
        snprintf(row->reason, sizeof row->reason, "it could not be probed: %.290s", err.message);
        return;
    }
    question asked = {{0}};
    snprintf(asked.engine, sizeof asked.engine, "%s", name);
    report r;
    sk_child_heard how = SK_CHILD_CLOSED;
    if (sk_child_send(child.fd, &asked, sizeof asked))
        how = sk_child_receive_within(child.fd, &r, sizeof r, limit_ms);
    /* one that closed its end is leaving by itself; its code says how */
    int code = how == SK_CHILD_CLOSED ? sk_child_wait(&child) : sk_child_end(&child, how == SK_CHILD_HEARD);
    if (how == SK_CHILD_HEARD && r.magic == MAGIC)
        take_report(&r, row);
    else
        take_silence(how, code, limit_ms, row);
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
    sk_probe_engine(engine->name, limit_ms(), row);
    /* Without the vendor's driver no library helps: that comes first. */
    if (!row->available && (runtime == SK_RUNTIME_ONNX_CUDA || runtime == SK_RUNTIME_ONNX_ROCM))
        (void)sk_probe_machine(runtime, row);
    if (row->available && row->library[0])
        sk_probe_cache_write(row);
}

/* --- all of them, side by side --- */

/* Runtimes that one thread probes, one after another. */
typedef struct turn_taking {
    bool fresh;
    uint32_t members; /* bits */
    sk_probe_row *rows;
} turn_taking;

static void *probe_in_turn(void *context)
{
    const turn_taking *t = context;
    for (int i = 0; i < SK_RUNTIME_COUNT; i++)
        if (t->members & 1u << i)
            sk_probe_one((sk_runtime)i, t->fresh, &t->rows[i]);
    return NULL;
}

uint32_t sk_probe_turns(sk_runtime runtime, bool nvidia_driver, bool amd_driver)
{
    static const uint32_t nvidia =
                              1u << SK_RUNTIME_CUDA | 1u << SK_RUNTIME_ONNX_CUDA | 1u << SK_RUNTIME_TENSORRT,
                          amd = 1u << SK_RUNTIME_ROCM | 1u << SK_RUNTIME_ONNX_ROCM;
    const uint32_t own = 1u << runtime;
    if (own & nvidia)
        return nvidia_driver ? nvidia : own;
    return own & amd && amd_driver ? amd : own;
}

void sk_probe_all(bool fresh, sk_probe_row rows[SK_RUNTIME_COUNT])
{
    turn_taking parts[SK_RUNTIME_COUNT];
    pthread_t threads[SK_RUNTIME_COUNT];
    bool started[SK_RUNTIME_COUNT];
    int n = 0;
    uint32_t taken = 0;
    sk_probe_row unused = {0};
    const bool nvidia = sk_probe_machine(SK_RUNTIME_CUDA, &unused),
               amd = sk_probe_machine(SK_RUNTIME_ROCM, &unused);
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        (void)sk_engine_find(sk_runtime_name((sk_runtime)i)); /* plugins are looked for here, once */
        if (taken & 1u << i)
            continue;
        parts[n] = (turn_taking){
            .fresh = fresh, .members = sk_probe_turns((sk_runtime)i, nvidia, amd), .rows = rows};
        taken |= parts[n++].members;
    }
    for (int i = 0; i < n; i++)
        started[i] = pthread_create(&threads[i], NULL, probe_in_turn, &parts[i]) == 0;
    for (int i = 0; i < n; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            (void)probe_in_turn(&parts[i]);
    }
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
