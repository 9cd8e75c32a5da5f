/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A library that is wrong in the way FAKE says, in place of ONNX Runtime. Its table has functions at the
 * positions of the real one. */
#define FAKE_EMPTY    0 /* lacks the entry point */
#define FAKE_NO_BASE  1 /* the entry point gives nothing */
#define FAKE_NO_TABLE 2 /* no interface of any version */
#define FAKE_OLD      3 /* version 1.4.0 */
#define FAKE_REFUSES  4 /* the first call fails with a text */
#define FAKE_HOLES    5 /* a table without functions */
#define FAKE_IDLE     6 /* everything succeeds and nothing is done */
#define FAKE_PROVIDES 7 /* has every provider, and writes down how it is asked for them */
#define FAKE_CRASHES  8 /* the driver below it does */
#define FAKE_HANGS    9
#define FAKE_DEVICE                                                                                          \
    10 /* computes one convolution, and copies inputs from the host when they are bound, as devices do */
#define FAKE_LACKS 11 /* its CUDA provider's library needs cuBLAS of CUDA 12 */
#define FAKE_OLDER 12 /* a device's, with entry points of their own for some providers, as libraries had */

#if FAKE != FAKE_EMPTY
#include "fake_ort_told.h"

typedef void (*any_function)(void);

/* Calls that may fail, so far; the one that does; things that were made and not released; and statuses. */
int fake_ort_calls, fake_ort_fails_at, fake_ort_held, fake_ort_statuses;

static void *refuse(void)
{
    static int status;
    fake_ort_statuses++;
    return &status;
}

static void end_status(void *status)
{
    fake_ort_statuses -= status != NULL;
}

static void *answer(void)
{
    return ++fake_ort_calls == fake_ort_fails_at ? refuse() : NULL;
}

/* Where something is made: not when the call fails. */
static void *made_by(void *answered)
{
    fake_ort_held += !answered;
    return answered;
}

static void *succeed(void)
{
    return answer();
}

static void release(void *thing)
{
    fake_ort_held -= thing != NULL;
}

static void *make_second(const void *a, const void **made) /* f(x, **out) */
{
    static int something;
    (void)a;
    *made = &something;
    return NULL;
}

static const char *message(const void *status)
{
    const char *given = getenv("FAKE_ORT_SAYS");
    (void)status;
    return given ? given : "the fake does not want to";
}

static any_function table[300];

/* --- providers --- */

typedef void (*log_function)(void *, int, const char *, const char *, const char *, const char *);
static log_function say;

static void *keep_log(log_function fn, void *param, int severity, const char *name, const void **env)
{
    static int something;
    (void)param;
    (void)severity;
    (void)name;
    say = fn;
    *env = &something;
    return NULL;
}

static void *end_list(char **names, int count)
{
    (void)names;
    tell("ends a list of %d", count);
    return answer();
}

static void *list(char ***names, int *count)
{
    static char *all[] = {"TensorrtExecutionProvider", "CUDAExecutionProvider", "MIGraphXExecutionProvider",
                          "ROCMExecutionProvider",     "CPUExecutionProvider",  "OpenVINOExecutionProvider",
                          "CoreMLExecutionProvider"};
    void *answered = answer();
    *names = answered ? NULL : all;
    *count = FAKE == FAKE_OLDER ? 7 : 5;
    return answered;
}

static void *make_first(const void **made)
{
    static int something;
    void *answered = made_by(answer());
    *made = answered ? NULL : &something;
    return answered;
}

static void *set_options(const void *options, const char *const *keys, const char *const *values,
                         size_t count)
{
    (void)options;
    note("options", keys, values, count);
    for (size_t i = 0; i < count; i++) /* as a library from before that option */
        if (strcmp(keys[i], "use_tf32") == 0 && getenv("FAKE_ORT_OLD"))
            return refuse();
    return answer();
}

static void *append_cuda(void *options, const void *cuda)
{
    (void)options;
    (void)cuda;
    last = last[0] == 'T' ? last : "CUDAExecutionProvider";
    note("CUDA", NULL, NULL, 0);
    return answer();
}

