/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/sleap_post_internal.h"

#include "base/instances.h"
#include "tasks/order.h"

#include <math.h>
#include <string.h>

bool sk_sleap_on_crops(sk_task task)
{
    return task == SK_TASK_CENTERED_INSTANCE || task == SK_TASK_MULTICLASS_TOPDOWN;
}

const sk_map *sk_sleap_map_of(const sk_sleap_post *p, const sk_map *maps, sk_output_kind kind)
{
    return p->at[kind] >= 0 ? &maps[p->at[kind]] : NULL;
}

sk_status sk_sleap_check_maps(const sk_sleap_post *p, const sk_map *maps, int32_t n_maps,
                              const sk_instances *out, sk_error *err)
{
    if (n_maps < p->n_outputs)
        return sk_fail(err, SK_ERR_MISMATCH, "the network gave %d outputs; %d are expected", (int)n_maps,
                       (int)p->n_outputs);
    const sk_map *m = sk_sleap_map_of(p, maps, SK_OUTPUT_CONFMAPS),
                 *o = sk_sleap_map_of(p, maps, SK_OUTPUT_OFFSETS);
    if (m->channels != p->n_nodes)
        return sk_fail(err, SK_ERR_MISMATCH, "the confidence maps have %d channels; the model has %d nodes",
                       (int)m->channels, (int)p->n_nodes);
    if (o && (o->channels != 2 * p->n_nodes || o->width != m->width || o->height != m->height))
        return sk_fail(err, SK_ERR_MISMATCH, "the offset maps do not fit the confidence maps");
    const sk_map *c = sk_sleap_map_of(p, maps, SK_OUTPUT_CLASS_MAPS),
                 *v = sk_sleap_map_of(p, maps, SK_OUTPUT_CLASS_VECTORS);
    if ((p->task == SK_TASK_MULTICLASS_BOTTOMUP && c->channels != p->n_classes) ||
        (p->task == SK_TASK_MULTICLASS_TOPDOWN && v->channels * v->height * v->width != p->n_classes))
        return sk_fail(err, SK_ERR_MISMATCH, "the class output does not have the model's %d classes",
                       (int)p->n_classes);
    if (out->capacity < p->capacity || out->n_keypoints != p->n_nodes)
        return sk_fail(err, SK_ERR_ARG,
                       "the result list holds %d instances of %d keypoints; %d of %d are needed",
                       (int)out->capacity, (int)out->n_keypoints, (int)p->capacity, (int)p->n_nodes);
    return SK_OK;
}

void sk_sleap_refine(const sk_sleap_post *p, const sk_map *maps, sk_peak *peak)
{
    const sk_map *offsets = sk_sleap_map_of(p, maps, SK_OUTPUT_OFFSETS);
    if (p->table)
        ;
    else if (offsets && p->legacy)
        sk_peak_offset(offsets, peak);
    else
        sk_peak_refine(sk_sleap_map_of(p, maps, SK_OUTPUT_CONFMAPS), p->settings.refinement,
                       p->settings.patch, peak);
    peak->x *= p->stride[SK_OUTPUT_CONFMAPS];
    peak->y *= p->stride[SK_OUTPUT_CONFMAPS];
}

static sk_peak peak_of_row(const sk_sleap_post *p, int32_t node, int32_t index)
{
    const sk_peak_word *row = sk_peak_row(p->table, &p->wish, &p->layout, node, index);
    return (sk_peak){row[2].f, row[3].f, row[1].f, node};
}

void sk_sleap_highest_peaks(sk_sleap_post *p, const sk_map *maps)
{
    if (!p->table) {
        sk_peaks_global(sk_sleap_map_of(p, maps, SK_OUTPUT_CONFMAPS), p->wish.threshold, p->peaks);
        return;
    }
    for (int32_t k = 0; k < p->n_nodes; k++)
        p->peaks[k] = p->table[p->layout.counts + k].i > 0 ? peak_of_row(p, k, 0) : (sk_peak){NAN, NAN, 0, k};
}

