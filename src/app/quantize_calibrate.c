/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "graph/edit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The f32 network over the frames, with values inside of it as outputs. A session has 32 outputs at most, so values are
 * looked at in shares, each by a session of its own. */

sk_status sk_quantize_open_network(const sk_quantize_job *job, const sk_model *model,
                                   const sk_task_plan *plan, const sk_graph *graph, bool cut_tail,
                                   sk_precision precision, sk_session **out, sk_error *err)
{
    sk_session_settings s = sk_session_defaults();
    sk_shape shape = sk_shape_of(4, 1, (int64_t)plan->channels, (int64_t)plan->height, (int64_t)plan->width);
    s.threads = job->s->threads;
    s.precision = precision;
    s.tail = cut_tail ? SK_TAIL_CUT : SK_TAIL_KEEP;
    s.input = plan->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    s.scale = plan->scale;
    for (int c = 0; c < 3; c++) {
        s.mean[c] = plan->mean[c];
        s.std[c] = plan->std[c] != 0 ? plan->std[c] : 1;
    }
    s.model_key = model->content_hash;
    s.cache_dir = ""; /* networks that are looked at once leave no timings behind */
    snprintf(s.options, sizeof s.options, "tune=off");
    return sk_session_open(job->engine, graph, &shape, 1, &s, out, err);
}

sk_status sk_quantize_session(sk_quantize_job *job, const sk_graph *graph, const sk_value *outputs,
                              int32_t n_outputs, bool cut_tail, sk_precision precision, sk_session **out,
                              sk_error *err)
{
    sk_graph *copy = NULL;
    const sk_task_plan *plan = sk_task_stage_plan(job->stages[0].stage);
    sk_status status = SK_OK;
    SK_TRY(sk_graph_clone(graph, &copy, err));
    if (n_outputs > 0) {
        memcpy(copy->outputs, outputs, (size_t)n_outputs * sizeof *outputs);
        copy->n_outputs = n_outputs;
        status = sk_graph_remove_dead(copy, err);
    }
    if (status == SK_OK)
        status = sk_quantize_open_network(job, job->model, plan, copy, cut_tail, precision, out, err);
    sk_graph_close(&copy);
    return status;
}

sk_status sk_quantize_run_input(sk_session *session, const void *data, sk_tensor *outputs, sk_error *err)
{
    sk_session_input input = {.data = data};
    return sk_session_run(session, &input, 1, outputs, sk_session_about(session)->n_outputs, err);
}

/* --- what is looked at --- */

typedef struct watched {
    sk_value value;
    int32_t group;  /* -1: not for a range */
    double *sums;   /* of each channel; null: no layer reads it */
    int64_t n_sums; /* channels */
    double count;   /* elements of a channel */
    sk_range *own;  /* its own range; null: it says nothing new */
    float *most;    /* the largest magnitude of each channel; null: no convolution made it */
    int64_t n_most;
} watched;

typedef struct watching {
    watched *items;
    int32_t count;
    sk_range *ranges; /* one a group */
} watching;

static int32_t find_watched(const watching *w, sk_value v)
{
    for (int32_t i = 0; i < w->count; i++)
        if (w->items[i].value == v)
            return i;
    return -1;
}

static int by_value(const void *a, const void *b)
{
    return ((const watched *)a)->value - ((const watched *)b)->value;
}

/* Of what a convolution makes. */
static sk_status watch_channels(const sk_quantize_job *job, watched *item, sk_error *err)
{
    const int32_t maker = job->graph->values[item->value].producer;
    const sk_node *conv = maker >= 0 ? &job->graph->nodes[maker] : NULL;
    if (!conv || conv->op != SK_OP_CONV)
        return SK_OK;
    item->n_most = job->graph->values[conv->in[1]].shape.dim[0];
    item->most = sk_calloc((size_t)item->n_most, sizeof *item->most);
    return item->most ? SK_OK : sk_fail_memory(err, (size_t)item->n_most * sizeof *item->most);
}

