/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/model_artifact_job.h"

#include "runtime/engine_file.h"
#include "base/file.h"
#include "base/log.h"
#include "base/object.h"
#include "models/onnx_export.h"
#include "skitter/version.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Raised whenever what is exported changes: artifacts of before are then made anew. */
#define EXPORTER       1

#define LARGEST_SOURCE ((size_t)4 << 30)

/* --- who watches --- */

static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static sk_artifact_watch watch_now;
static void *watch_context;

void sk_artifact_set_watch(sk_artifact_watch watch, void *context)
{
    pthread_mutex_lock(&watch_lock);
    watch_now = watch;
    watch_context = context;
    pthread_mutex_unlock(&watch_lock);
}

static void tell(sk_artifact_step step, const char *path, const char *note, double part)
{
    pthread_mutex_lock(&watch_lock);
    if (watch_now)
        watch_now(watch_context, step, path, note, part);
    pthread_mutex_unlock(&watch_lock);
}

/* --- one job --- */

static void tell_step(void *context, sk_artifact_step step, const char *path, const char *note)
{
    (void)context;
    tell(step, path, note, -1);
}

static void tell_part(void *context, double part)
{
    const sk_artifact_job *j = context;
    tell(SK_ARTIFACT_MAKING, j->model->path, "", part);
}

sk_shape sk_artifact_job_shape(const sk_artifact_job *j)
{
    return sk_shape_of(4, (int64_t)j->batch, (int64_t)j->model->input.channels, (int64_t)j->height,
                       (int64_t)j->width);
}

static sk_status export_bytes(const sk_artifact_job *j, uint8_t **bytes, size_t *length, sk_error *err)
{
    sk_onnx_model *onnx = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    s.opset = SK_ARTIFACT_OPSET;
    s.batch = j->batch;
    s.height = j->height;
    s.width = j->width;
    s.dynamic_batch = j->dynamic_batch;
    s.half = j->settings.precision == SK_PRECISION_F16; /* weights and arithmetic; the ends stay f32 */
    s.eight_bits = j->settings.precision == SK_PRECISION_I8 && !j->engine->form->build
                       ? SK_ONNX_EIGHT_BITS_RUNTIMES
                       : SK_ONNX_EIGHT_BITS_NONE;
    SK_TRY(sk_model_to_onnx(j->model, &s, &onnx, err));
    sk_status status = sk_onnx_write(onnx, bytes, length, err);
    sk_onnx_close(&onnx);
    return status;
}

static sk_status make_bytes(void *context, uint8_t **bytes, size_t *length, sk_error *err)
{
    sk_artifact_job *j = context;
    const sk_engine_form *form = j->engine->form;
    if (!form->build)
        return export_bytes(j, bytes, length, err);
    uint8_t *onnx = NULL;
    size_t onnx_length = 0;
    char *metadata = NULL;
    sk_status status;
    SK_TRY_GOTO(export_bytes(j, &onnx, &onnx_length, err));
    SK_TRY_GOTO(sk_engine_file_describe(j->model, j->batch, j->height, j->width, &metadata, err));
    status =
        form->build(onnx, onnx_length, j->batch, metadata, &j->settings, tell_part, j, bytes, length, err);
done:
    sk_free(metadata);
    sk_free(onnx);
    return status;
}

/* --- the ends' names --- */

static const char *keep_name(sk_model_artifact *a, size_t *used, const char *name)
{
    size_t length = strlen(name) + 1;
    if (length > sizeof a->names - *used)
        return NULL;
    char *at = memcpy(a->names + *used, name, length);
    *used += length;
    return at;
}

static sk_status name_ends(sk_model_artifact *a, const char *const *inputs, int32_t n_inputs,
                           const char *const *outputs, int32_t n_outputs, sk_error *err)
{
    size_t used = 0;
    bool good = n_inputs <= SK_SESSION_MAX_INPUTS && n_outputs <= SK_SESSION_MAX_OUTPUTS;
    for (int32_t i = 0; good && i < n_inputs; i++)
        good = (a->ends.input_names[i] = keep_name(a, &used, inputs[i])) != NULL;
    for (int32_t i = 0; good && i < n_outputs; i++)
        good = (a->ends.output_names[i] = keep_name(a, &used, outputs[i])) != NULL;
    return good ? SK_OK : sk_fail(err, SK_ERR_LIMIT, "the names of the model's outputs are too long");
}

