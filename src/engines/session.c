/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/engine.h"

#include "base/allowance.h"
#include "base/object.h"
#include "tasks/peak_table.h"

#include <stdio.h>
#include <string.h>

/* The part of a session that is the same for every engine: arguments, specialisation, slots, names. */

sk_session_settings sk_session_defaults(void)
{
    sk_session_settings s = {.size = sizeof s};
    s.precision = SK_PRECISION_AUTO;
    s.slots = 1;
    s.input = SK_INPUT_TENSOR;
    s.scale = 1.0f / 255.0f;
    for (int i = 0; i < 4; i++)
        s.std[i] = 1.0f;
    return s;
}

static sk_status check_settings(const sk_session_settings *s, sk_error *err)
{
    if (s->size != sizeof *s)
        return sk_fail(err, SK_ERR_ARG,
                       "session settings of %u bytes, expected %zu: use sk_session_defaults()",
                       (unsigned)s->size, sizeof *s);
    if (s->slots < 1 || s->slots > SK_SESSION_MAX_SLOTS)
        return sk_fail(err, SK_ERR_ARG, "slots is %d; allowed are 1 to %d", s->slots, SK_SESSION_MAX_SLOTS);
    if (s->threads < 0 || s->threads > 256)
        return sk_fail(err, SK_ERR_ARG, "threads is %d; allowed are 1 to 256, or 0 for all cores",
                       s->threads);
    if (s->input < SK_INPUT_TENSOR || s->input > SK_INPUT_CROPS)
        return sk_fail(err, SK_ERR_ARG, "input form %d is not known", (int)s->input);
    for (int i = 0; s->input != SK_INPUT_TENSOR && i < 4; i++)
        if (s->std[i] == 0.0f)
            return sk_fail(err, SK_ERR_ARG, "std[%d] is 0; input values are divided by it", i);
    if (!sk_precision_name(s->precision) || s->precision < SK_PRECISION_AUTO ||
        s->precision > SK_PRECISION_FP8)
        return sk_fail(err, SK_ERR_ARG, "precision %d is not known", (int)s->precision);
    return SK_OK;
}

static sk_status check_found(const sk_engine *engine, const sk_session_settings *s, sk_error *err)
{
    const sk_found_outputs *r = s->stages.found;
    if (!(engine->can.offers & SK_OFFERS_FOUND))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not decode detections itself", engine->title);
    if (s->stages.sparse || !s->tail)
        return sk_fail(err, SK_ERR_ARG, "detections are made from raw heads, all of them: cut the tail");
    const int32_t most = r->one_to_one > 0 ? SK_FOUND_MOST_PAIRS / r->one_to_one : SK_FOUND_MOST_DET;
    if (r->n_levels < 1 || r->n_levels > SK_FOUND_MOST_LEVELS || r->max_det < 1 || r->max_det > most ||
        r->one_to_one < 0 || r->most < 1 || r->reg_max < 1 || r->n_keypoints < 0 ||
        (r->n_keypoints > 0 && (r->oriented || r->keypoint_dims < 2 || r->keypoint_dims > 3)))
        return sk_fail(err, SK_ERR_ARG, "detections of %d levels, at most %d an image, with %d keypoints",
                       r->n_levels, r->max_det, r->n_keypoints);
    return SK_OK;
}

static sk_status check_crops(const sk_engine *engine, const sk_crop_wish *w, sk_error *err)
{
    if (!(engine->can.offers & SK_OFFERS_CROPS) || !w)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not cut crops itself", engine->title);
    const sk_crop_form *f = &w->form;
    const int32_t sides[] = {f->frame_width, f->frame_height, f->width, f->height};
    const int32_t sleap[] = {f->fitted_width, f->fitted_height, f->sized_width,  f->sized_height,
                             f->crop_width,   f->crop_height,   f->scaled_width, f->scaled_height};
    bool fine =
        (w->channels == 1 || w->channels == 3) && f->rule >= SK_CROP_LETTERBOX && f->rule <= SK_CROP_MIXED;
    fine = fine && f->masks >= 0 && f->masks <= 100000;
    for (int i = 0; i < 4; i++)
        fine = fine && sides[i] > 0 && sides[i] <= 65536;
    for (int i = 0; i < 8 && f->rule != SK_CROP_LETTERBOX; i++)
        fine = fine && sleap[i] > 0 && sleap[i] <= 65536;
    if (f->rule != SK_CROP_LETTERBOX)
        fine = fine && f->fitted_width <= f->sized_width && f->fitted_height <= f->sized_height &&
               f->scaled_width <= f->width && f->scaled_height <= f->height && f->input_scale > 0;
    return fine ? SK_OK
                : sk_fail(err, SK_ERR_ARG, "crops of %dx%d cannot be cut from frames of %dx%d by rule %d",
                          f->width, f->height, f->frame_width, f->frame_height, (int)f->rule);
}