static sk_status watch_values(sk_quantize_job *job, watching *w, sk_error *err)
{
    const sk_quantise_plan *plan = job->plan;
    w->items = sk_calloc((size_t)(plan->n_values + plan->n_layers + 1), sizeof *w->items);
    w->ranges = sk_calloc((size_t)plan->n_groups, sizeof *w->ranges);
    uint8_t *read = sk_calloc(job->graph->n_values + 1, 1);
    if (!w->items || !w->ranges || !read) {
        sk_free(read);
        return sk_fail_memory(err, (size_t)plan->n_groups * sizeof *w->ranges);
    }
    for (int32_t i = 0; i < plan->n_layers; i++)
        read[plan->layers[i].input] = 1;
    sk_status status = SK_OK;
    for (int32_t i = 0; i < plan->n_values && status == SK_OK; i++) {
        sk_value v = plan->values[i];
        if (plan->moved[i] && !read[v])
            continue;
        watched *item = &w->items[w->count++];
        *item = (watched){.value = v, .group = plan->moved[i] ? -1 : plan->group_of[i]};
        for (int32_t k = 0; k < plan->n_layers && !item->sums; k++) {
            if (plan->layers[k].input != v)
                continue;
            const sk_node *conv = &job->graph->nodes[plan->layers[k].node];
            item->n_sums = sk_quantise_channels_read(job->graph, conv);
            item->sums = sk_calloc((size_t)item->n_sums, sizeof *item->sums);
            if (!item->sums)
                status = sk_fail_memory(err, (size_t)item->n_sums * sizeof *item->sums);
        }
    }
    sk_free(read);
    for (int32_t i = 0; i < plan->n_layers && status == SK_OK; i++) {
        sk_value v = job->graph->nodes[plan->layers[i].node].out[0];
        int32_t at = find_watched(w, v);
        if (at < 0) {
            at = w->count++;
            w->items[at] = (watched){.value = v, .group = -1};
        }
        w->items[at].own = sk_calloc(1, sizeof *w->items[at].own);
        if (!w->items[at].own)
            status = sk_fail_memory(err, sizeof *w->items[at].own);
    }
    for (int32_t i = 0; i < w->count && status == SK_OK; i++) {
        if (w->items[i].group >= 0 && !w->items[i].own)
            w->items[i].own = sk_calloc(1, sizeof *w->items[i].own);
        if (w->items[i].group >= 0 && !w->items[i].own)
            status = sk_fail_memory(err, sizeof *w->items[i].own);
    }
    for (int32_t i = 0; i < w->count && status == SK_OK; i++)
        status = watch_channels(job, &w->items[i], err);
    qsort(w->items, (size_t)w->count, sizeof *w->items,
          by_value); /* early ones need only part of the network */
    return status;
}

static void unwatch(watching *w)
{
    for (int32_t i = 0; w->items && i < w->count; i++)
        sk_free_all(w->items[i].sums, w->items[i].own, w->items[i].most);
    sk_free(w->items);
    sk_free(w->ranges);
}

static void look_at_channels(watched *item, const sk_tensor *seen)
{
    const int64_t *d = seen->shape.dim;
    const float *x = seen->data;
    if (!item->most || seen->shape.rank != 4 || d[1] != item->n_most)
        return;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++) {
            float most = item->most[c];
            for (int64_t i = 0; i < d[2] * d[3]; i++, x++)
                most = fabsf(*x) > most ? fabsf(*x) : most;
            item->most[c] = most;
        }
}

static void look(watched *item, const sk_tensor *seen)
{
    const int64_t *d = seen->shape.dim;
    const float *x = seen->data;
    if (seen->dtype != SK_DTYPE_F32)
        return;
    if (item->own) /* given to the group when all is seen */
        sk_range_add(item->own, x, sk_shape_count(&seen->shape));
    look_at_channels(item, seen);
    if (!item->sums || seen->shape.rank != 4 || d[1] != item->n_sums)
        return;
    for (int64_t n = 0; n < d[0]; n++)
        for (int64_t c = 0; c < d[1]; c++) {
            double sum = 0;
            for (int64_t i = 0; i < d[2] * d[3]; i++)
                sum += (double)*x++;
            item->sums[c] += sum;
        }
    item->count += (double)(d[0] * d[2] * d[3]);
}

