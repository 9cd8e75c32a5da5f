/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/session.h"

#include <stdio.h>
#include <string.h>

/* Peaks of SLEAP's maps on the device: the steps that look for them, and the host's side, which puts rows in order and, for
 * an image with more peaks than its table holds, fetches the maps. Those lie in the slot's own memory for that. */

/* --- steps --- */

static int32_t looked_at(const sk_peak_wish *w, int k)
{
    const int32_t outputs[] = {w->maps, w->offsets, w->classes, w->fields};
    return outputs[k];
}

bool gpu_is_looked_at(const gpu_plan *plan, int32_t output)
{
    for (int k = 0; plan->peaks.n > 0 && k < 4; k++)
        if (looked_at(&plan->peaks.wish, k) == output)
            return true;
    return false;
}

static gpu_view view_of(const gpu_plan *plan, sk_value v)
{
    const sk_shape *s = gpu_shape(plan, v);
    const int64_t c = s->dim[1], places = s->dim[2] * s->dim[3];
    gpu_view view = {places * c, 1, (int32_t)places, (int32_t)s->dim[2], (int32_t)s->dim[3], GPU_F32};
    if (gpu_is_map(plan, v)) {
        view.pixel = gpu_map_pitch(plan, v);
        view.channel = 1;
        view.image = places * view.pixel;
        view.type = plan->type;
    }
    return view;
}

/* Where an output lies; from now on in every slot by itself. */
static sk_status bind(gpu_plan *plan, int32_t output, gpu_view *view, gpu_ref *ref, sk_error *err)
{
    const sk_value v = plan->graph->outputs[output];
    if (plan->graph->values[v].blob || plan->values[v].input >= 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "output %s does not depend on the network",
                       plan->graph->values[v].name);
    if (gpu_is_map(plan, v))
        *ref = gpu_map_ref(plan, v);
    else
        SK_TRY(gpu_dense_ref(plan, v, ref, err));
    plan->buffers[ref->buffer].per_slot = 1;
    *view = view_of(plan, v);
    return SK_OK;
}

static sk_status add_step(gpu_plan *plan, const gpu_peaks_args *args, int32_t what, gpu_ref to,
                          const gpu_ref *maps, const gpu_ref *offsets, const gpu_ref *others,
                          const gpu_ref *slices, sk_error *err)
{
    static const char *const names[] = {"clear counts", "peaks", "slices", "highest", "lines"};
    const gpu_ref *from[] = {maps, offsets, others, slices};
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_PEAKS, NULL, &step, err));
    step->args.peaks = *args;
    step->args.peaks.what = what;
    step->refs[0] = to;
    step->n_refs = 5;
    for (int i = 0; i < 4; i++)
        if (from[i] && from[i]->buffer != GPU_NO_BUFFER)
            step->refs[1 + i] = *from[i];
    snprintf(step->kernel, sizeof step->kernel, "%s", names[what]);
    snprintf(step->shape, sizeof step->shape, "%dx%dx%d", args->channels, args->maps.h, args->maps.w);
    return SK_OK;
}

static gpu_peaks_args args_of(const gpu_peaks *p)
{
    const sk_peak_wish *w = &p->wish;
    gpu_peaks_args a = {.image_words = p->at.words,
                        .n = p->n,
                        .channels = w->n_channels,
                        .capacity = w->capacity,
                        .row_words = p->at.row_words,
                        .counts = p->at.counts,
                        .rows = p->at.rows,
                        .lines = p->at.lines,
                        .pairs = w->pairs,
                        .n_classes = w->n_classes,
                        .n_edges = w->n_edges,
                        .n_points = w->n_points,
                        .refinement = w->refinement,
                        .threshold = w->threshold,
                        .maps_stride = w->maps_stride,
                        .ratio = w->max_edge_length_ratio,
                        .weight = w->dist_penalty_weight};
    for (int32_t e = 0; e < w->n_edges; e++)
        for (int k = 0; k < 2; k++)
            a.edges[e][k] = (uint8_t)w->edges[e][k];
    return a;
}