static sk_status check_offers(const sk_engine *engine, const sk_session_settings *s, sk_error *err)
{
    if (s->input == SK_INPUT_FRAMES && (!(engine->can.offers & SK_OFFERS_FRAMES) || !s->stages.fit))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not fit frames into the network's input itself",
                       engine->title);
    if (s->input == SK_INPUT_CROPS)
        SK_TRY(check_crops(engine, s->stages.crops, err));
    if (s->stages.sparse && !(engine->can.offers & SK_OFFERS_SPARSE))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s has no sparse outputs", engine->title);
    if (s->stages.peaks && !(engine->can.offers & SK_OFFERS_PEAKS))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not look for peaks in maps", engine->title);
    if (s->stages.peaks && (s->stages.found || s->stages.sparse))
        return sk_fail(err, SK_ERR_ARG, "peaks are SLEAP's; detections and places are detectors'");
    if (s->stages.found)
        SK_TRY(check_found(engine, s, err));
    const sk_frame_fit *f = s->input == SK_INPUT_FRAMES ? s->stages.fit : NULL;
    if (f && (f->frame_width < 1 || f->frame_height < 1 || f->frame_width > 65536 ||
              f->frame_height > 65536 || f->resized_width < 1 || f->resized_height < 1 || f->left < 0 ||
              f->top < 0 || (f->channels != 1 && f->channels != 3)))
        return sk_fail(err, SK_ERR_ARG, "frames of %dx%d with %d channels cannot be fitted", f->frame_width,
                       f->frame_height, f->channels);
    if (f && (f->rule < SK_FIT_LETTERBOX || f->rule > SK_FIT_SLEAP_OLD ||
              (f->rule != SK_FIT_LETTERBOX &&
               (f->left || f->top || f->fitted_width < 1 || f->fitted_height < 1 ||
                f->fitted_width > f->sized_width || f->fitted_height > f->sized_height ||
                f->sized_width > 65536 || f->sized_height > 65536))))
        return sk_fail(err, SK_ERR_ARG, "frames of %dx%d cannot be fitted into %dx%d by rule %d",
                       f->frame_width, f->frame_height, f->sized_width, f->sized_height, f->rule);
    return SK_OK;
}

/* Do the outputs have what peaks are looked for in? */
static sk_status check_peaks(const sk_graph *g, const sk_peak_wish *w, sk_error *err)
{
    const struct {
        int32_t output, channels;
        const char *name;
    } needs[] = {{w->maps, w->n_channels, "confidence maps"},
                 {w->offsets, 2 * w->n_channels, "offsets"},
                 {w->classes, w->n_classes, "class maps"},
                 {w->fields, 2 * w->n_edges, "affinity fields"}};
    if (w->maps < 0 || w->capacity < 1 || w->capacity > 4096 || w->pairs < 0 || w->n_classes < 0 ||
        w->n_classes > SK_PEAK_MOST_CLASSES || w->n_edges < 0 || w->n_edges > SK_PEAK_MOST_EDGES ||
        w->n_channels < 1 || w->n_channels > SK_PEAK_MOST_NODES || (w->pairs > 0 && w->n_points < 2) ||
        !(w->maps_stride > 0) || !(w->fields_stride > 0) || !(w->classes_stride > 0) ||
        (w->fields >= 0) != (w->pairs > 0) || (w->classes >= 0) != (w->n_classes > 0) ||
        (!w->local && (w->capacity != 1 || w->fields >= 0)))
        return sk_fail(err, SK_ERR_ARG, "peaks are asked for in a way that makes no sense");
    for (int32_t e = 0; e < w->n_edges; e++)
        for (int k = 0; k < 2; k++)
            if (w->edges[e][k] < 0 || w->edges[e][k] >= w->n_channels)
                return sk_fail(err, SK_ERR_ARG, "edge %d names map %d of %d", e, w->edges[e][k],
                               w->n_channels);
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (needs[i].output < 0)
            continue;
        const sk_value_info *v =
            needs[i].output < g->n_outputs ? &g->values[g->outputs[needs[i].output]] : NULL;
        const sk_shape *first = &g->values[g->outputs[w->maps < g->n_outputs ? w->maps : 0]].shape;
        if (!v || v->dtype != SK_DTYPE_F32 || v->shape.rank != 4 || v->shape.dim[1] != needs[i].channels ||
            v->shape.dim[0] != first->dim[0] || v->shape.dim[2] < 1 || v->shape.dim[3] < 1 ||
            v->shape.dim[2] > (1 << 15) || v->shape.dim[3] > (1 << 15) ||
            (i == 1 && (v->shape.dim[2] != first->dim[2] || v->shape.dim[3] != first->dim[3])))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "output %d is not the %s peaks are to be looked for in",
                           needs[i].output, needs[i].name);
    }
    return SK_OK;
}