/* An end of an ONNX file against an end of the graph. */
static sk_status compare_end(const sk_onnx_value *end, const sk_graph *graph, int32_t value, sk_error *err)
{
    const sk_value_info *v = &graph->values[value];
    char have[SK_SHAPE_TEXT], want[SK_SHAPE_TEXT];
    bool same = end->shape.rank < 0 || end->shape.rank == v->shape.rank;
    for (int32_t d = 0; same && end->shape.rank > 0 && d < end->shape.rank; d++)
        same = end->shape.dim[d] < 0 || end->shape.dim[d] == v->shape.dim[d];
    if (!same)
        return sk_fail(err, SK_ERR_MISMATCH, "'%s' has the shape %s, the model %s", end->name,
                       sk_shape_text(&end->shape, have, sizeof have),
                       sk_shape_text(&v->shape, want, sizeof want));
    if (end->dtype != v->dtype)
        return sk_fail(err, SK_ERR_MISMATCH, "'%s' is of type %s, the model's of %s", end->name,
                       sk_dtype_name(end->dtype), sk_dtype_name(v->dtype));
    return SK_OK;
}

static sk_status match_onnx(sk_artifact_job *j, const char *path, const void *bytes, size_t length,
                            sk_error *err)
{
    sk_onnx_model *onnx = NULL;
    sk_graph *fixed = NULL;
    const char *in[SK_SESSION_MAX_INPUTS], *out[SK_SESSION_MAX_OUTPUTS];
    sk_shape shape = sk_artifact_job_shape(j);
    sk_status status;
    /* No folder: a file with its weights in other files does not come as bytes. */
    SK_TRY_GOTO(sk_onnx_read(bytes, length, path, NULL, &onnx, err));
    SK_TRY_GOTO(sk_graph_specialise(j->model->graph, &shape, 1, &fixed, err));
    const sk_onnx_graph *g = &onnx->graph;
    if (g->n_inputs != fixed->n_inputs || g->n_outputs != fixed->n_outputs ||
        g->n_inputs > SK_SESSION_MAX_INPUTS || g->n_outputs > SK_SESSION_MAX_OUTPUTS) {
        status = sk_fail(err, SK_ERR_MISMATCH, "it has %d inputs and %d outputs, the model %d and %d",
                         g->n_inputs, g->n_outputs, fixed->n_inputs, fixed->n_outputs);
        goto done;
    }
    for (int32_t i = 0; i < g->n_inputs; i++) {
        SK_TRY_GOTO(compare_end(&g->inputs[i], fixed, fixed->inputs[i], err));
        in[i] = g->inputs[i].name;
    }
    for (int32_t i = 0; i < g->n_outputs; i++) {
        SK_TRY_GOTO(compare_end(&g->outputs[i], fixed, fixed->outputs[i], err));
        out[i] = g->outputs[i].name;
    }
    status = name_ends(j->out, in, g->n_inputs, out, g->n_outputs, err);
done:
    sk_graph_close(&fixed);
    sk_onnx_close(&onnx);
    return status;
}

/* Fills the ends for these bytes. Forms other than ONNX keep the names of the ONNX they were built from. */
sk_status sk_artifact_job_match(sk_artifact_job *j, const char *path, const void *bytes, size_t length,
                                sk_error *err)
{
    j->out->ends = (sk_session_artifact){.bytes = bytes, .length = length, .path = path};
    if (!j->engine->form->build)
        return match_onnx(j, path, bytes, length, err);
    const char *in = "images", *out[SK_SESSION_MAX_OUTPUTS];
    int32_t n = j->model->graph->n_outputs;
    char numbered[SK_SESSION_MAX_OUTPUTS][16];
    for (int32_t i = 0; i < n && i < SK_SESSION_MAX_OUTPUTS; i++) {
        snprintf(numbered[i], sizeof numbered[i], "output%d", i);
        out[i] = j->model->n_outputs == n ? j->model->outputs[i].name : numbered[i];
    }
    return name_ends(j->out, &in, 1, out, n, err);
}