/* One share of the values over all frames that are for this. */
static sk_status look_at_share(sk_quantize_job *job, watching *w, int32_t first, int32_t count, sk_error *err)
{
    sk_session *session = NULL;
    sk_value outputs[SK_SESSION_MAX_OUTPUTS];
    sk_tensor seen[SK_SESSION_MAX_OUTPUTS];
    sk_status status = SK_OK;
    for (int32_t i = 0; i < count; i++)
        outputs[i] = w->items[first + i].value;
    SK_TRY(sk_quantize_session(job, job->graph, outputs, count, false, SK_PRECISION_F32, &session, err));
    for (size_t f = 0; f < job->n_inputs; f++) {
        if (job->inputs[f].held)
            continue;
        SK_TRY_GOTO(sk_quantize_run_input(session, job->inputs[f].data, seen, err));
        for (int32_t i = 0; i < count; i++)
            look(&w->items[first + i], &seen[i]);
        SK_TRY_GOTO(sk_quantize_tick(job, err));
    }
done:
    sk_session_close(&session);
    return status;
}

static sk_quantise_scale scale_of(const sk_quantize_job *job, const sk_range *range)
{
    const sk_quantize_settings *s = job->s;
    return s->precision == SK_QUANTIZE_FP8 ? sk_range_f8_scale(range, s->ranges, s->percent)
                                           : sk_range_scale(range, s->ranges, s->percent);
}

/* As far as a layer's own 256 steps would reach; of fp8, as far as was seen. */
static void keep_reach(const sk_quantize_job *job, const watching *w, sk_quantize_report *report)
{
    for (int32_t i = 0; i < job->plan->n_layers; i++) {
        int32_t at = find_watched(w, job->graph->nodes[job->plan->layers[i].node].out[0]);
        if (at < 0 || !w->items[at].own)
            continue;
        const bool f8 = job->s->precision == SK_QUANTIZE_FP8;
        sk_quantise_scale s = scale_of(job, w->items[at].own);
        report->rows[i].low = f8 ? w->items[at].own->low : -(float)s.zero * s.scale;
        report->rows[i].high = f8 ? w->items[at].own->high : (float)(255 - s.zero) * s.scale;
    }
}

static sk_status keep_numbers(sk_quantize_job *job, watching *w, sk_error *err)
{
    const sk_quantise_plan *plan = job->plan;
    job->scales = sk_calloc(job->graph->n_values + 1, sizeof *job->scales);
    job->means = sk_calloc((size_t)plan->n_layers, sizeof *job->means);
    job->reach = sk_calloc(job->graph->n_values + 1, sizeof *job->reach);
    job->n_channel_reach = job->graph->n_values;
    job->channel_reach = sk_calloc(job->n_channel_reach + 1, sizeof *job->channel_reach);
    sk_quantise_scale *groups = sk_calloc((size_t)plan->n_groups, sizeof *groups);
    sk_status status = job->scales && job->means && job->reach && job->channel_reach && groups
                           ? SK_OK
                           : sk_fail_memory(err, job->graph->n_values * sizeof *job->scales);
    for (int32_t g = 0; g < plan->n_groups && status == SK_OK; g++)
        groups[g] = scale_of(job, &w->ranges[g]);
    for (int32_t i = 0; i < w->count && status == SK_OK; i++) {
        if (w->items[i].own)
            job->reach[w->items[i].value] = fmaxf(w->items[i].own->high, -w->items[i].own->low);
        job->channel_reach[w->items[i].value] = w->items[i].most;
        w->items[i].most = NULL;
    }
    for (int32_t i = 0; i < plan->n_values && status == SK_OK; i++)
        job->scales[plan->values[i]] = groups[plan->group_of[i]];
    for (int32_t i = 0; i < plan->n_layers && status == SK_OK; i++) {
        int32_t at = find_watched(w, plan->layers[i].input);
        const watched *item = at >= 0 ? &w->items[at] : NULL;
        if (!item || !item->sums || item->count == 0)
            continue;
        job->means[i] = sk_calloc((size_t)item->n_sums, sizeof **job->means);
        if (!job->means[i])
            status = sk_fail_memory(err, (size_t)item->n_sums * sizeof **job->means);
        for (int64_t c = 0; job->means[i] && c < item->n_sums; c++)
            job->means[i][c] = (float)(item->sums[c] / item->count);
    }
    sk_free(groups);
    return status;
}