/* The graph the engine sees: every shape known, tail cut where asked and where there is one. */
static sk_status prepare_graph(const sk_graph *graph, const sk_shape *shapes, int32_t n_inputs,
                               int32_t cut_tail, sk_graph **out, sk_outputs_form *form, sk_error *err)
{
    sk_graph *special = NULL;
    *form = SK_OUTPUTS_WHOLE;
    SK_TRY(sk_graph_specialise(graph, shapes, n_inputs, &special, err));
    if (cut_tail) {
        sk_error ignored;
        sk_status status = sk_graph_cut_tail(special, &ignored);
        if (status == SK_OK) {
            *form = SK_OUTPUTS_HEADS;
            status = sk_graph_remove_dead(special, err);
        } else if (status == SK_ERR_NOT_FOUND) {
            status = SK_OK;
        } else if (err) {
            *err = ignored;
        }
        if (status != SK_OK) {
            sk_graph_close(&special);
            return status;
        }
    }
    *out = special;
    return SK_OK;
}

static const char *keep_name(sk_session *session, size_t *used, const char *name)
{
    size_t length = strlen(name) + 1, space = sizeof session->names - *used;
    if (length > space)
        return "";
    char *at = memcpy(session->names + *used, name, length);
    *used += length;
    return at;
}

/* The one output of a session that decodes and suppresses. */
static void describe_found(sk_session *session, const sk_found_outputs *found)
{
    sk_session_info *info = &session->info;
    const int64_t batch = info->outputs[0].shape.dim[0];
    const int64_t words = 6 + (found->oriented ? 1 : (int64_t)found->n_keypoints * found->keypoint_dims);
    void *data = info->outputs[0].data;
    int64_t places = 0;
    for (int32_t k = 0; k < found->n_levels; k++) {
        const sk_shape *s = &info->outputs[found->level[k].scores].shape; /* the engine has looked at it */
        places += s->dim[2] * s->dim[3];
    }
    info->outputs[0] = (sk_tensor){.dtype = SK_DTYPE_F32, .data = data};
    info->outputs[0].shape = sk_shape_of(3, batch, (int64_t)sk_found_rows(found, places), words);
    info->output_names[0] = "found";
    info->n_outputs = 1;
    info->outputs_form = SK_OUTPUTS_FOUND;
}

static void describe(sk_session *session, const sk_graph *graph)
{
    sk_session_info *info = &session->info;
    size_t used = 0;
    info->n_inputs = graph->n_inputs;
    info->n_outputs = graph->n_outputs;
    for (int32_t i = 0; i < graph->n_inputs; i++) {
        const sk_value_info *v = &graph->values[graph->inputs[i]];
        info->inputs[i] = (sk_tensor){.dtype = v->dtype, .shape = v->shape};
        info->input_names[i] = keep_name(session, &used, v->name);
    }
    for (int32_t i = 0; i < graph->n_outputs; i++) {
        const sk_value_info *v = &graph->values[graph->outputs[i]];
        info->outputs[i].dtype = v->dtype;
        info->outputs[i].shape = v->shape;
        info->output_names[i] = keep_name(session, &used, v->name);
    }
    if (session->settings.stages.peaks) {
        const int32_t i = info->n_outputs++;
        info->outputs[i].dtype = SK_DTYPE_I32;
        info->outputs[i].shape =
            sk_shape_of(2, graph->values[graph->outputs[session->settings.stages.peaks->maps]].shape.dim[0],
                        (int64_t)sk_peak_layout_of(session->settings.stages.peaks).words);
        info->output_names[i] = keep_name(session, &used, "peaks");
    }
}

