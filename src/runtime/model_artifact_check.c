/* SPDX-License-Identifier: Apache-2.0 */
/* Does a file belong to a model: by what it says of itself, and by what it computes. */
#include "graph/quantise.h"
#include "runtime/engine_file.h"
#include "runtime/model_artifact_job.h"

/* --- somebody else's --- */

static sk_status same_model(const sk_model *a, const sk_model *b, sk_error *err)
{
    if (a->task != b->task)
        return sk_fail(err, SK_ERR_MISMATCH, "it is for the task '%s', the model for '%s'",
                       sk_task_name(a->task), sk_task_name(b->task));
    if (a->n_classes != b->n_classes || a->n_keypoints != b->n_keypoints)
        return sk_fail(err, SK_ERR_MISMATCH, "it has %d classes and %d keypoints, the model %d and %d",
                       a->n_classes, a->n_keypoints, b->n_classes, b->n_keypoints);
    if (a->input.channels != b->input.channels || a->input.scale != b->input.scale)
        return sk_fail(err, SK_ERR_MISMATCH, "it wants its pictures prepared in another way");
    if (a->n_outputs != b->n_outputs || (a->n_outputs && a->outputs[0].kind != b->outputs[0].kind))
        return sk_fail(err, SK_ERR_MISMATCH, "its outputs are of another kind");
    return SK_OK;
}

sk_status sk_artifact_job_fits(void *context, const char *path, const void *bytes, size_t length,
                               sk_error *err)
{
    sk_artifact_job *j = context;
    sk_model *theirs = NULL;
    if (j->engine->form->build) /* what is inside is known when the engine opens it */
        return sk_engine_file_fits(j->model, bytes, length, j->batch, j->height, j->width, err);
    SK_TRY(sk_model_open(path, &theirs, err));
    sk_status status = same_model(theirs, j->model, err);
    sk_model_close(&theirs);
    return status == SK_OK ? sk_artifact_job_match(j, path, bytes, length, err) : status;
}

/* --- the comparison --- */

/* Light and dark, edges and grain: something for every filter. The same on every machine. */
static float *make_picture(const sk_shape *shape)
{
    int64_t count = sk_shape_count(shape), w = shape->dim[3], h = shape->dim[2];
    float *x = sk_malloc((size_t)count * sizeof *x);
    uint32_t noise = 12345;
    for (int64_t i = 0; x && i < count; i++) {
        noise = noise * 1664525u + 1013904223u;
        int64_t column = i % w, row = i / w % h, channel = i / (w * h);
        float wave = (float)((column * 3 + row * 2 + channel * 40) % 256) / 255.0f;
        float block = ((column / 24 + row / 24) & 1) ? 0.8f : 0.2f;
        x[i] = 0.45f * wave + 0.4f * block + 0.15f * (float)(noise >> 8) / 16777216.0f;
    }
    return x;
}

static sk_status run_once(const sk_artifact_job *j, const sk_engine *engine,
                          const sk_session_artifact *artifact, const float *picture, sk_session **session,
                          sk_tensor *outputs, int32_t *n, sk_error *err)
{
    sk_session_settings s = j->settings;
    sk_shape shape = sk_artifact_job_shape(j);
    s.tail = SK_TAIL_KEEP;
    s.input = SK_INPUT_TENSOR;
    s.slots = 1;
    s.artifact = artifact;
    if (!artifact) { /* ours: nothing to tune, nothing to keep */
        bool bytes = s.precision == SK_PRECISION_I8 && sk_graph_is_quantised(j->model->graph) &&
                     (engine->can.precisions & 1u << SK_PRECISION_I8);
        s.precision = bytes ? SK_PRECISION_I8 : SK_PRECISION_F32;
        s.options[0] = '\0';
        SK_TRY(sk_options_put_known(s.options, engine->options, "tune", "off", err));
        s.cache_dir = "";
    }
    SK_TRY(sk_session_open(engine, j->model->graph, &shape, 1, &s, session, err));
    sk_session_input input = {.data = picture};
    *n = sk_session_about(*session)->n_outputs;
    return sk_session_run(*session, &input, 1, outputs, *n, err);
}

/* One session, one run; the outputs are the session's. */
typedef struct outcome {
    sk_session *session;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    int32_t n;
} outcome;

static sk_status run_on(const sk_artifact_job *j, const sk_engine *engine,
                        const sk_session_artifact *artifact, const float *picture, outcome *o, sk_error *err)
{
    return run_once(j, engine, artifact, picture, &o->session, o->outputs, &o->n, err);
}

/* A file in eight bits has roundings that the model has not (graph/quantise_runtimes.c), and on a picture unlike those it was
 * calibrated with they add up: two answers part, although both are right. So what is asked is how far it is from the network
 * without any rounding of values, beside how far skitter's own eight bits are. */
