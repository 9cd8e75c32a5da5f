/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands in for OpenVINO's C library: computes one convolution, writes down how it was asked to compile, and fails where it is told to. */

/* Declares a function of the library and begins it. */
#define OV(result, name, arguments)                                                                          \
    result name arguments;                                                                                   \
    result name arguments

extern int fake_ov_calls, fake_ov_fails_at, fake_ov_held, fake_ov_more_bytes, fake_ov_waits;
extern char fake_ov_compiled[1024];
extern const char *fake_ov_capabilities, *fake_ov_precision, *fake_ov_runs_on;

int fake_ov_calls, fake_ov_fails_at,
    fake_ov_held;            /* calls that may fail; the one that does; made and not freed */
char fake_ov_compiled[1024]; /* "DEVICE key=value key=value" */
const char *fake_ov_capabilities = "FP32 FP16 INT8", *fake_ov_precision, *fake_ov_runs_on = "CPU";
int fake_ov_more_bytes; /* that a tensor says it has */
int fake_ov_waits;

typedef struct tensor {
    float *data;
    size_t bytes;
} tensor;

typedef struct request {
    const tensor *input, *output;
    int started;
} request;

typedef struct version {
    const char *build, *description;
} version;

typedef struct devices {
    char **names;
    size_t count;
} devices;

typedef struct shape {
    int64_t rank;
    int64_t *dims;
} shape;

static int answer(void)
{
    return ++fake_ov_calls == fake_ov_fails_at ? -3 : 0;
}

static int make(void **out, size_t bytes)
{
    const int status = answer();
    *out = status ? NULL : calloc(1, bytes);
    fake_ov_held += !status;
    return status;
}

static void drop(void *thing)
{
    fake_ov_held -= thing != NULL;
    free(thing);
}

static char *copy_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static int text_of(const char *text, char **out)
{
    const int status = answer();
    *out = status || !text ? NULL : copy_of(text);
    fake_ov_held += *out != NULL;
    return status;
}

OV(const char *, ov_get_error_info, (int status))
{
    return status == -3 ? "the fake fails" : "?";
}

OV(const char *, ov_get_last_err_msg, (void))
{
    fake_ov_held++;
    return copy_of("as it was told to");
}

OV(void, ov_free, (const char *text))
{
    drop((void *)(uintptr_t)text);
}

OV(int, ov_get_openvino_version, (version * v))
{
    *v = (version){copy_of("2031.4.0-77-x"), NULL};
    return 0;
}

OV(void, ov_version_free, (version * v))
{
    free((void *)(uintptr_t)v->build);
}

OV(int, ov_core_create, (void **core))
{
    static int one;
    *core = &one;
    return 0;
}

OV(int, ov_core_get_available_devices, (const void *core, devices *d))
{
    static char *names[] = {"CPU", "GPU.0"};
    (void)core;
    *d = (devices){names, 2};
    return 0;
}

OV(void, ov_available_devices_free, (devices * d))
{
    *d = (devices){0};
}

OV(int, ov_core_get_property, (const void *core, const char *device, const char *key, char **value))
{
    (void)core, (void)device;
    return strcmp(key, "OPTIMIZATION_CAPABILITIES") == 0 ? text_of(fake_ov_capabilities, value) : -3;
}

OV(int, ov_core_read_model_from_memory_buffer,
   (const void *core, const char *bytes, size_t length, const void *weights, void **model))
{
    (void)core, (void)weights;
    return bytes && length > 100 ? make(model, 1) : -3;
}

OV(void, ov_model_free, (void *model))
{
    drop(model);
}

OV(int, ov_core_compile_model,
   (const void *core, const void *model, const char *device, size_t n, void **compiled, ...))
{
    va_list args;
    (void)core, (void)model;
    snprintf(fake_ov_compiled, sizeof fake_ov_compiled, "%s", device);
    va_start(args, compiled);
    for (size_t i = 0; i < n; i++)
        snprintf(fake_ov_compiled + strlen(fake_ov_compiled),
                 sizeof fake_ov_compiled - strlen(fake_ov_compiled), "%s%s", i % 2 ? "=" : " ",
                 va_arg(args, const char *));
    va_end(args);
    return make(compiled, 1);
}

OV(void, ov_compiled_model_free, (void *compiled))
{
    drop(compiled);
}

OV(int, ov_compiled_model_get_property, (const void *compiled, const char *key, char **value))
{
    (void)compiled;
    return text_of(strcmp(key, "EXECUTION_DEVICES") == 0 ? fake_ov_runs_on : fake_ov_precision, value);
}

OV(int, ov_compiled_model_input_by_index, (const void *compiled, size_t index, void **port))
{
    (void)compiled;
    return index == 0 ? make(port, 1) : -3;
}

OV(int, ov_compiled_model_output_by_index, (const void *compiled, size_t index, void **port))
{
    (void)compiled;
    return index == 0 ? make(port, 1) : -3;
}

OV(void, ov_output_const_port_free, (void *port))
{
    drop(port);
}

OV(int, ov_port_get_element_type, (const void *port, int *type))
{
    (void)port;
    *type = 7;
    return answer();
}

OV(int, ov_tensor_create_from_host_ptr, (int type, shape s, void *data, tensor **out))
{
    if (type != 7)
        return -3;
    const int status = make((void **)out, sizeof **out);
    if (status)
        return status;
    **out = (tensor){data, sizeof(float)};
    for (int64_t i = 0; i < s.rank; i++)
        (*out)->bytes *= (size_t)s.dims[i];
    return 0;
}

OV(int, ov_tensor_get_byte_size, (const tensor *t, size_t *bytes))
{
    *bytes = t->bytes + (size_t)fake_ov_more_bytes;
    return answer();
}

OV(void, ov_tensor_free, (tensor * t))
{
    drop(t);
}

OV(int, ov_compiled_model_create_infer_request, (const void *compiled, request **out))
{
    (void)compiled;
    return make((void **)out, sizeof **out);
}

OV(void, ov_infer_request_free, (request * r))
{
    drop(r);
}

OV(int, ov_infer_request_set_input_tensor_by_index, (request * r, size_t index, const tensor *t))
{
    r->input = t;
    return index == 0 ? answer() : -3;
}

OV(int, ov_infer_request_set_output_tensor_by_index, (request * r, size_t index, const tensor *t))
{
    r->output = t;
    return index == 0 ? answer() : -3;
}

/* 4 x 4, sums of 3 x 3 with zeros around, and a half. */
OV(int, ov_infer_request_infer, (request * r))
{
    if (!r->input || !r->output || r->input->bytes != 64 || r->output->bytes != 64)
        return -3;
    for (int i = 0; i < 16; i++) {
        float sum = 0.5f;
        for (int y = i / 4 - 1; y <= i / 4 + 1; y++)
            for (int x = i % 4 - 1; x <= i % 4 + 1; x++)
                sum += y >= 0 && y < 4 && x >= 0 && x < 4 ? r->input->data[4 * y + x] : 0;
        r->output->data[i] = sum;
    }
    return answer();
}

OV(int, ov_infer_request_start_async, (request * r))
{
    r->started = 1;
    return answer();
}

OV(int, ov_infer_request_wait, (request * r))
{
    fake_ov_waits++;
    if (!r->started)
        return -3;
    r->started = 0;
    return ov_infer_request_infer(r);
}