/* A size that only the model's file names, or a graph that blows itself up, is not worth all of the machine's memory. */
static sk_status check_memory(const sk_graph *special, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    const sk_shape *input = special->n_inputs > 0 ? &special->values[special->inputs[0]].shape : NULL;
    double batch = input && input->rank > 0 && input->dim[0] > 0 ? (double)input->dim[0] : 1;
    double all = sk_graph_peak_bytes(special);
    sk_allowance allowed = sk_allowance_of_network();
    if (all <= (double)allowed.all && all / batch <= (double)allowed.one)
        return SK_OK;
    return sk_allowance_fail(
        err, (uint64_t)all,
        "the network needs %.1f GB of memory for an input of %s: choose a smaller image size or batch",
        all / 1e9, input ? sk_shape_text(input, text, sizeof text) : "no shape");
}

sk_status sk_session_open(const sk_engine *engine, const sk_graph *graph, const sk_shape *shapes,
                          int32_t n_inputs, const sk_session_settings *settings, sk_session **out,
                          sk_error *err)
{
    SK_CHECK_ARG(engine && graph && shapes && out, err);
    *out = NULL;
    sk_session_settings chosen = settings ? *settings : sk_session_defaults();
    SK_TRY(check_settings(&chosen, err));
    SK_TRY(check_offers(engine, &chosen, err));
    chosen.precision = sk_precision_settle(&engine->can, chosen.precision);
    if (!engine->form)
        chosen.artifact = NULL; /* it runs graphs */
    SK_TRY(sk_options_check(engine->name, engine->options, chosen.options, err));
    if (chosen.tail == SK_TAIL_FREE)
        chosen.tail = chosen.artifact ? SK_TAIL_KEEP : SK_TAIL_CUT;
    if (chosen.artifact && chosen.tail)
        return sk_fail(err, SK_ERR_ARG, "%s: a model file has its decode tail; its raw heads cannot be had",
                       chosen.artifact->path);
    _Static_assert(sizeof graph->inputs / sizeof graph->inputs[0] <= SK_SESSION_MAX_INPUTS &&
                       sizeof graph->outputs / sizeof graph->outputs[0] <= SK_SESSION_MAX_OUTPUTS,
                   "a graph's inputs and outputs fit a session");
    if (n_inputs != graph->n_inputs)
        return sk_fail(err, SK_ERR_ARG, "%d input shapes given, the graph has %d inputs", n_inputs,
                       graph->n_inputs);

    sk_graph *special = NULL;
    sk_session *session = NULL;
    sk_outputs_form form = SK_OUTPUTS_WHOLE;
    sk_status status;
    SK_TRY_GOTO(prepare_graph(graph, shapes, n_inputs, chosen.tail, &special, &form, err));
    if (special->n_outputs + (chosen.stages.peaks != NULL) > SK_SESSION_MAX_OUTPUTS) {
        status = sk_fail(err, SK_ERR_LIMIT, "cutting the tail leaves %d outputs; sessions allow %d",
                         special->n_outputs, SK_SESSION_MAX_OUTPUTS);
        goto done;
    }
    if (chosen.stages.peaks)
        SK_TRY_GOTO(check_peaks(special, chosen.stages.peaks, err));
    for (int32_t i = 0; chosen.input != SK_INPUT_TENSOR && i < special->n_inputs; i++) {
        const sk_value_info *v = &special->values[special->inputs[i]];
        if (v->shape.rank == 4 && v->shape.dim[1] > 4) {
            status = sk_fail(err, SK_ERR_UNSUPPORTED, "input %s has %lld channels: pictures have 1 to 4",
                             v->name, (long long)v->shape.dim[1]);
            goto done;
        }
    }
    SK_TRY_GOTO(check_memory(special, err));
    SK_TRY_GOTO(engine->supports(special, &chosen, err));
    SK_TRY_GOTO(engine->open(special, &chosen, &session, err));
    session->engine = engine;
    session->info.engine = engine;
    session->info.input = chosen.input;
    session->info.outputs_form = form;
    session->info.slots = chosen.slots;
    session->info.flops = sk_graph_flops(special);
    session->settings = chosen;
    session->settings.cores = NULL;
    session->settings.cache_dir = session->settings.model_key = NULL;
    session->settings.artifact = NULL;
    if (chosen.artifact && engine->form && chosen.artifact->path)
        snprintf(session->info.artifact, sizeof session->info.artifact, "%s", chosen.artifact->path);
    if (chosen.artifact && engine->form && chosen.artifact->sha256)
        snprintf(session->info.artifact_sha256, sizeof session->info.artifact_sha256, "%s",
                 chosen.artifact->sha256);
    describe(session, special);
    session->settings.stages = (sk_session_stages){0};
    if (chosen.stages.found)
        describe_found(session, chosen.stages.found);
    *out = session;
done:
    sk_graph_close(&special);
    return status;
}