/* --- the request --- */

typedef enum { KEEP_NOWHERE, KEEP_BESIDE, KEEP_CACHE } place;

static sk_status where_to_keep(const sk_model *model, const sk_session_settings *settings, place *out,
                               sk_error *err)
{
    const char *word = getenv("SKITTER_ARTIFACTS");
    if (settings->cache_dir && !settings->cache_dir[0])
        *out = KEEP_NOWHERE;
    else if (!word || !word[0] || strcmp(word, "beside") == 0)
        *out = model->in_memory || sk_path_is_shipped(model->path)
                   ? KEEP_CACHE
                   : KEEP_BESIDE; /* others use those models too */
    else if (strcmp(word, "cache") == 0)
        *out = KEEP_CACHE;
    else if (strcmp(word, "none") == 0)
        *out = KEEP_NOWHERE;
    else
        return sk_fail(err, SK_ERR_ARG, "SKITTER_ARTIFACTS=%s: give beside, cache or none", word);
    return SK_OK;
}

const char *sk_model_artifact_heads(const sk_model *model)
{
    if (model->family != SK_FAMILY_YOLO)
        return "";
    return model->yolo.end2end ? "one-to-one" : "one-to-many";
}

static sk_status fill_wish(sk_artifact_job *j, sk_artifact_wish *wish, char *library, size_t capacity,
                           sk_error *err)
{
    sk_artifact_key *k = &wish->key;
    const sk_engine_form *form = j->engine->form;
    sk_engine_probe probe = {0};
    SK_TRY(j->engine->probe(&probe, err));
    size_t used = (size_t)snprintf(library, capacity, "%.40s", probe.version);
    for (const sk_engine_option *o = j->engine->options; o && o->key; o++) {
        char value[64];
        sk_options_value(j->engine->name, o, j->settings.options, value, sizeof value);
        if (o->changes_files && value[0] && used < capacity)
            used += (size_t)snprintf(library + used, capacity - used, " %.20s", value);
    }
    snprintf(k->source, sizeof k->source, "%s", j->model->content_hash);
    snprintf(k->form, sizeof k->form, "%s", form->name);
    k->batch = j->batch;
    k->height = j->height;
    k->width = j->width;
    k->dynamic_batch = j->dynamic_batch;
    snprintf(k->precision, sizeof k->precision, "%s", sk_precision_name(j->settings.precision));
    snprintf(k->heads, sizeof k->heads, "%s", sk_model_artifact_heads(j->model));
    k->opset = SK_ARTIFACT_OPSET;
    if (form->architecture) {
        SK_TRY(form->architecture(&j->settings, k->architecture, sizeof k->architecture, err));
        snprintf(k->library, sizeof k->library, "%s", library);
    }
    snprintf(k->version, sizeof k->version, "%.30s/%d", sk_version_text(), EXPORTER);
    wish->model = j->model->path;
    wish->form = form;
    wish->runtime = j->engine->name;
    wish->library = library;
    return SK_OK;
}

/* A model that already is in the engine's form runs as it is. */
static sk_status use_source(sk_artifact_job *j, bool *used, sk_error *err)
{
    char *data = NULL;
    size_t length = 0;
    sk_error misfit = {0};
    *used = false;
    if (j->model->format != SK_FORMAT_ONNX || j->engine->form->build || j->model->in_memory ||
        !sk_file_is_regular(j->model->path))
        return SK_OK;
    SK_TRY(sk_file_read(j->model->path, LARGEST_SOURCE, &data, &length, err));
    sk_status status = sk_artifact_job_match(j, j->model->path, data, length, &misfit);
    if (status == SK_ERR_MEMORY) {
        sk_free(data);
        return sk_fail_memory(err, length);
    }
    if (status == SK_OK) {
        status = sk_blob_wrap(data, length, sk_free, data, &j->out->kept.bytes, err);
        *used = status == SK_OK;
        data = *used ? NULL : data;
        snprintf(j->out->kept.path, sizeof j->out->kept.path, "%s", j->model->path);
        snprintf(j->out->kept.sha256, sizeof j->out->kept.sha256, "%s", j->model->content_hash);
        j->out->ends.sha256 = j->out->kept.sha256;
        j->out->kept.users = true;
    } else { /* its ends need work that only our graph does: floats of another width, weights elsewhere */
        sk_log(SK_LOG_INFO, "%s: run through skitter's graph: %s", j->model->path, misfit.message);
        status = SK_OK;
    }
    sk_free(data);
    return status;
}

