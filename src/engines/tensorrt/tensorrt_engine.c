/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "engines/engine_header.h"
#include "engines/foreign/foreign.h"
#include "engines/tensorrt/tensorrt_shim.h"
#include "engines/tensorrt/tensorrt_engine.h"
#include "formats/npy.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* TensorRT on NVIDIA GPUs. A model becomes a plan once (minutes), kept as an engine file; a session runs a plan. Slots are
 * asynchronous: each has a stream of its own, on which its upload, run and download follow each other. */

typedef struct trt_engine_session {
    sk_session base;
    trt_session *trt;
    int32_t n_inputs, n_outputs;
    bool pictures[SK_SESSION_MAX_INPUTS];
    sk_tensor inputs[SK_SESSION_MAX_INPUTS]; /* type and shape */
    void *host_in[SK_SESSION_MAX_INPUTS][SK_SESSION_MAX_SLOTS];
    void *host_out[SK_SESSION_MAX_OUTPUTS][SK_SESSION_MAX_SLOTS];
} trt_engine_session;

/* --- building --- */

/* Timings of one device and version, in the cache folder; null when nothing is to be kept. */
static char *timing_file(const sk_session_settings *settings, const char *architecture, const char *version)
{
    char name[160], *root = NULL, *folder = NULL, *file = NULL;
    snprintf(name, sizeof name, "%s-%s.timings", architecture, version);
    if (settings->cache_dir)
        root = settings->cache_dir[0] ? sk_strdup(settings->cache_dir) : NULL;
    else if (sk_folder_cache(&root, NULL) != SK_OK)
        root = NULL;
    folder = root ? sk_path_join(root, "tensorrt") : NULL;
    if (folder && sk_folder_make(folder, NULL) == SK_OK)
        file = sk_path_join(folder, name);
    sk_free(folder);
    sk_free(root);
    return file;
}

static sk_status read_calibration(sk_tensor *out, sk_error *err)
{
    const char *path = getenv("SKITTER_TENSORRT_CALIBRATION");
    if (!path || !path[0])
        return SK_OK; /* the build says what is missing */
    SK_TRY(sk_npy_read(path, (size_t)8 << 30, out, err));
    if (out->dtype == SK_DTYPE_F32 && out->shape.rank == 4)
        return SK_OK;
    return sk_fail(err, SK_ERR_MISMATCH,
                   "%s: calibration pictures are float32 [pictures][channels][height][width]", path);
}

static sk_status trt_form_build(const void *onnx, size_t length, int32_t batch, const char *metadata,
                                const sk_session_settings *settings,
                                void (*progress)(void *context, double part), void *context, uint8_t **out,
                                size_t *out_length, sk_error *err)
{
    char version[64], path[4096], architecture[64], name[128], *timings = NULL;
    uint64_t memory = 0;
    uint8_t *plan = NULL;
    size_t plan_length = 0;
    sk_tensor pictures = {0};
    sk_status status;
    SK_TRY_GOTO(trt_load(version, path, err));
    SK_TRY_GOTO(
        trt_device(settings->device, architecture, sizeof architecture, name, sizeof name, &memory, err));
    timings = timing_file(settings, architecture, version);
    trt_build_settings s = {.device = settings->device,
                            .batch = batch,
                            .tf32 = settings->precision != SK_PRECISION_F32,
                            .int8 = settings->precision == SK_PRECISION_I8,
                            .timing_cache = timings,
                            .progress = progress,
                            .context = context};
    if (s.int8)
        SK_TRY_GOTO(read_calibration(&pictures, err));
    s.calibration = pictures.data;
    s.calibration_pictures = pictures.data ? pictures.shape.dim[0] : 0;
    SK_TRY_GOTO(trt_build(onnx, length, &s, &plan, &plan_length, err));
    status = sk_engine_header_join(metadata, plan, plan_length, out, out_length, err);
done:
    sk_free_all(pictures.data, plan, timings);
    return status;
}

static sk_status trt_form_architecture(const sk_session_settings *settings, char *text, size_t capacity,
                                       sk_error *err)
{
    char name[128];
    uint64_t memory = 0;
    return trt_device(settings->device, text, capacity, name, sizeof name, &memory, err);
}

static const sk_engine_form form = {.name = "tensorrt",
                                    .extension = ".engine",
                                    .folder_extension = ".tensorrt",
                                    .file = "model.engine",
                                    .build = trt_form_build,
                                    .architecture = trt_form_architecture};

/* --- sessions --- */

static sk_status trt_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    if (settings->precision == SK_PRECISION_BF16)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "tensorrt: runs in f32, f16 or i8, not in bf16");
    for (int32_t i = 0; i < graph->n_inputs + graph->n_outputs; i++) {
        bool output = i >= graph->n_inputs;
        const sk_value_info *v =
            &graph->values[output ? graph->outputs[i - graph->n_inputs] : graph->inputs[i]];
        if (v->dtype != SK_DTYPE_F32 || !sk_shape_known(&v->shape))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "tensorrt: %s %s must be float32 and of a known size",
                           output ? "output" : "input", v->name);
    }
    return SK_OK;
}

static void trt_engine_close(sk_session *session)
{
    trt_engine_session *s = (trt_engine_session *)session;
    trt_close(&s->trt);
    sk_free(s);
}