void sk_session_close(sk_session **session)
{
    SK_TAKE_OR_RETURN(s, session);
    while (s->waited != s->submitted)
        if (sk_session_wait(s, NULL, 0, NULL) != SK_OK)
            break;
    s->engine->close(s);
}

const sk_session_info *sk_session_about(const sk_session *session)
{
    return &session->info;
}

sk_status sk_session_submit(sk_session *session, const sk_session_input *inputs, int32_t n_inputs,
                            sk_error *err)
{
    SK_CHECK_ARG(session && inputs, err);
    if (n_inputs != session->info.n_inputs)
        return sk_fail(err, SK_ERR_ARG, "%d inputs given, the session has %d", n_inputs,
                       session->info.n_inputs);
    for (int32_t i = 0; i < n_inputs; i++) {
        if (!inputs[i].data && !inputs[i].frames)
            return sk_fail(err, SK_ERR_ARG, "input %d has no data", i);
        if (session->info.input == SK_INPUT_CROPS &&
            (!inputs[i].frames || !inputs[i].frames[0] || !inputs[i].crops || inputs[i].crops->count < 0 ||
             inputs[i].crops->count > session->info.inputs[i].shape.dim[0]))
            return sk_fail(err, SK_ERR_ARG, "input %d: a frame and at most %lld crops of it are taken", i,
                           (long long)session->info.inputs[i].shape.dim[0]);
        if (inputs[i].frames && session->info.input != SK_INPUT_CROPS &&
            (session->info.input != SK_INPUT_FRAMES || !(session->engine->can.reads & SK_READS_DEVICE)))
            return sk_fail(err, SK_ERR_UNSUPPORTED, "input %d: this session takes no frames from a device",
                           i);
    }
    if (session->submitted - session->waited >= session->info.slots)
        return sk_fail(err, SK_ERR_BUSY, "all %d slots are in flight: wait for one first",
                       session->info.slots);
    SK_TRY(session->engine->submit(session, session->submitted % session->info.slots, inputs, err));
    session->submitted++;
    return SK_OK;
}

sk_status sk_session_resident(sk_session *session, int32_t image, sk_frame *out, sk_error *err)
{
    SK_CHECK_ARG(session && out && session->info.input == SK_INPUT_FRAMES, err);
    SK_CHECK_ARG(image >= 0 && image < session->info.inputs[0].shape.dim[0], err);
    if (!session->engine->resident)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s keeps no frames on the device", session->engine->title);
    return session->engine->resident(session, session->last_slot, image, out, err);
}