static void *set_value(void *options, const char *key, const void *value)
{
    char text[32];
    const char *texts = text;
    (void)options;
    snprintf(text, sizeof text, "%zu", (size_t)(uintptr_t)value);
    note("value", &key, &texts, 1);
    return answer();
}

static void *append_tensorrt(void *options, const void *rt)
{
    (void)options;
    (void)rt;
    last = "TensorrtExecutionProvider";
    note("TensorRT", NULL, NULL, 0);
    return answer();
}

static void *append_by_name(void *options, const char *name, const char *const *keys,
                            const char *const *values, size_t count)
{
    (void)options;
    last = strcmp(name, "MIGraphX") == 0 ? "MIGraphXExecutionProvider" : "ROCMExecutionProvider";
    note(name, keys, values, count);
    return answer();
}

static void *open_session(const void *env, const void *bytes, size_t length, const void *options,
                          const void **made)
{
    static int something;
    char text[128];
    (void)env;
    (void)bytes;
    (void)length;
    (void)options;
    if (FAKE == FAKE_CRASHES)
        abort();
    tell("a session");
    while (FAKE == FAKE_HANGS)
        pause();
    snprintf(text, sizeof text, " Node(s) placed on [%s]. Number of nodes: 7", last);
    if (say) {
        say(NULL, 0, "", "", "", "Node placements");
        say(NULL, 0, "", "", "", " Node(s) placed on [CPUExecutionProvider]. Number of nodes: 3");
        say(NULL, 0, "", "", "", "  Resize (up1)");
        say(NULL, 0, "", "", "", "  TopK (best)");
        say(NULL, 0, "", "", "", "  Resize (up2)");
        if (!getenv("FAKE_ORT_NOTHING_THERE")) {
            say(NULL, 0, "", "", "", text);
            say(NULL, 0, "", "", "", "  Conv (first)");
        }
    }
    void *answered = made_by(answer());
    *made = answered ? NULL : &something;
    return answered;
}

/* --- a device --- */

typedef struct value {
    float *data;
    size_t bytes;
    int on_device;
} value;

typedef struct binding {
    value input, output;
    int owned; /* the input is a copy */
} binding;

static char host_memory, device_memory;

static void *host_info(int allocator, int memory, const void **made)
{
    tell("memory of the host %d %d", allocator, memory);
    void *answered = made_by(answer());
    *made = answered ? NULL : &host_memory;
    return answered;
}

static void *device_info(const char *name, int allocator, int device, int memory, const void **made)
{
    tell("memory of %s %d device %d %d", name, allocator, device, memory);
    void *answered = made_by(strcmp(name, "Cuda") == 0 ? answer() : refuse());
    *made = answered ? NULL : &device_memory;
    return answered;
}