/* Local peaks of one node into p->scan, refined where they come from a table. */
static int32_t scan_node(sk_sleap_post *p, const sk_map *maps, int32_t node)
{
    if (p->table) {
        const int32_t n = p->table[p->layout.counts + node].i;
        for (int32_t i = 0; i < n; i++)
            p->scan[i] = peak_of_row(p, node, i);
        return n;
    }
    const sk_map *all = sk_sleap_map_of(p, maps, SK_OUTPUT_CONFMAPS);
    sk_map one = *all;
    one.data += node * all->channel_stride;
    one.channels = 1;
    const int32_t n = sk_peaks_local(&one, p->settings.peak_threshold, p->scan, SK_SLEAP_MOST_PEAKS);
    return n < SK_SLEAP_MOST_PEAKS ? n : SK_SLEAP_MOST_PEAKS;
}

/* Local peaks of one node, refined, at most `most`: the highest, still in their order. `rank` (may be null) gets their
 * numbers among all of the node's. */
static int32_t node_peaks(sk_sleap_post *p, const sk_map *maps, int32_t node, sk_peak *out, int32_t *rank,
                          int32_t most)
{
    int32_t n = scan_node(p, maps, node), count = 0, equal = n; /* of those at `least`: so many fit */
    float least = -INFINITY;
    if (n > most) {
        for (int32_t i = 0; i < n; i++)
            p->values[i] = p->scan[i].value;
        sk_order_descending(p->values, n, p->order, p->keys);
        least = p->values[p->order[most - 1]];
        equal = most;
        for (int32_t i = 0; i < n; i++)
            equal -= p->values[i] > least;
    }
    for (int32_t i = 0; i < n && count < most; i++) {
        if (!(p->scan[i].value > least) && (p->scan[i].value != least || equal-- <= 0))
            continue;
        if (rank)
            rank[count] = i;
        sk_peak *peak = &out[count++];
        *peak = p->scan[i];
        peak->channel = node;
        sk_sleap_refine(p, maps, peak);
    }
    return count;
}

/* Network input pixels to frame pixels. */
static void to_frame(const sk_sleap_post *p, const sk_sleap_geometry *g, float x, float y, sk_keypoint *out)
{
    if (g->input_scale != 1) {
        float half = p->legacy ? 0.5f : 0;
        x = x / g->input_scale + half;
        y = y / g->input_scale + half;
    }
    out->x = x / g->eff_scale;
    out->y = y / g->eff_scale;
}

static void run_single(sk_sleap_post *p, const sk_map *maps, const sk_sleap_geometry *g, sk_instances *out)
{
    sk_sleap_highest_peaks(p, maps);
    sk_found *item = sk_instances_add(out);
    int32_t found = 0;
    for (int32_t k = 0; k < p->n_nodes; k++) {
        sk_peak *peak = &p->peaks[k];
        if (!isfinite(peak->x))
            continue;
        /* SLEAP sums the values of nodes below the threshold, too; sleap-nn has them as 0. */
        item->score += peak->value;
        if (!(peak->value >= p->settings.peak_threshold))
            continue;
        sk_sleap_refine(p, maps, peak);
        sk_keypoint *point = &out->keypoints[item->first_keypoint + k];
        to_frame(p, g, peak->x, peak->y, point);
        point->score = peak->value;
        found++;
    }
    item->has = SK_HAS_KEYPOINTS;
    if (!found && !p->settings.keep_empty)
        out->count = 0;
}

/* Of the centroids, all kept so far, those go whose crop overlaps a better one's by more than the limit. */
static void suppress_centroids(sk_sleap_post *p, const sk_peak *peaks, int32_t n, float side)
{
    for (int32_t r = 0; r < n; r++) {
        int32_t i = p->order[r];
        for (int32_t q = 0; q < r && p->kept[i]; q++) {
            int32_t j = p->order[q];
            float w = side - fabsf(peaks[i].x - peaks[j].x), h = side - fabsf(peaks[i].y - peaks[j].y);
            float inter = p->kept[j] && w > 0 && h > 0 ? w * h : 0;
            if (inter / (2 * side * side - inter) > p->settings.centroid_nms)
                p->kept[i] = 0;
        }
    }
}