/* Without an artifact (the probe, raw heads): built for this session alone. */
static sk_status build_now(const sk_graph *graph, const sk_session_settings *settings, uint8_t **plan,
                           size_t *length, sk_error *err)
{
    uint8_t *onnx = NULL;
    size_t onnx_length = 0;
    if (settings->precision == SK_PRECISION_F16)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "tensorrt: raw heads and models without an engine file run in f32 only; set precision to f32");
    SK_TRY(sk_foreign_onnx(graph, SK_PRECISION_F32, &onnx, &onnx_length, err));
    trt_build_settings s = {.device = settings->device, .batch = 1};
    sk_status status = trt_build(onnx, onnx_length, &s, plan, length, err);
    sk_free(onnx);
    return status;
}

static sk_status bind_ends(trt_engine_session *s, const sk_graph *graph, const sk_session_settings *settings,
                           sk_error *err)
{
    const sk_session_artifact *a = settings->artifact;
    char buffer[SK_FOREIGN_NAME];
    sk_session_info *info = &s->base.info;
    for (int32_t i = 0; i < graph->n_inputs; i++) {
        const sk_value_info *v = &graph->values[graph->inputs[i]];
        const char *name = a ? a->input_names[i] : sk_foreign_name(false, i, buffer);
        s->inputs[i] = (sk_tensor){.dtype = v->dtype, .shape = v->shape};
        s->pictures[i] = settings->input == SK_INPUT_U8_HWC && v->shape.rank == 4;
        SK_TRY(trt_bind(s->trt, name, false, v->shape.dim, v->shape.rank, s->host_in[i], err));
        info->activation_bytes += sk_tensor_bytes(&s->inputs[i]) * (size_t)settings->slots;
    }
    for (int32_t i = 0; i < graph->n_outputs; i++) {
        const sk_value_info *v = &graph->values[graph->outputs[i]];
        const char *name = a ? a->output_names[i] : sk_foreign_name(true, i, buffer);
        SK_TRY(trt_bind(s->trt, name, true, v->shape.dim, v->shape.rank, s->host_out[i], err));
        info->outputs[i].data = s->host_out[i][0];
    }
    s->n_inputs = graph->n_inputs;
    s->n_outputs = graph->n_outputs;
    return SK_OK;
}

static sk_status trt_engine_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                                 sk_error *err)
{
    char version[64], path[4096];
    uint8_t *built = NULL;
    size_t length = 0, begin = 0, end = 0;
    SK_TRY(trt_load(version, path, err));
    trt_engine_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_status status;
    const uint8_t *plan = NULL;
    if (settings->artifact) {
        plan = settings->artifact->bytes;
        length = settings->artifact->length;
        if (sk_engine_header_find(plan, length, &begin, &end)) {
            plan += end;
            length -= end;
        }
    } else {
        SK_TRY_GOTO(build_now(graph, settings, &built, &length, err));
        plan = built;
    }
    SK_TRY_GOTO(trt_open(plan, length, settings->device, settings->slots, &s->trt, err));
    SK_TRY_GOTO(bind_ends(s, graph, settings, err));
    s->base.info.asynchronous = 1;
    s->base.info.weight_bytes = (size_t)sk_graph_parameters(graph) * sizeof(float);
    snprintf(s->base.info.detail, sizeof s->base.info.detail, "TensorRT %s, %s", version,
             sk_precision_name(settings->precision));
done:
    sk_free(built);
    if (status == SK_OK)
        *out = &s->base;
    else
        trt_engine_close(&s->base);
    return status;
}

static sk_status trt_engine_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                                   sk_error *err)
{
    trt_engine_session *s = (trt_engine_session *)session;
    for (int32_t i = 0; i < s->n_inputs; i++)
        if (s->pictures[i])
            sk_input_unpack_u8(&inputs[i], &session->settings, &s->inputs[i].shape, s->host_in[i][slot]);
        else
            memcpy(s->host_in[i][slot], inputs[i].data, sk_tensor_bytes(&s->inputs[i]));
    return trt_submit(s->trt, slot, err);
}

static sk_status trt_engine_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    trt_engine_session *s = (trt_engine_session *)session;
    for (int32_t i = 0; i < s->n_outputs; i++)
        outputs[i] = s->host_out[i][slot];
    return trt_wait(s->trt, slot, err);
}

static sk_status trt_probe(sk_engine_probe *out, sk_error *err)
{
    static atomic_int works; /* once is enough: a build, even of one convolution, takes seconds */
    char path[4096] = "", architecture[64];
    sk_error found = {0};
    (void)err;
    *out = (sk_engine_probe){0};
    sk_engine_device *d = &out->devices[0];
    sk_status status = trt_load(out->version, path, &found);
    if (status == SK_OK)
        status =
            trt_device(0, architecture, sizeof architecture, d->name, sizeof d->name, &d->memory, &found);
    if (status == SK_OK && !atomic_load(&works)) {
        status = sk_foreign_try(&sk_engine_tensorrt_plugin, &found);
        atomic_store(&works, status == SK_OK);
    }
    out->available = status == SK_OK;
    out->n_devices = status == SK_OK;
    d->precisions = sk_engine_tensorrt_plugin.can.precisions;
    snprintf(out->detail, sizeof out->detail, "%.511s", status == SK_OK ? path : found.message);
    return SK_OK;
}

const sk_engine sk_engine_tensorrt_plugin = {
    .name = "tensorrt",
    .title = "TensorRT on NVIDIA GPUs",
    .can = SK_TENSORRT_CAN,
    .probe = trt_probe,
    .supports = trt_supports,
    .open = trt_engine_open,
    .submit = trt_engine_submit,
    .wait = trt_engine_wait,
    .close = trt_engine_close,
    .form = &form,
};