/* All local maxima, then the lines between them. */
static sk_status build_local(gpu_plan *plan, gpu_peaks_args *a, const gpu_ref refs[4],
                             const gpu_view views[4], sk_error *err)
{
    const gpu_ref table = {.buffer = plan->peaks.buffer};
    SK_TRY(add_step(plan, a, GPU_PEAKS_CLEAR, table, NULL, NULL, NULL, NULL, err));
    a->others = views[2];
    a->others_stride = plan->peaks.wish.classes_stride;
    SK_TRY(add_step(plan, a, GPU_PEAKS_LOCAL, table, &refs[0], &refs[1], &refs[2], NULL, err));
    if (plan->peaks.wish.fields < 0)
        return SK_OK;
    a->others = views[3];
    a->others_stride = plan->peaks.wish.fields_stride;
    return add_step(plan, a, GPU_PEAKS_LINES, table, NULL, NULL, &refs[3], NULL, err);
}

/* The highest of each map: of large ones' slices first, so that many blocks can look. */
static sk_status build_highest(gpu_plan *plan, gpu_peaks_args *a, const gpu_ref refs[4], sk_error *err)
{
    const gpu_ref table = {.buffer = plan->peaks.buffer};
    const int64_t places = (int64_t)a->maps.h * a->maps.w;
    gpu_ref slices = {0};
    if (places <= 8192)
        return add_step(plan, a, GPU_PEAKS_HIGHEST, table, &refs[0], &refs[1], NULL, NULL, err);
    a->n_slices = (int32_t)(places >= 64 * 1024 ? 64 : places / 1024);
    SK_TRY(gpu_add_buffer(plan, (size_t)a->n * (size_t)a->n_slices * (size_t)a->channels * 12, 0,
                          &slices.buffer, err));
    SK_TRY(add_step(plan, a, GPU_PEAKS_SLICES, slices, &refs[0], NULL, NULL, NULL, err));
    return add_step(plan, a, GPU_PEAKS_HIGHEST, table, &refs[0], &refs[1], NULL, &slices, err);
}

sk_status gpu_build_peaks(gpu_plan *plan, sk_error *err)
{
    gpu_peaks *p = &plan->peaks;
    gpu_ref refs[4];
    gpu_view views[4] = {{0}};
    p->wish = *plan->settings.stages.peaks;
    p->at = sk_peak_layout_of(&p->wish);
    plan->node_name = "peaks";
    for (int k = 0; k < 4; k++) {
        refs[k] = (gpu_ref){.buffer = GPU_NO_BUFFER};
        if (looked_at(&p->wish, k) >= 0)
            SK_TRY(bind(plan, looked_at(&p->wish, k), &views[k], &refs[k], err));
    }
    p->n = (int32_t)gpu_shape(plan, plan->graph->outputs[p->wish.maps])->dim[0];
    SK_TRY(gpu_add_buffer(plan, (size_t)p->n * (size_t)p->at.words * 4, 0, &p->buffer, err));
    plan->buffers[p->buffer].per_slot = 1;
    gpu_peaks_args a = args_of(p);
    a.maps = views[0];
    a.offsets = views[1];
    return p->wish.local ? build_local(plan, &a, refs, views, err) : build_highest(plan, &a, refs, err);
}

/* --- the host's side --- */