void sk_quantize_numbers_free(sk_quantize_job *job)
{
    for (int32_t i = 0; job->means && i < job->plan->n_layers; i++)
        sk_free(job->means[i]);
    for (size_t i = 0; job->channel_reach && i < job->n_channel_reach; i++)
        sk_free(job->channel_reach[i]);
    sk_free_all(job->means, job->scales, job->reach, job->channel_reach);
    job->means = NULL;
    job->channel_reach = NULL;
    job->scales = NULL;
    job->reach = NULL;
}

sk_status sk_quantize_calibrate(sk_quantize_job *job, sk_quantize_report *report, sk_error *err)
{
    watching w = {0};
    sk_status status = SK_OK;
    SK_TRY_GOTO(watch_values(job, &w, err));
    int32_t shares = (w.count + SK_SESSION_MAX_OUTPUTS - 1) / SK_SESSION_MAX_OUTPUTS;
    sk_quantize_begin(job, "calibrating", (int64_t)shares * sk_quantize_inputs(job, false));
    for (int32_t first = 0; first < w.count; first += SK_SESSION_MAX_OUTPUTS) {
        int32_t count = w.count - first < SK_SESSION_MAX_OUTPUTS ? w.count - first : SK_SESSION_MAX_OUTPUTS;
        SK_TRY_GOTO(look_at_share(job, &w, first, count, err));
    }
    for (int32_t i = 0; i < w.count; i++)
        if (w.items[i].own && w.items[i].group >= 0)
            sk_range_merge(&w.ranges[w.items[i].group], w.items[i].own);
    keep_reach(job, &w, report);
    status = keep_numbers(job, &w, err);
done:
    unwatch(&w);
    return status;
}

/* --- the network --- */

/* Numbers of the plan of all layers, for a plan of some. */
sk_status sk_quantize_make(sk_quantize_job *job, const uint8_t *stays, bool simulate,
                           sk_quantize_report *rows, sk_graph **out, sk_error *err)
{
    sk_quantise_plan *plan = NULL;
    sk_status status;
    sk_quantise_scale *groups = NULL;
    const float **means = NULL;
    double *errors = NULL;
    SK_TRY(sk_quantise_plan_open(job->graph, stays, &plan, err));
    groups = sk_calloc((size_t)plan->n_groups, sizeof *groups);
    means = sk_calloc((size_t)plan->n_layers, sizeof *means);
    errors = sk_calloc((size_t)plan->n_layers, sizeof *errors);
    if (!groups || !means || !errors) {
        status = sk_fail_memory(err, (size_t)plan->n_layers * sizeof *means);
        goto done;
    }
    for (int32_t i = 0; i < plan->n_values; i++)
        groups[plan->group_of[i]] = job->scales[plan->values[i]];
    for (int32_t i = 0, k = 0; i < plan->n_layers; i++) {
        while (job->plan->layers[k].node != plan->layers[i].node)
            k++; /* both are in the order of nodes, and one is part of the other */
        means[i] = job->means[k];
    }
    sk_quantise_numbers numbers = {.groups = groups,
                                   .means = means,
                                   .weight_error = errors,
                                   .simulate = simulate,
                                   .f8 = job->s->precision == SK_QUANTIZE_FP8};
    SK_TRY_GOTO(sk_quantise_rewrite(job->graph, plan, &numbers, out, err));
    for (int32_t i = 0, k = 0; rows && i < plan->n_layers; i++) {
        while (job->plan->layers[k].node != plan->layers[i].node)
            k++;
        rows->rows[k].weight_error = errors[i];
    }
    if (rows) {
        rows->about.layers = plan->n_layers;
        rows->about.kept = plan->n_kept;
    }
done:
    sk_free_all(groups, means, errors);
    sk_quantise_plan_close(&plan);
    return status;
}
