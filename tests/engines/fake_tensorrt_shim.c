/* SPDX-License-Identifier: Apache-2.0 */
/* In place of TensorRT: a "plan" is the ONNX file behind four letters, and runs on the reference executor. With the
 * engine's own C it makes a plugin that needs no GPU. FAKE_TRT_ARCH and FAKE_TRT_VERSION say what it claims to be. */
#include "engines/tensorrt/tensorrt_shim.h"

#include "base/memory.h"
#include "engines/engine.h"
#include "models/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *or_else(const char *variable, const char *value)
{
    const char *said = getenv(variable);
    return said && said[0] ? said : value;
}

sk_status trt_load(char version[64], char path[4096], sk_error *err)
{
    (void)err;
    snprintf(version, 64, "%s", or_else("FAKE_TRT_VERSION", "10.3.0"));
    snprintf(path, 4096, "/nowhere/libnvinfer.so.10");
    return SK_OK;
}

sk_status trt_device(int32_t device, char *architecture, size_t capacity, char *name, size_t name_capacity,
                     uint64_t *memory, sk_error *err)
{
    if (device != 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "device %d: there is 1 NVIDIA device", device);
    snprintf(architecture, capacity, "%s", or_else("FAKE_TRT_ARCH", "sm_90"));
    snprintf(name, name_capacity, "a GPU of paper");
    *memory = 1;
    return SK_OK;
}

sk_status trt_build(const void *onnx, size_t length, const trt_build_settings *s, uint8_t **plan,
                    size_t *plan_length, sk_error *err)
{
    if (s->int8 && !s->calibration)
        return sk_fail(err, SK_ERR_ARG, "int8 needs pictures to calibrate with");
    if (s->progress)
        s->progress(s->context, 0.5);
    *plan_length = length + 4;
    *plan = sk_malloc(*plan_length);
    if (!*plan)
        return sk_fail_memory(err, *plan_length);
    memcpy(*plan, "ftrt", 4);
    memcpy(*plan + 4, onnx, length);
    return SK_OK;
}

enum { ENDS = 16, SLOTS = SK_SESSION_MAX_SLOTS };

struct trt_session {
    sk_model *model;
    sk_session *session;
    int32_t slots, n_outputs, pending;
    sk_shape input;
    void *host_in[SLOTS], *host_out[ENDS][SLOTS];
    size_t out_bytes[ENDS];
    int32_t order[ENDS]; /* of the model's outputs */
};

void trt_close(trt_session **session)
{
    trt_session *s = *session;
    *session = NULL;
    if (!s)
        return;
    sk_session_close(&s->session);
    sk_model_close(&s->model);
    for (int k = 0; k < SLOTS; k++) {
        sk_free(s->host_in[k]);
        for (int i = 0; i < ENDS; i++)
            sk_free(s->host_out[i][k]);
    }
    sk_free(s);
}

sk_status trt_open(const void *plan, size_t length, int32_t device, int32_t slots, trt_session **out,
                   sk_error *err)
{
    char path[] = "/tmp/fake_plan_XXXXXX";
    (void)device;
    *out = NULL;
    if (length < 4 || memcmp(plan, "ftrt", 4) != 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "TensorRT cannot use this engine file");
    trt_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    int file = mkstemp(path);
    bool written = file >= 0 && write(file, (const char *)plan + 4, length - 4) == (ssize_t)(length - 4);
    if (file >= 0)
        close(file);
    s->slots = slots;
    sk_status status = written ? sk_model_open(path, &s->model, err) : sk_fail(err, SK_ERR_IO, "%s", path);
    unlink(path);
    if (status != SK_OK)
        trt_close(&s);
    *out = s;
    return status;
}

sk_status trt_bind(trt_session *s, const char *name, bool output, const int64_t *dims, int32_t rank,
                   void **host, sk_error *err)
{
    size_t bytes = sizeof(float);
    sk_shape shape = {.rank = rank};
    for (int32_t d = 0; d < rank; d++) {
        shape.dim[d] = dims[d];
        bytes *= (size_t)dims[d];
    }
    if (!output) {
        sk_session_settings settings = sk_session_defaults();
        s->input = shape;
        SK_TRY(
            sk_session_open(&sk_engine_reference, s->model->graph, &shape, 1, &settings, &s->session, err));
    }
    int32_t found = -1;
    const sk_session_info *info = sk_session_about(s->session);
    for (int32_t i = 0; output && i < info->n_outputs; i++)
        if (strcmp(info->output_names[i], name) == 0 || strcmp(s->model->outputs[i].name, name) == 0)
            found = i;
    if (output && (found < 0 || !sk_shape_equal(&info->outputs[found].shape, &shape)))
        return sk_fail(err, SK_ERR_MISMATCH, "the engine has no output '%s' of that shape", name);
    for (int32_t k = 0; k < s->slots; k++) {
        host[k] = sk_calloc(1, bytes);
        if (!host[k])
            return sk_fail_memory(err, bytes);
        if (output)
            s->host_out[s->n_outputs][k] = host[k];
        else
            s->host_in[k] = host[k];
    }
    if (output) {
        s->order[s->n_outputs] = found;
        s->out_bytes[s->n_outputs++] = bytes;
    }
    return SK_OK;
}

sk_status trt_submit(trt_session *s, int32_t slot, sk_error *err)
{
    (void)s;
    (void)slot;
    (void)err;
    return SK_OK; /* the work is done when somebody waits for it: nobody may touch the input before */
}

sk_status trt_wait(trt_session *s, int32_t slot, sk_error *err)
{
    sk_session_input in = {.data = s->host_in[slot]};
    sk_tensor out[SK_SESSION_MAX_OUTPUTS];
    SK_TRY(sk_session_run(s->session, &in, 1, out, SK_SESSION_MAX_OUTPUTS, err));
    for (int32_t i = 0; i < s->n_outputs; i++)
        memcpy(s->host_out[i][slot], out[s->order[i]].data, s->out_bytes[i]);
    return SK_OK;
}
