/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/peak_table.h"

#include "tasks/peak_formula.h"

#include <string.h>

bool sk_peak_wish_equal(const sk_peak_wish *a, const sk_peak_wish *b)
{
    if (a->local != b->local || a->threshold != b->threshold || a->refinement != b->refinement ||
        a->maps != b->maps || a->offsets != b->offsets || a->classes != b->classes ||
        a->fields != b->fields || a->maps_stride != b->maps_stride ||
        a->classes_stride != b->classes_stride || a->fields_stride != b->fields_stride ||
        a->capacity != b->capacity || a->pairs != b->pairs || a->n_channels != b->n_channels ||
        a->n_classes != b->n_classes || a->n_edges != b->n_edges || a->n_points != b->n_points ||
        a->max_edge_length_ratio != b->max_edge_length_ratio ||
        a->dist_penalty_weight != b->dist_penalty_weight)
        return false;
    return memcmp(a->edges, b->edges, (size_t)a->n_edges * sizeof a->edges[0]) == 0;
}

sk_peak_layout sk_peak_layout_of(const sk_peak_wish *wish)
{
    sk_peak_layout at = {.counts = 4, .row_words = 4 + wish->n_classes};
    at.rows = (at.counts + wish->n_channels + 3) / 4 * 4;
    at.lines = at.rows + wish->n_channels * wish->capacity * at.row_words;
    at.words = (at.lines + wish->pairs + 63) / 64 * 64;
    return at;
}

int64_t sk_peak_lines(const sk_peak_wish *wish, const sk_peak_word *counts)
{
    int64_t n = 0;
    for (int32_t e = 0; wish->pairs > 0 && e < wish->n_edges; e++)
        n += (int64_t)counts[wish->edges[e][0]].i * counts[wish->edges[e][1]].i;
    return n;
}

sk_status sk_peak_table_check(const sk_peak_word *table, const sk_peak_wish *wish, int32_t width,
                              int32_t height, sk_error *err)
{
    const sk_peak_layout at = sk_peak_layout_of(wish);
    const sk_peak_word *counts = table + at.counts;
    for (int32_t c = 0; c < wish->n_channels; c++) {
        int32_t last = -1;
        if (counts[c].i < 0 || counts[c].i > wish->capacity)
            return sk_fail(err, SK_ERR_MISMATCH, "a table of peaks has %d rows of %d for map %d",
                           (int)counts[c].i, (int)wish->capacity, (int)c);
        for (int32_t i = 0; i < counts[c].i; i++) {
            const int32_t place = sk_peak_row(table, wish, &at, c, i)->i;
            if (place <= last || place >= (int64_t)width * height)
                return sk_fail(err, SK_ERR_MISMATCH, "a table of peaks names place %d after %d in %dx%d",
                               (int)place, (int)last, (int)width, (int)height);
            last = place;
        }
    }
    if (table[1].i != sk_peak_lines(wish, counts) || table[1].i > wish->pairs)
        return sk_fail(err, SK_ERR_MISMATCH, "a table of peaks has %d lines where its peaks make %lld",
                       (int)table[1].i, (long long)sk_peak_lines(wish, counts));
    return SK_OK;
}

static void fill_row(const sk_peak_wish *w, const sk_map *maps, sk_peak peak, sk_peak_word *row)
{
    row[0].i = (int32_t)peak.y * maps[w->maps].width + (int32_t)peak.x;
    row[1].f = peak.value;
    if (w->offsets >= 0)
        sk_peak_offset(&maps[w->offsets], &peak);
    else
        sk_peak_refine(&maps[w->maps], (sk_refinement)w->refinement, SK_PEAK_PATCH, &peak);
    row[2].f = peak.x;
    row[3].f = peak.y;
    for (int32_t k = 0; k < w->n_classes; k++) {
        const sk_map *classes = &maps[w->classes];
        row[4 + k].f = sk_map_at(classes, k,
                                 sk_peak_pixel_of(peak.y, w->maps_stride, w->classes_stride, classes->height),
                                 sk_peak_pixel_of(peak.x, w->maps_stride, w->classes_stride, classes->width));
    }
}

static void fill_lines(const sk_peak_wish *w, const sk_map *fields, const sk_peak_layout *at,
                       sk_peak_word *table)
{
    const sk_paf_settings paf = {.n_points = w->n_points,
                                 .max_edge_length_ratio = w->max_edge_length_ratio,
                                 .dist_penalty_weight = w->dist_penalty_weight};
    sk_peak_word *score = table + at->lines;
    for (int32_t e = 0; e < w->n_edges; e++)
        for (int32_t i = 0; i < table[at->counts + w->edges[e][0]].i; i++)
            for (int32_t k = 0; k < table[at->counts + w->edges[e][1]].i; k++) {
                const sk_peak_word *p = sk_peak_row(table, w, at, w->edges[e][0], i),
                                   *q = sk_peak_row(table, w, at, w->edges[e][1], k);
                const float from[2] = {p[2].f * w->maps_stride, p[3].f * w->maps_stride};
                const float to[2] = {q[2].f * w->maps_stride, q[3].f * w->maps_stride};
                (score++)->f = sk_paf_line_score(&paf, fields, w->fields_stride, e, from, to);
            }
}

bool sk_peak_table_fill(const sk_peak_wish *w, const sk_map *maps, sk_peak_word *table)
{
    const sk_peak_layout at = sk_peak_layout_of(w);
    const sk_map *all = &maps[w->maps];
    for (int32_t c = 0; c < at.rows; c++)
        table[c].i = 0;
    for (int32_t c = 0; c < w->n_channels; c++) {
        sk_map one = *all;
        sk_peak found[SK_PEAK_ROWS];
        const int32_t room = w->capacity < SK_PEAK_ROWS ? w->capacity : SK_PEAK_ROWS;
        one.data += c * all->channel_stride;
        one.channels = 1;
        int32_t n = 1;
        if (w->local)
            n = sk_peaks_local(&one, w->threshold, found, room);
        else
            sk_peaks_global(&one, w->threshold, found);
        if (!w->local && !isfinite(found[0].x))
            n = 0;
        if (n > room) {
            table[0].i = SK_PEAK_WHOLE;
            return false;
        }
        table[at.counts + c].i = n;
        for (int32_t i = 0; i < n; i++) {
            found[i].channel = c;
            fill_row(w, maps, found[i], table + (sk_peak_row(table, w, &at, c, i) - table));
        }
    }
    const int64_t lines = sk_peak_lines(w, table + at.counts);
    if (lines > w->pairs) {
        table[0].i = SK_PEAK_WHOLE;
        return false;
    }
    table[1].i = (int32_t)lines;
    if (lines)
        fill_lines(w, &maps[w->fields], &at, table);
    return true;
}
