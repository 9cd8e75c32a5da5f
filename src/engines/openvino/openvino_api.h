/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_OPENVINO_OPENVINO_API_H
#define SK_ENGINES_OPENVINO_OPENVINO_API_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* The part of OpenVINO's C interface that we call, by name. Statuses are 0 or negative. Element types are
 * numbered differently from release to release, so we never name one: a port of the compiled model tells
 * which it has. */

typedef struct ov_core ov_core;
typedef struct ov_model ov_model;
typedef struct ov_compiled ov_compiled;
typedef struct ov_request ov_request;
typedef struct ov_port ov_port;
typedef struct ov_tensor ov_tensor;

typedef struct ov_shape { /* handed over by value */
    int64_t rank;
    int64_t *dims;
} ov_shape;

typedef struct ov_devices {
    char **names;
    size_t count;
} ov_devices;

typedef struct ov_version {
    const char *build;
    const char *description;
} ov_version;

/* name in our struct, symbol, result, arguments */
#define OV_FUNCTIONS(X)                                                                                      \
    X(get_error_info, ov_get_error_info, const char *, (int status))                                         \
    X(get_version, ov_get_openvino_version, int, (ov_version *))                                             \
    X(free_version, ov_version_free, void, (ov_version *))                                                   \
    X(create_core, ov_core_create, int, (ov_core **))                                                        \
    X(read_model, ov_core_read_model_from_memory_buffer, int,                                                \
      (const ov_core *, const char *bytes, size_t length, const ov_tensor *weights, ov_model **))            \
    X(free_model, ov_model_free, void, (ov_model *))                                                         \
    X(compile, ov_core_compile_model, int,                                                                   \
      (const ov_core *, const ov_model *, const char *device, size_t n_texts, ov_compiled **, ...))          \
    X(free_compiled, ov_compiled_model_free, void, (ov_compiled *))                                          \
    X(get_input, ov_compiled_model_input_by_index, int, (const ov_compiled *, size_t, ov_port **))           \
    X(get_output, ov_compiled_model_output_by_index, int, (const ov_compiled *, size_t, ov_port **))         \
    X(free_port, ov_output_const_port_free, void, (ov_port *))                                               \
    X(get_port_type, ov_port_get_element_type, int, (const ov_port *, int *type))                            \
    X(create_request, ov_compiled_model_create_infer_request, int, (const ov_compiled *, ov_request **))     \
    X(free_request, ov_infer_request_free, void, (ov_request *))                                             \
    X(set_input, ov_infer_request_set_input_tensor_by_index, int, (ov_request *, size_t, const ov_tensor *)) \
    X(set_output, ov_infer_request_set_output_tensor_by_index, int,                                          \
      (ov_request *, size_t, const ov_tensor *))                                                             \
    X(infer, ov_infer_request_infer, int, (ov_request *))                                                    \
    X(start, ov_infer_request_start_async, int, (ov_request *))                                              \
    X(finish, ov_infer_request_wait, int, (ov_request *))                                                    \
    X(get_devices, ov_core_get_available_devices, int, (const ov_core *, ov_devices *))                      \
    X(free_devices, ov_available_devices_free, void, (ov_devices *))                                         \
    X(get_compiled_property, ov_compiled_model_get_property, int,                                            \
      (const ov_compiled *, const char *key, char **value))                                                  \
    X(create_tensor_over, ov_tensor_create_from_host_ptr, int, (int type, ov_shape, void *, ov_tensor **))   \
    X(get_tensor_bytes, ov_tensor_get_byte_size, int, (const ov_tensor *, size_t *))                         \
    X(free_tensor, ov_tensor_free, void, (ov_tensor *))

typedef struct ov_api {
#define OV_MEMBER(name, symbol, result, arguments) result(*name) arguments;
    OV_FUNCTIONS(OV_MEMBER)
#undef OV_MEMBER
    /* Not in every release: what exactly went wrong. The text is the caller's, ended by free_text. */
    const char *(*get_last_error)(void);
    void (*free_text)(const char *);
    int (*get_property)(const ov_core *, const char *device, const char *key, char **value);
    ov_core *core;     /* one for the process */
    char devices[256]; /* what it finds: "CPU, GPU.0, NPU" */
    char version[64];
    char path[4096];
} ov_api;

/* The library, loaded by the first call that finds it and kept for the process's life. Any thread. */
sk_status ov_load(const ov_api **out, sk_error *err) SK_MUST_CHECK;

/* SK_OK for 0, else a failure with OpenVINO's own words behind `what`. */
sk_status ov_check(const ov_api *api, int status, const char *what, sk_error *err) SK_MUST_CHECK;

#endif
