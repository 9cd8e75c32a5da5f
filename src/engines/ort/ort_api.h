/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_API_H
#define SK_ENGINES_ORT_ORT_API_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The part of ONNX Runtime's C interface that we call. The library hands out one table of functions; the
 * table only ever grows at its end, so a function is known by its position for good. Those below are all in
 * interface version 17 (library 1.17), whose table ends at position 275. */

typedef struct ort_status ort_status; /* null = success */
typedef struct ort_env ort_env;
typedef struct ort_session ort_session;
typedef struct ort_session_options ort_session_options;
typedef struct ort_memory_info ort_memory_info;
typedef struct ort_value ort_value;
typedef struct ort_binding ort_binding;
typedef struct ort_run_options ort_run_options;
typedef struct ort_cuda_options ort_cuda_options;
typedef struct ort_tensorrt_options ort_tensorrt_options;
typedef struct ort_rocm_options ort_rocm_options;

/* What OrtGetApiBase() returns. */
typedef struct ort_api_base {
    const void *const *(*get_api)(uint32_t version); /* null for a version the library does not have */
    const char *(*get_version)(void); /* "1.31.1": the second number is its interface version */
} ort_api_base;

/* We ask for this version, to which newer libraries still answer; asking for more than a library has makes it
 * print. docs/runtimes.md lists the libraries it was run with. */
#define ORT_INTERFACE 17

enum {
    ORT_LOG_VERBOSE = 0,
    ORT_LOG_ERROR = 3,
    ORT_OPTIMISE_ALL = 99,
    ORT_DEVICE_ALLOCATOR = 0,
    ORT_MEMORY_DEFAULT = 0
};

typedef void (*ort_log_function)(void *param, int severity, const char *category, const char *id,
                                 const char *place, const char *message);

/* Names and values of a provider's options, as many as `count`. */
#define ORT_KEYS const char *const *keys, const char *const *values, size_t count

/* name in our struct, position, result, arguments */
#define ORT_FUNCTIONS(X)                                                                                     \
    X(get_error_message, 2, const char *, (const ort_status *))                                              \
    X(create_env, 4, ort_status *,                                                                           \
      (ort_log_function, void *param, int severity, const char *name, ort_env **))                           \
    X(create_session_from_array, 8, ort_status *,                                                            \
      (const ort_env *, const void *, size_t, const ort_session_options *, ort_session **))                  \
    X(create_session_options, 10, ort_status *, (ort_session_options **))                                    \
    X(set_log_severity, 22, ort_status *, (ort_session_options *, int severity))                             \
    X(set_optimisation, 23, ort_status *, (ort_session_options *, int level))                                \
    X(set_intra_threads, 24, ort_status *, (ort_session_options *, int))                                     \
    X(set_inter_threads, 25, ort_status *, (ort_session_options *, int))                                     \
    X(create_run_options, 39, ort_status *, (ort_run_options **))                                            \
    X(create_tensor_over, 49, ort_status *,                                                                  \
      (const ort_memory_info *, void *, size_t bytes, const int64_t *dims, size_t rank, int type,            \
       ort_value **))                                                                                        \
    X(create_memory_info, 68, ort_status *,                                                                  \
      (const char *name, int allocator, int device, int memory, ort_memory_info **))                         \
    X(create_cpu_memory_info, 69, ort_status *, (int allocator, int memory, ort_memory_info **))             \
    X(release_env, 92, void, (ort_env *))                                                                    \
    X(release_status, 93, void, (ort_status *))                                                              \
    X(release_memory_info, 94, void, (ort_memory_info *))                                                    \
    X(release_session, 95, void, (ort_session *))                                                            \
    X(release_value, 96, void, (ort_value *))                                                                \
    X(release_run_options, 97, void, (ort_run_options *))                                                    \
    X(release_session_options, 100, void, (ort_session_options *))                                           \
    X(get_providers, 125, ort_status *, (char ***names, int *count))                                         \
    X(release_providers, 126, ort_status *, (char **names, int count))                                       \
    X(add_session_config, 130, ort_status *, (ort_session_options *, const char *key, const char *value))    \
    X(run_with_binding, 133, ort_status *, (ort_session *, const ort_run_options *, const ort_binding *))    \
    X(create_binding, 134, ort_status *, (ort_session *, ort_binding **))                                    \
    X(release_binding, 135, void, (ort_binding *))                                                           \
    X(bind_input, 136, ort_status *, (ort_binding *, const char *name, const ort_value *))                   \
    X(bind_output, 137, ort_status *, (ort_binding *, const char *name, const ort_value *))                  \
    X(add_run_config, 165, ort_status *, (ort_run_options *, const char *key, const char *value))            \
    X(append_tensorrt, 170, ort_status *, (ort_session_options *, const ort_tensorrt_options *))             \
    X(create_tensorrt_options, 171, ort_status *, (ort_tensorrt_options **))                                 \
    X(set_tensorrt_options, 172, ort_status *, (ort_tensorrt_options *, ORT_KEYS))                           \
    X(release_tensorrt_options, 174, void, (ort_tensorrt_options *))                                         \
    X(append_cuda, 204, ort_status *, (ort_session_options *, const ort_cuda_options *))                     \
    X(create_cuda_options, 205, ort_status *, (ort_cuda_options **))                                         \
    X(set_cuda_options, 206, ort_status *, (ort_cuda_options *, ORT_KEYS))                                   \
    X(release_cuda_options, 208, void, (ort_cuda_options *))                                                 \
    X(append_by_name, 216, ort_status *, (ort_session_options *, const char *provider, ORT_KEYS))            \
    X(set_cuda_value, 263, ort_status *, (ort_cuda_options *, const char *key, void *value))                 \
    X(append_openvino, 275, ort_status *, (ort_session_options *, ORT_KEYS))

typedef struct ort_api {
#define ORT_MEMBER(name, position, result, arguments) result(*name) arguments;
    ORT_FUNCTIONS(ORT_MEMBER)
#undef ORT_MEMBER
    /* Entry points outside the table, for providers it reaches by structs that changed; null where the library was built
     * without the provider. (options, device or flags) */
    ort_status *(*append_migraphx_old)(ort_session_options *, int device);
    ort_status *(*append_rocm_old)(ort_session_options *, int device);
    ort_status *(*append_coreml_old)(ort_session_options *, uint32_t flags);
    ort_env *env;        /* one for the process */
    char providers[512]; /* what the library was built with: "CPUExecutionProvider, …" */
    char version[64];
    char path[4096];
} ort_api;

/* The library, loaded by the first call that finds it and kept for the process's life. Any thread. */
sk_status ort_load(const ort_api **out, sk_error *err) SK_MUST_CHECK;

/* Ends `status` and puts its text in *err, behind `what`; SK_OK for null. */
sk_status ort_check(const ort_api *api, ort_status *status, const char *what, sk_error *err) SK_MUST_CHECK;

/* --- what the library says while a session is opened (ort_load.c) --- */

/* Messages of this thread go to fn(context, …) until it is set to null; all others go nowhere: what matters comes back as
 * a status. */
void ort_listen(void (*fn)(void *context, const char *message), void *context);

#endif