static sk_status compare_in_eight_bits(const sk_artifact_job *j, const float *picture, sk_parity *out,
                                       sk_error *err)
{
    outcome plain = {0}, want = {0}, got = {0};
    sk_artifact_job unrounded = *j;
    unrounded.settings.precision = SK_PRECISION_F32;
    sk_status status;
    SK_TRY_GOTO(run_on(&unrounded, sk_engine_find("cpu"), NULL, picture, &plain, err));
    SK_TRY_GOTO(run_on(j, sk_engine_find("cpu"), NULL, picture, &want, err));
    SK_TRY_GOTO(run_on(j, j->engine, &j->out->ends, picture, &got, err));
    *out = sk_parity_compare(got.outputs, want.outputs, want.n, j->model);
    sk_parity_compare_rounding(got.outputs, want.outputs, plain.outputs, want.n, j->model, out);
    status = sk_parity_judge_rounding(out, SK_PRECISION_I8, err);
done:
    sk_session_close(&plain.session);
    sk_session_close(&want.session);
    sk_session_close(&got.session);
    return status;
}

static bool in_eight_bits(const sk_artifact_job *j)
{
    return j->settings.precision == SK_PRECISION_I8 && !j->engine->form->build &&
           sk_graph_is_quantised(j->model->graph);
}

sk_status sk_artifact_job_check(void *context, const char *path, const void *bytes, size_t length,
                                bool unknown, sk_artifact_check *out, sk_error *err)
{
    sk_artifact_job *j = context;
    sk_session *theirs = NULL, *ours = NULL;
    sk_tensor got[SK_SESSION_MAX_OUTPUTS] = {0}, want[SK_SESSION_MAX_OUTPUTS] = {0};
    int32_t n = 0;
    sk_shape shape = sk_artifact_job_shape(j);
    float *picture = make_picture(&shape);
    sk_status status;
    if (!picture)
        return sk_fail_memory(err, (size_t)sk_shape_count(&shape) * sizeof *picture);
    SK_TRY_GOTO(sk_artifact_job_match(j, path, bytes, length, err));
    if (!unknown && in_eight_bits(j)) {
        sk_parity parity = {0};
        status = compare_in_eight_bits(j, picture, &parity, err);
        out->pcc = parity.pcc;
        out->max_difference = parity.max_difference;
    } else if (j->model->input.dtype == SK_DTYPE_F32 || !j->model->input.dtype) {
        SK_TRY_GOTO(run_once(j, sk_engine_find("cpu"), NULL, picture, &ours, want, &n, err));
        SK_TRY_GOTO(run_once(j, j->engine, &j->out->ends, picture, &theirs, got, &n, err));
        sk_parity parity = sk_parity_compare(got, want, n, j->model);
        out->pcc = parity.pcc;
        out->max_difference = parity.max_difference;
        status = unknown ? sk_parity_judge_origin(&parity, j->settings.precision, j->model->path, err)
                         : sk_parity_judge(&parity, j->settings.precision, err);
    } else if (unknown) {
        status = sk_fail(err, SK_ERR_MISMATCH, "a network on bytes cannot be compared with its model");
    } else { /* pictures of bytes: opening it is the check */
        out->pcc = 1;
    }
done:
    if (status != SK_OK && !unknown)
        sk_error_prefix(err, "%s made for %s is refused", path[0] ? path : "what was", j->engine->name);
    sk_free(picture);
    sk_session_close(&theirs);
    sk_session_close(&ours);
    return status;
}

sk_status sk_model_artifact_compare(const sk_model *model, const char *onnx, sk_error *err)
{
    sk_model *theirs = NULL;
    sk_session *session[2] = {0};
    sk_tensor got[SK_SESSION_MAX_OUTPUTS] = {0}, want[SK_SESSION_MAX_OUTPUTS] = {0};
    float *picture = NULL;
    int32_t n = 0;
    sk_status status;
    SK_TRY(sk_model_open(onnx, &theirs, err));
    const sk_input_spec *in = theirs->input.fixed_size ? &theirs->input : &model->input;
    sk_artifact_job ours = {.model = model,
                            .settings = sk_session_defaults(),
                            .batch = theirs->input.fixed_batch ? theirs->input.fixed_batch : 1,
                            .height = in->height,
                            .width = in->width};
    sk_artifact_job other = ours;
    other.model = theirs;
    sk_shape shape = sk_artifact_job_shape(&ours);
    SK_TRY_GOTO(same_model(theirs, model, err));
    picture = make_picture(&shape);
    if (!picture) {
        status = sk_fail_memory(err, (size_t)sk_shape_count(&shape) * sizeof *picture);
        goto done;
    }
    SK_TRY_GOTO(run_once(&ours, sk_engine_find("cpu"), NULL, picture, &session[0], want, &n, err));
    SK_TRY_GOTO(run_once(&other, sk_engine_find("cpu"), NULL, picture, &session[1], got, &n, err));
    sk_parity parity = sk_parity_compare(got, want, n, model);
    status = sk_parity_judge_origin(&parity, SK_PRECISION_F32, model->path, err);
done:
    sk_free(picture);
    sk_session_close(&session[0]);
    sk_session_close(&session[1]);
    sk_model_close(&theirs);
    return status;
}