sk_status gpu_peaks_open(gpu_session *s, sk_error *err)
{
    const gpu_plan *plan = &s->plan;
    const gpu_peaks *p = &plan->peaks;
    if (p->n == 0)
        return SK_OK;
    const size_t words = (size_t)p->n * (size_t)p->at.words,
                 rows = (size_t)p->wish.n_channels * (size_t)p->wish.capacity;
    s->peak_order = sk_calloc(rows, sizeof *s->peak_order);
    if (!s->peak_order)
        return sk_fail_memory(err, rows * sizeof *s->peak_order);
    for (int32_t k = 0; k < s->n_slots; k++) {
        gpu_slot *slot = &s->slots[k];
        slot->table = sk_aligned_calloc(64, words * sizeof *slot->table);
        if (!slot->table)
            return sk_fail_memory(err, words * sizeof *slot->table);
        for (int32_t i = 0; i < plan->graph->n_outputs; i++) {
            const size_t count = (size_t)sk_shape_count(gpu_shape(plan, plan->graph->outputs[i]));
            if (!gpu_is_looked_at(plan, i))
                continue;
            slot->whole[i] = sk_aligned_calloc(64, count * sizeof(float));
            if (!slot->whole[i])
                return sk_fail_memory(err, count * sizeof(float));
        }
    }
    return SK_OK;
}

void gpu_peaks_close(gpu_session *s)
{
    for (int32_t k = 0; k < SK_SESSION_MAX_SLOTS; k++)
        sk_free(s->slots[k].table);
    sk_free(s->peak_order);
}

/* Words of an image that come down without knowing its counts: all rows, and the lines of some dozen peaks. */
static size_t first_words(const gpu_peaks *p)
{
    enum { LINES = 1024 };
    return (size_t)p->at.lines + (size_t)(p->wish.pairs < LINES ? p->wish.pairs : LINES);
}

int gpu_peaks_download(gpu_session *s, int32_t slot)
{
    const gpu_peaks *p = &s->plan.peaks;
    const size_t offset = s->plan.buffers[p->buffer].offset;
    return gpu_download(s, slot, offset, first_words(p) * 4, (size_t)p->n, (size_t)p->at.words * 4);
}

/* One image of an output that was looked at, as it is on the device, to `whole`. */
static sk_status fetch_map(gpu_session *s, gpu_slot *slot, int32_t output, int32_t image, sk_error *err)
{
    const sk_value v = s->plan.graph->outputs[output];
    const gpu_view view = view_of(&s->plan, v);
    const int32_t c = (int32_t)gpu_shape(&s->plan, v)->dim[1], places = view.h * view.w;
    const gpu_ref ref =
        gpu_is_map(&s->plan, v) ? gpu_map_ref(&s->plan, v) : (gpu_ref){.buffer = s->plan.values[v].dense};
    const size_t element = gpu_is_narrow(view.type) ? 2 : 4;
    /* from the first to the last value of this image: a range of channels does not begin where the buffer does */
    const size_t offset =
        s->plan.buffers[ref.buffer].offset + ref.offset + (size_t)image * (size_t)view.image * element;
    const size_t bytes =
        ((size_t)(places - 1) * (size_t)view.pixel + (size_t)(c - 1) * (size_t)view.channel + 1) * element;
    uint8_t *host = slot->host + offset;
    SK_TRY(gpu_check(s, gpu_copy_down(host, slot->device + offset, bytes, s->rest), "download", err));
    SK_TRY(gpu_check(s, gpu_stream_wait(s->rest), "download", err));
    float *to = slot->whole[output] + (size_t)image * (size_t)c * (size_t)places;
    for (int32_t k = 0; k < c; k++)
        for (int32_t i = 0; i < places; i++) {
            const size_t at = (size_t)i * (size_t)view.pixel + (size_t)k * (size_t)view.channel;
            to[(size_t)k * (size_t)places + (size_t)i] =
                view.type == GPU_F16    ? sk_f16_to_f32(((const uint16_t *)(const void *)host)[at])
                : view.type == GPU_BF16 ? sk_bf16_to_f32(((const uint16_t *)(const void *)host)[at])
                                        : ((const float *)(const void *)host)[at];
        }
    return SK_OK;
}