static sk_status obtain(sk_artifact_job *j, place where, const sk_artifact_options *options, bool *have,
                        sk_error *err)
{
    sk_artifact_wish wish = {.keep = where == KEEP_CACHE ? SK_ARTIFACT_CACHE : SK_ARTIFACT_BESIDE,
                             .must_keep = options && options->must_keep,
                             .anew = options && options->anew};
    sk_artifact_maker maker = {j, make_bytes, sk_artifact_job_fits, sk_artifact_job_check, tell_step};
    char library[64];
    SK_TRY(use_source(j, have, err));
    if (*have || (j->model->format == SK_FORMAT_ONNX && !j->engine->form->build))
        return SK_OK;
    SK_TRY(fill_wish(j, &wish, library, sizeof library, err));
    SK_TRY(sk_artifact_obtain(&wish, &maker, &j->out->kept, err));
    sk_artifact *kept = &j->out->kept;
    if (kept->notice[0])
        sk_log(SK_LOG_WARN, "%s", kept->notice);
    if (kept->made)
        sk_log(SK_LOG_INFO,
               "%s: made for %s; correlation with skitter's own engine %.7f, largest difference %.2g",
               kept->path[0] ? kept->path : "in memory", j->engine->name, kept->check.pcc,
               kept->check.max_difference);
    *have = true;
    SK_TRY(sk_artifact_job_match(j, kept->path, sk_blob_data(kept->bytes), sk_blob_bytes(kept->bytes), err));
    j->out->ends.sha256 = kept->sha256;
    return SK_OK;
}

/* What the engine would refuse is refused before minutes go into a file for it. */
static sk_status can_run(sk_artifact_job *j, sk_error *err)
{
    sk_session_settings s = j->settings;
    sk_session_artifact some = {.path = j->model->path};
    sk_graph *fixed = NULL;
    sk_shape shape = sk_artifact_job_shape(j);
    s.artifact = &some;
    SK_TRY(sk_graph_specialise(j->model->graph, &shape, 1, &fixed, err));
    sk_status status = j->engine->supports(fixed, &s, err);
    sk_graph_close(&fixed);
    return status;
}

sk_status sk_model_artifact_open(const sk_model *model, const sk_engine *engine, int64_t batch,
                                 int64_t height, int64_t width, const sk_session_settings *settings,
                                 const sk_artifact_options *options, sk_model_artifact **out, sk_error *err)
{
    place where;
    bool have = false;
    *out = NULL;
    if (!engine->form || settings->tail == SK_TAIL_CUT)
        return SK_OK;
    SK_TRY(sk_options_check(engine->name, engine->options, settings->options, err));
    SK_TRY(where_to_keep(model, settings, &where, err));
    if (where == KEEP_NOWHERE)
        return SK_OK;
    sk_model_artifact *a = sk_calloc(1, sizeof *a);
    if (!a)
        return sk_fail_memory(err, sizeof *a);
    sk_artifact_job j = {.model = model,
                         .engine = engine,
                         .settings = *settings,
                         .batch = (int32_t)batch,
                         .height = (int32_t)height,
                         .width = (int32_t)width,
                         .dynamic_batch = options && options->dynamic_batch,
                         .out = a};
    j.settings.precision = sk_precision_settle(&engine->can, j.settings.precision);
    sk_status status = can_run(&j, err);
    if (status == SK_OK)
        status = obtain(&j, where, options, &have, err);
    if (status == SK_OK && have)
        *out = a;
    else
        sk_model_artifact_close(&a);
    return status;
}

void sk_model_artifact_close(sk_model_artifact **artifact)
{
    SK_TAKE_OR_RETURN(a, artifact);
    sk_artifact_release(&a->kept);
    sk_free(a);
}
