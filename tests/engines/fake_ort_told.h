/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_FAKE_ORT_TOLD_H
#define SK_TESTS_ENGINES_FAKE_ORT_TOLD_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What the library that stands in for ONNX Runtime is told, call by call, in the file that FAKE_ORT_LOG names. */

static inline void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void tell(const char *format, ...)
{
    const char *path = getenv("FAKE_ORT_LOG");
    FILE *file = path ? fopen(path, "a") : NULL;
    va_list args;
    if (!file)
        return;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fprintf(file, "\n");
    fclose(file);
}

static inline void note(const char *what, const char *const *keys, const char *const *values, size_t count)
{
    char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", what);
    for (size_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %s=%s", keys[i], values[i]);
    tell("%s", text);
}

static const char *last = "CPU"; /* provider that was asked for */
static void *answer(void);
static void release(void *thing);

#define SETS_NUMBER(name, words)                                                                             \
    static void *name(void *options, int number)                                                             \
    {                                                                                                        \
        (void)options;                                                                                       \
        tell(words " %d", number);                                                                           \
        return answer();                                                                                     \
    }
SETS_NUMBER(set_severity, "severity")
SETS_NUMBER(set_optimisation, "optimisation")
SETS_NUMBER(set_threads, "threads")
SETS_NUMBER(set_threads_between, "threads between nodes")

#if FAKE == FAKE_OLDER
#define OLDER(name)                                                                                          \
    void *OrtSessionOptionsAppendExecutionProvider_##name(void *options, int number);                        \
    void *OrtSessionOptionsAppendExecutionProvider_##name(void *options, int number)                         \
    {                                                                                                        \
        (void)options;                                                                                       \
        tell(#name ", as before, %d", number);                                                               \
        last = #name "ExecutionProvider";                                                                    \
        return answer();                                                                                     \
    }
OLDER(MIGraphX)
OLDER(ROCM)
OLDER(CoreML)
#endif

static void *set_config(void *options, const char *key, const char *value)
{
    (void)options;
    tell("config %s=%s", key, value);
    return answer();
}

static void *set_run_config(void *options, const char *key, const char *value)
{
    (void)options;
    tell("run config %s=%s", key, value);
    return answer();
}

static void *append_openvino(void *options, const char *const *keys, const char *const *values, size_t count)
{
    (void)options;
    last = "OpenVINOExecutionProvider";
    note("OpenVINO", keys, values, count);
    return answer();
}

#define RELEASES(name, words)                                                                                \
    static void name(void *thing)                                                                            \
    {                                                                                                        \
        tell("ends " words);                                                                                 \
        release(thing);                                                                                      \
    }
RELEASES(end_memory, "memory")
RELEASES(end_session, "a session")
RELEASES(end_run_options, "run options")
RELEASES(end_options, "options")
RELEASES(end_tensorrt_options, "TensorRT's options")
RELEASES(end_cuda_options, "CUDA's options")

#endif