sk_status sk_session_wait(sk_session *session, sk_tensor *outputs, int32_t n_outputs, sk_error *err)
{
    SK_CHECK_ARG(session, err);
    if (session->waited == session->submitted)
        return sk_fail(err, SK_ERR_ARG, "nothing was submitted");
    if (outputs && n_outputs < session->info.n_outputs)
        return sk_fail(err, SK_ERR_ARG, "room for %d outputs, the session has %d", n_outputs,
                       session->info.n_outputs);
    void *data[SK_SESSION_MAX_OUTPUTS] = {0};
    session->last_slot = session->waited % session->info.slots;
    sk_status status = session->engine->wait(session, session->last_slot, data, err);
    session->waited++;
    if (session->waited == session->submitted) { /* keeps the counters small over months of frames */
        session->submitted %= session->info.slots;
        session->waited = session->submitted;
    }
    for (int32_t i = 0; status == SK_OK && outputs && i < session->info.n_outputs; i++) {
        outputs[i] = session->info.outputs[i];
        outputs[i].data = data[i];
    }
    return status;
}

sk_status sk_session_run(sk_session *session, const sk_session_input *inputs, int32_t n_inputs,
                         sk_tensor *outputs, int32_t n_outputs, sk_error *err)
{
    SK_TRY(sk_session_submit(session, inputs, n_inputs, err));
    return sk_session_wait(session, outputs, n_outputs, err);
}

sk_status sk_session_capture(sk_session *session, sk_error *err)
{
    SK_CHECK_ARG(session && session->waited == session->submitted, err);
    return session->engine->capture ? session->engine->capture(session, err) : SK_OK;
}

sk_status sk_session_get_times(sk_session *session, sk_session_times *out, sk_error *err)
{
    SK_CHECK_ARG(session && out, err);
    *out = (sk_session_times){0};
    return session->engine->times ? session->engine->times(session, session->last_slot, out, err) : SK_OK;
}

sk_status sk_session_profile_start(sk_session *session, sk_error *err)
{
    SK_CHECK_ARG(session, err);
    if (!session->engine->profile_start)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not measure single steps", session->engine->title);
    return session->engine->profile_start(session, err);
}

sk_status sk_session_profile(sk_session *session, sk_profile_row *rows, int32_t capacity, int32_t *count,
                             sk_error *err)
{
    SK_CHECK_ARG(session && count && (rows || capacity == 0), err);
    if (!session->engine->profile)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s does not measure single steps", session->engine->title);
    return session->engine->profile(session, rows, capacity, count, err);
}

size_t sk_frame_fit_row(const sk_frame_fit *fit)
{
    const size_t width = (size_t)fit->frame_width;
    return fit->nv12 ? (width + 1) / 2 * 2 : width * (size_t)fit->channels;
}

size_t sk_frame_fit_rows(const sk_frame_fit *fit)
{
    const size_t height = (size_t)fit->frame_height;
    return fit->nv12 ? height + (height + 1) / 2 : height;
}

size_t sk_frame_fit_bytes(const sk_frame_fit *fit)
{
    return sk_frame_fit_row(fit) * sk_frame_fit_rows(fit);
}

void sk_input_unpack_u8(const sk_session_input *input, const sk_session_settings *settings,
                        const sk_shape *shape, float *nchw)
{
    sk_input_unpack_u8_rows(input, settings, shape, 0, shape->dim[0] * shape->dim[2], nchw);
}

void sk_input_unpack_u8_rows(const sk_session_input *input, const sk_session_settings *settings,
                             const sk_shape *shape, int64_t first, int64_t end, float *nchw)
{
    int64_t c = shape->dim[1], h = shape->dim[2], w = shape->dim[3];
    ptrdiff_t row = input->row_bytes ? input->row_bytes : (ptrdiff_t)(w * c);
    ptrdiff_t picture = input->picture_bytes ? input->picture_bytes : row * (ptrdiff_t)h;
    /* 256 values a channel are worked out once; a pixel is then a look-up instead of a conversion, a product and a sum on
     * every c-th byte. The bits are the same. */
    for (int64_t k = 0; k < c; k++) {
        float gain = settings->scale / settings->std[k], shift = settings->mean[k] / settings->std[k];
        float value[256];
        for (int v = 0; v < 256; v++)
            value[v] = (float)v * gain - shift;
        for (int64_t i = first; i < end; i++) {
            const uint8_t *from = (const uint8_t *)input->data + i / h * picture + i % h * row + k;
            float *to = nchw + ((i / h * c + k) * h + i % h) * w;
            for (int64_t x = 0; x < w; x++)
                to[x] = value[from[x * c]];
        }
    }
}