static sk_status fetch_maps(gpu_session *s, gpu_slot *slot, int32_t image, sk_peak_word *table, sk_error *err)
{
    table[0].i = SK_PEAK_WHOLE;
    for (int k = 0; k < 4; k++)
        if (looked_at(&s->plan.peaks.wish, k) >= 0)
            SK_TRY(fetch_map(s, slot, looked_at(&s->plan.peaks.wish, k), image, err));
    return SK_OK;
}

/* The order of a map's rows by place. Mostly few, often nearly in order. */
static void order_rows(const gpu_peaks *p, const sk_peak_word *rows, int32_t n, int32_t *order)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t at = i;
        const int32_t place = rows[(size_t)i * (size_t)p->at.row_words].i;
        for (; at > 0 && rows[(size_t)order[at - 1] * (size_t)p->at.row_words].i > place; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* Rows and lines as they came to their order. */
static void sort_table(const gpu_session *s, const sk_peak_word *raw, sk_peak_word *table)
{
    const gpu_peaks *p = &s->plan.peaks;
    const sk_peak_wish *w = &p->wish;
    const size_t words = (size_t)p->at.row_words;
    for (int32_t c = 0; c < w->n_channels; c++) {
        int32_t *order = s->peak_order + (size_t)c * (size_t)w->capacity;
        const sk_peak_word *rows = sk_peak_row(raw, w, &p->at, c, 0);
        const int32_t n = raw[p->at.counts + c].i;
        sk_peak_word *to = table + (rows - raw);
        order_rows(p, rows, n, order);
        for (int32_t i = 0; i < n; i++)
            memcpy(to + (size_t)i * words, rows + (size_t)order[i] * words, words * sizeof *to);
        table[p->at.counts + c].i = n;
    }
    const sk_peak_word *from = raw + p->at.lines;
    sk_peak_word *to = table + p->at.lines;
    for (int32_t e = 0; e < w->n_edges; e++) {
        const int32_t *rows = s->peak_order + (size_t)w->edges[e][0] * (size_t)w->capacity;
        const int32_t *columns = s->peak_order + (size_t)w->edges[e][1] * (size_t)w->capacity;
        const int32_t n = raw[p->at.counts + w->edges[e][0]].i, m = raw[p->at.counts + w->edges[e][1]].i;
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < m; k++)
                *to++ = from[rows[i] * m + columns[k]];
        from += n * m;
    }
}

sk_status gpu_peaks_unpack(gpu_session *s, int32_t index, sk_error *err)
{
    const gpu_peaks *p = &s->plan.peaks;
    gpu_slot *slot = &s->slots[index];
    for (int32_t n = 0; n < p->n; n++) {
        const size_t offset = s->plan.buffers[p->buffer].offset + (size_t)n * (size_t)p->at.words * 4;
        const sk_peak_word *raw = (const sk_peak_word *)(const void *)(slot->host + offset);
        sk_peak_word *table = slot->table + (size_t)n * (size_t)p->at.words;
        bool fits = true;
        table[0].i = SK_PEAK_COMPLETE;
        for (int32_t c = 0; c < p->wish.n_channels; c++)
            fits = fits && raw[p->at.counts + c].i >= 0 && raw[p->at.counts + c].i <= p->wish.capacity;
        const int64_t lines = fits ? sk_peak_lines(&p->wish, raw + p->at.counts) : 0;
        if (!fits || lines > p->wish.pairs) {
            SK_TRY(fetch_maps(s, slot, n, table, err));
            continue;
        }
        const size_t need = (size_t)p->at.lines + (size_t)lines, have = first_words(p);
        if (need > have) { /* unusually many: the rest comes now */
            SK_TRY(gpu_check(s,
                             gpu_copy_down(slot->host + offset + have * 4, slot->device + offset + have * 4,
                                           (need - have) * 4, s->rest),
                             "download", err));
            SK_TRY(gpu_check(s, gpu_stream_wait(s->rest), "download", err));
        }
        table[1].i = (int32_t)lines;
        sort_table(s, raw, table);
    }
    return SK_OK;
}