static void run_centroid(sk_sleap_post *p, const sk_map *maps, const sk_sleap_geometry *g, sk_instances *out)
{
    int32_t cap = p->settings.paf.max_peaks_per_node, n = node_peaks(p, maps, 0, p->peaks, NULL, cap);
    for (int32_t i = 0; i < n; i++)
        p->values[i] = p->peaks[i].value;
    sk_order_descending(p->values, n, p->order, p->keys);
    for (int32_t i = 0; i < n; i++)
        p->kept[i] = 1;
    if (p->settings.centroid_nms > 0 && p->settings.nms_size > 0)
        suppress_centroids(p, p->peaks, n, (float)p->settings.nms_size * g->input_scale);
    /* All in map order; where only some are wanted, the best, from the highest. */
    int32_t most = p->settings.max_instances ? p->settings.max_instances : p->capacity;
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++)
        left += p->kept[i];
    for (int32_t r = 0; r < n && out->count < most; r++) {
        int32_t i = left > most ? p->order[r] : r;
        if (!p->kept[i])
            continue;
        sk_found *item = sk_instances_add(out);
        item->has = SK_HAS_KEYPOINTS;
        item->score = p->peaks[i].value;
        sk_keypoint *point = &out->keypoints[item->first_keypoint];
        to_frame(p, g, p->peaks[i].x, p->peaks[i].y, point);
        point->score = p->peaks[i].value;
    }
}

/* Where the scores of each edge's lines lie. */
static sk_paf_lines lines_of_table(sk_sleap_post *p)
{
    const sk_peak_word *counts = p->table + p->layout.counts;
    int32_t at = 0;
    for (int32_t e = 0; e < p->wish.n_edges; e++) {
        p->first_line[e] = at;
        p->columns[e] = counts[p->wish.edges[e][1]].i;
        at += counts[p->wish.edges[e][0]].i * p->columns[e];
    }
    return (sk_paf_lines){&p->table[p->layout.lines].f, p->first_line, p->columns, p->rank};
}

static sk_status run_bottomup(sk_sleap_post *p, const sk_map *maps, const sk_sleap_geometry *g,
                              sk_instances *out, sk_error *err)
{
    int32_t cap = p->settings.paf.max_peaks_per_node, n = 0, count;
    for (int32_t k = 0; k < p->n_nodes; k++)
        n += node_peaks(p, maps, k, p->peaks + n, p->rank ? p->rank + n : NULL, cap);
    const sk_paf_instance *found;
    if (p->table) {
        const sk_paf_lines lines = lines_of_table(p);
        SK_TRY(sk_paf_group_lines(p->grouping, p->peaks, n, &lines, &found, &count, err));
    } else {
        SK_TRY(sk_paf_group(p->grouping, p->peaks, n, sk_sleap_map_of(p, maps, SK_OUTPUT_PAFS),
                            p->stride[SK_OUTPUT_PAFS], &found, &count, err));
    }
    if (count > p->most)
        count = p->most;
    for (int32_t i = 0; i < count; i++)
        p->values[i] = found[i].score;
    int32_t most = p->settings.max_instances ? p->settings.max_instances : p->capacity;
    if (count > most)
        sk_order_descending(p->values, count, p->order, p->keys);
    for (int32_t r = 0; r < count && r < most; r++) {
        const sk_paf_instance *from = &found[count > most ? p->order[r] : r];
        sk_found *item = sk_instances_add(out);
        item->has = SK_HAS_KEYPOINTS;
        item->score = from->score;
        for (int32_t k = 0; k < p->n_nodes; k++) {
            if (from->peak_of[k] < 0)
                continue;
            const sk_peak *peak = &p->peaks[from->peak_of[k]];
            sk_keypoint *point = &out->keypoints[item->first_keypoint + k];
            to_frame(p, g, peak->x, peak->y, point);
            point->score = peak->value;
        }
    }
    return SK_OK;
}