static void *wrap(const void *info, void *data, size_t bytes, const int64_t *dims, size_t rank, int type,
                  value **made)
{
    char text[128] = "";
    for (size_t i = 0, used = 0; i < rank && i < 8; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %lld", (long long)dims[i]);
    tell("value on the %s of %zu bytes type %d:%s", info == &device_memory ? "device" : "host", bytes, type,
         text);
    void *answered = made_by(answer());
    *made = answered ? NULL : calloc(1, sizeof **made);
    if (*made)
        **made = (value){data, bytes, info == &device_memory};
    return answered;
}

static void *new_binding(void *session, binding **made)
{
    (void)session;
    void *answered = made_by(answer());
    *made = answered ? NULL : calloc(1, sizeof **made);
    return answered;
}

static void end_value(value *v)
{
    release(v);
    free(v);
}

static void drop_copy(binding *b)
{
    if (b->owned)
        free(b->input.data);
    b->owned = 0;
}

static void end_binding(binding *b)
{
    drop_copy(b);
    release(b);
    free(b);
}

/* On a device, as the provider that was asked for last does? */
static int computes_apart(void)
{
    return strcmp(last, "CPU") != 0 && strncmp(last, "OpenVINO", 8) != 0 && strncmp(last, "CoreML", 6) != 0;
}

static void *bind_in(binding *b, const char *name, const value *v)
{
    tell("binds input %s", name);
    drop_copy(b);
    b->input = *v;
    if (!v->on_device && computes_apart()) {
        b->input.data = malloc(v->bytes);
        memcpy(b->input.data, v->data, v->bytes);
        b->owned = 1;
    }
    return answer();
}

static void *bind_out(binding *b, const char *name, const value *v)
{
    tell("binds output %s", name);
    b->output = *v;
    return answer();
}

/* 4 x 4, sums of 3 x 3 with zeros around, and a half: what a runtime is tried with. */
static void *convolve(void *session, const void *options, binding *b)
{
    (void)session;
    tell("runs with%s options", options ? "" : "out");
    if (b->input.bytes != 16 * sizeof(float) || b->output.bytes != 16 * sizeof(float))
        return refuse();
    for (int i = 0; i < 16; i++) {
        float sum = 0.5f;
        for (int y = i / 4 - 1; y <= i / 4 + 1; y++)
            for (int x = i % 4 - 1; x <= i % 4 + 1; x++)
                sum += y >= 0 && y < 4 && x >= 0 && x < 4 ? b->input.data[4 * y + x] : 0;
        b->output.data[i] = sum;
    }
    return answer();
}

static void *lack(void *options, const void *cuda)
{
    (void)options;
    (void)cuda;
    tell("CUDA, which lacks a library");
    say(NULL, 3, "", "", "",
        "Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open "
        "shared "
        "object file: No such file or directory");
    return refuse();
}

static const void *get_api(uint32_t version)
{
    if (FAKE == FAKE_NO_TABLE || version > 25)
        return NULL;
    for (int i = 0; FAKE != FAKE_HOLES && i < 300; i++)
        table[i] = (any_function)succeed;
    if (FAKE != FAKE_HOLES) {
        table[2] = (any_function)message;
        table[93] = (any_function)end_status;
        table[134] = (any_function)make_second;
    }
    if (FAKE >= FAKE_PROVIDES) {
        table[4] = (any_function)keep_log;
        table[8] = (any_function)open_session;
    }
    if (FAKE == FAKE_DEVICE || FAKE == FAKE_OLDER) {
        table[22] = (any_function)set_severity;
        table[23] = (any_function)set_optimisation;
        table[24] = (any_function)set_threads;
        table[25] = (any_function)set_threads_between;
        table[94] = (any_function)end_memory;
        table[95] = (any_function)end_session;
        table[97] = (any_function)end_run_options;
        table[100] = (any_function)end_options;
        table[126] = (any_function)end_list;
        table[130] = (any_function)set_config;
        table[165] = (any_function)set_run_config;
        table[174] = (any_function)end_tensorrt_options;
        table[208] = (any_function)end_cuda_options;
        table[275] = (any_function)append_openvino;
        table[10] = (any_function)make_first;
        table[39] = (any_function)make_first;
        table[49] = (any_function)wrap;
        table[68] = (any_function)device_info;
        table[69] = (any_function)host_info;
        table[96] = (any_function)end_value;
        table[133] = (any_function)convolve;
        table[134] = (any_function)new_binding;
        table[135] = (any_function)end_binding;
        table[136] = (any_function)bind_in;
        table[137] = (any_function)bind_out;
    }
    if (FAKE == FAKE_PROVIDES || FAKE == FAKE_DEVICE || FAKE == FAKE_LACKS || FAKE == FAKE_OLDER) {
        table[125] = (any_function)list;
        table[170] = (any_function)append_tensorrt;
        table[171] = (any_function)make_first;
        table[172] = (any_function)set_options;
        table[204] = (any_function)append_cuda;
        table[205] = (any_function)make_first;
        table[206] = (any_function)set_options;
        table[216] = (any_function)append_by_name;
        table[263] = (any_function)set_value;
    }
    if (FAKE == FAKE_LACKS)
        table[204] = (any_function)lack;
    if (FAKE == FAKE_REFUSES)
        table[4] = (any_function)refuse;
    return table;
}

static const char *get_version(void)
{
    const char *given = getenv("FAKE_ORT_VERSION");
    return given ? given : FAKE == FAKE_OLD ? "1.4.0" : "1.25.0";
}

struct base {
    const void *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

const struct base *OrtGetApiBase(void);
const struct base *OrtGetApiBase(void)
{
    static const struct base base = {get_api, get_version};
    return FAKE == FAKE_NO_BASE ? NULL : &base;
}
#else
int fake_ort_is_empty;
#endif