static void run_multiclass(sk_sleap_post *p, const sk_map *maps, const sk_sleap_geometry *g,
                           sk_instances *out)
{
    const sk_map *classes = sk_sleap_map_of(p, maps, SK_OUTPUT_CLASS_MAPS);
    float stride = p->stride[SK_OUTPUT_CLASS_MAPS];
    int32_t cap = p->settings.paf.max_peaks_per_node;
    for (int32_t c = 0; c < p->n_classes; c++) {
        sk_found *item = sk_instances_add(out);
        item->has = SK_HAS_KEYPOINTS;
        item->class_id = c;
    }
    for (int32_t k = 0; k < p->n_nodes; k++) {
        int32_t n = node_peaks(p, maps, k, p->peaks, p->rank, cap);
        for (int32_t i = 0; i < n; i++) {
            p->peaks[i].x /= stride;
            p->peaks[i].y /= stride;
        }
        for (int32_t i = 0; p->table && i < n; i++)
            memcpy(p->class_values + (size_t)i * (size_t)p->n_classes,
                   sk_peak_row(p->table, &p->wish, &p->layout, k, p->rank[i]) + 4,
                   (size_t)p->n_classes * sizeof *p->class_values);
        if (p->table)
            sk_identity_from_values(p->identity, p->class_values, n, p->class_of, p->probability);
        else
            sk_identity_from_maps(p->identity, classes, p->peaks, n, p->class_of, p->probability);
        for (int32_t c = 0; c < p->n_classes; c++) {
            if (p->class_of[c] < 0)
                continue;
            const sk_peak *peak = &p->peaks[p->class_of[c]];
            sk_found *item = &out->items[c];
            sk_keypoint *point = &out->keypoints[item->first_keypoint + k];
            to_frame(p, g, peak->x * stride, peak->y * stride, point);
            point->score = peak->value;
            item->score += peak->value;
            item->tracking_score += p->probability[c];
        }
    }
    for (int32_t c = 0; c < p->n_classes; c++) {
        sk_found *item = &out->items[c];
        int32_t found = 0;
        for (int32_t k = 0; k < p->n_nodes; k++)
            found += isfinite(out->keypoints[item->first_keypoint + k].x) ? 1 : 0;
        if (found) {
            item->score /= (float)found;
            item->tracking_score /= (float)found;
        }
    }
}

void sk_sleap_drop_empty(sk_instances *out)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < out->count; i++) {
        int32_t first = out->items[i].first_keypoint, found = 0;
        for (int32_t k = 0; k < out->n_keypoints; k++)
            found |= isfinite(out->keypoints[first + k].x) ? 1 : 0;
        if (!found)
            continue;
        if (kept != i) {
            out->items[kept] = out->items[i];
            out->items[kept].first_keypoint = kept * out->n_keypoints;
            memmove(&out->keypoints[kept * out->n_keypoints], &out->keypoints[first],
                    (size_t)out->n_keypoints * sizeof *out->keypoints);
        }
        kept++;
    }
    out->count = kept;
}

sk_status sk_sleap_post_run(sk_sleap_post *p, const sk_map *maps, int32_t n_maps,
                            const sk_sleap_geometry *geometry, sk_instances *out, sk_error *err)
{
    SK_CHECK_ARG(p && maps && geometry && out, err);
    SK_CHECK_ARG(!sk_sleap_on_crops(p->task), err);
    SK_TRY(sk_sleap_check_maps(p, maps, n_maps, out, err));
    out->count = 0;
    switch (p->task) {
    case SK_TASK_SINGLE_INSTANCE: run_single(p, maps, geometry, out); break;
    case SK_TASK_CENTROID: run_centroid(p, maps, geometry, out); break;
    case SK_TASK_MULTICLASS_BOTTOMUP:
        run_multiclass(p, maps, geometry, out);
        if (!p->settings.keep_empty)
            sk_sleap_drop_empty(out);
        break;
    default: SK_TRY(run_bottomup(p, maps, geometry, out, err)); break;
    }
    return SK_OK;
}

sk_status sk_sleap_take_table(sk_sleap_post *p, const sk_peak_word *table, const sk_map *maps, int32_t n_maps,
                              sk_error *err)
{
    SK_CHECK_ARG(p && table && maps && p->tables, err);
    if (table[0].i == SK_PEAK_WHOLE)
        return SK_OK;
    if (n_maps < p->n_outputs)
        return sk_fail(err, SK_ERR_MISMATCH, "the network gave %d outputs; %d are expected", (int)n_maps,
                       (int)p->n_outputs);
    const sk_map *m = sk_sleap_map_of(p, maps, SK_OUTPUT_CONFMAPS);
    SK_TRY(sk_peak_table_check(table, &p->wish, m->width, m->height, err));
    p->table = table;
    return SK_OK;
}

sk_status sk_sleap_post_run_table(sk_sleap_post *p, const sk_peak_word *table, const sk_map *maps,
                                  int32_t n_maps, const sk_sleap_geometry *geometry, sk_instances *out,
                                  sk_error *err)
{
    SK_TRY(sk_sleap_take_table(p, table, maps, n_maps, err));
    sk_status status = sk_sleap_post_run(p, maps, n_maps, geometry, out, err);
    p->table = NULL;
    return status;
}
