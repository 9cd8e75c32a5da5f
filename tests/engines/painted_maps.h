/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_PAINTED_MAPS_H
#define SK_TESTS_ENGINES_PAINTED_MAPS_H

#include "random_source.h"

#include "engines/engine.h"
#include "graph/builder.h"
#include "tasks/peak_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Networks whose outputs can be painted, and what a session that finds peaks in them must give: the tables the CPU's stages
 * make of the whole outputs, bit for bit. For a GPU of loops and for a real one. */

enum { PAINT_PARTS = 4, PAINT_SLOTS = 3, PAINT_CLASSES = 3, PAINT_EDGES = 3 };

typedef struct painter {
    const sk_engine *engine;
    random_source random;
    int nodes, batch, height, width;
    sk_shape shapes[PAINT_PARTS];
    int tables[2], wholes[2], rows[2], lines; /* what was compared: [local] */
    char problem[256];
} painter;

/* Outputs that are the inputs with the other sign: `form` 0 maps, 1 ranges of larger maps, 2 dense. */
static inline sk_graph *painted_graph(painter *p, int form)
{
    const int channels[PAINT_PARTS] = {p->nodes, 2 * p->nodes, PAINT_CLASSES, 2 * PAINT_EDGES};
    static const char *const names[PAINT_PARTS] = {"maps", "offsets", "classes", "fields"};
    sk_graph *g = NULL;
    sk_builder b;
    if (sk_graph_open(&g, NULL) != SK_OK)
        return NULL;
    sk_builder_init(&b, g);
    for (int i = 0; i < PAINT_PARTS; i++) {
        const int half = i >= 2, more = form == 1 && i < 2 ? 8 : 0;
        const int h = half ? (p->height + 1) / 2 : p->height, w = half ? (p->width + 1) / 2 : p->width;
        p->shapes[i] = form == 2 ? sk_shape_of(4, p->batch, channels[i], w, h)
                                 : sk_shape_of(4, p->batch, channels[i] + more, h, w);
        sk_value x = sk_b_unary(&b, SK_UNARY_NEG, sk_b_input(&b, names[i], SK_DTYPE_F32, &p->shapes[i]));
        sk_value parts[2] = {x, x};
        const int64_t sizes[2] = {8, channels[i]};
        const int turned[4] = {0, 1, 3, 2};
        if (more)
            sk_b_split(&b, x, 1, sizes, 2, parts);
        sk_b_output(&b, form == 2 ? sk_b_transpose(&b, x, turned, 4) : parts[1], names[i]);
    }
    if (b.status != SK_OK)
        sk_graph_close(&g);
    return g;
}

/* The negative of what an output shall be: bumps, noise, plateaus, peaks in corners, what is no number. `kind` 0: next to
 * nothing, 1 usual, 2 far too many peaks, 3 maps without any number. */
static inline void paint(painter *p, int part, int kind, float *x)
{
    const sk_shape *s = &p->shapes[part];
    const int64_t planes = s->dim[0] * s->dim[1], h = s->dim[2], w = s->dim[3];
    for (int64_t k = 0; k < planes; k++) {
        float *plane = x + k * h * w;
        const float level = part ? 1.0f : kind == 2 ? 0.9f : kind == 0 ? 0.0f : 0.1f;
        for (int64_t i = 0; i < h * w; i++)
            plane[i] = part == 2 ? 0.5f + 0.5f * random_unit(&p->random) : level * random_unit(&p->random);
        for (int bump = 0; part == 0 && kind > 0 && bump < 5; bump++) {
            const float x0 = (0.6f + 0.6f * random_unit(&p->random)) * (float)w,
                        y0 = (0.6f + 0.6f * random_unit(&p->random)) * (float)h;
            for (int64_t i = 0; i < h * w; i++) {
                const float dx = (float)(i % w) - x0, dy = (float)(i / w) - y0;
                plane[i] += expf(-(dx * dx + dy * dy) / 4.5f);
            }
        }
        if (part == 0 && kind > 0) {
            const int64_t at = random_below(&p->random, h * w - 2);
            plane[at] = plane[at + 1] = 0.96875f; /* equals */
            plane[random_below(&p->random, 2) ? 0 : h * w - 1] = 1.25f;
            plane[random_below(&p->random, h * w)] = NAN;
            plane[random_below(&p->random, h * w)] = random_below(&p->random, 4) ? -INFINITY : INFINITY;
            plane[random_below(&p->random, h * w)] = 1.25f; /* as high as the corner */
        }
        for (int64_t i = 0; part == 0 && kind == 3 && k % 3 == 0 && i < h * w; i++)
            plane[i] = k % 2 ? NAN : -INFINITY;
        for (int64_t i = 0; i < h * w; i++)
            plane[i] = -plane[i];
    }
}

static inline sk_peak_wish painted_wish(painter *p, int local)
{
    sk_peak_wish w;
    memset(&w, 0, sizeof w);
    w.local = local;
    w.threshold = 0.2f;
    w.refinement = random_below(&p->random, 3);
    w.offsets = random_below(&p->random, 2) ? 1 : -1;
    w.classes = local && random_below(&p->random, 2) ? 2 : -1;
    w.fields = local && random_below(&p->random, 2) ? 3 : -1;
    w.n_classes = w.classes >= 0 ? PAINT_CLASSES : 0;
    w.maps_stride = 2;
    w.classes_stride = w.fields_stride = 4;
    w.capacity = local ? SK_PEAK_ROWS : 1;
    w.n_channels = p->nodes;
    if (w.fields >= 0) {
        w.pairs = random_below(&p->random, 3) ? SK_PEAK_PAIRS : 40;
        w.n_edges = PAINT_EDGES;
        for (int e = 0; e < PAINT_EDGES; e++)
            for (int k = 0; k < 2; k++)
                w.edges[e][k] = random_below(&p->random, p->nodes);
    }
    w.n_points = 10;
    w.max_edge_length_ratio = 0.25f;
    w.dist_penalty_weight = 1;
    return w;
}

static inline bool painted_fail(painter *p, const char *what, int a, int b)
{
    snprintf(p->problem, sizeof p->problem, "%s: %d, should be %d", what, b, a);
    return false;
}

static inline bool painted_same_word(sk_peak_word a, sk_peak_word b)
{
    return a.i == b.i || (isnan(a.f) && isnan(b.f)); /* the bits of NaN are the machine's own */
}

static inline bool painted_same_table(painter *p, const sk_peak_wish *w, const sk_peak_word *want,
                                      const sk_peak_word *got)
{
    const sk_peak_layout at = sk_peak_layout_of(w);
    if (got[0].i != SK_PEAK_COMPLETE || want[1].i != got[1].i)
        return painted_fail(p, "state or lines", want[1].i, got[1].i);
    for (int32_t c = 0; c < w->n_channels; c++) {
        if (want[at.counts + c].i != got[at.counts + c].i)
            return painted_fail(p, "count", want[at.counts + c].i, got[at.counts + c].i);
        for (int32_t k = 0; k < want[at.counts + c].i * at.row_words; k++)
            if (!painted_same_word(sk_peak_row(want, w, &at, c, 0)[k], sk_peak_row(got, w, &at, c, 0)[k]))
                return painted_fail(p, "word of a row", sk_peak_row(want, w, &at, c, 0)[k].i,
                                    sk_peak_row(got, w, &at, c, 0)[k].i);
        p->rows[w->local] += want[at.counts + c].i;
    }
    for (int32_t i = 0; i < want[1].i; i++)
        if (!painted_same_word(want[at.lines + i], got[at.lines + i]))
            return painted_fail(p, "bits of a line's score", want[at.lines + i].i, got[at.lines + i].i);
    p->lines += want[1].i;
    p->tables[w->local]++;
    return true;
}

/* The tables of one wait against the whole outputs of the same inputs. */
static inline bool painted_compare(painter *p, const sk_peak_wish *w, const sk_tensor *whole,
                                   const sk_tensor *got)
{
    const sk_peak_layout at = sk_peak_layout_of(w);
    const int32_t looked[PAINT_PARTS] = {w->maps, w->offsets, w->classes, w->fields};
    sk_peak_word *want = calloc((size_t)at.words, sizeof *want);
    bool fine = want && got[PAINT_PARTS].dtype == SK_DTYPE_I32 && got[PAINT_PARTS].shape.dim[1] == at.words;
    for (int32_t n = 0; fine && n < p->batch; n++) {
        sk_map maps[PAINT_PARTS];
        const sk_peak_word *table = (const sk_peak_word *)got[PAINT_PARTS].data + (ptrdiff_t)n * at.words;
        for (int i = 0; fine && i < PAINT_PARTS; i++)
            fine = sk_map_of_tensor(&whole[i], n, 0, &maps[i], NULL) == SK_OK;
        if (fine && sk_peak_table_fill(w, maps, want)) {
            fine = painted_same_table(p, w, want, table) &&
                   sk_peak_table_check(table, w, maps[0].width, maps[0].height, NULL) == SK_OK;
            continue;
        }
        if (fine && table[0].i != SK_PEAK_WHOLE)
            fine = painted_fail(p, "state", SK_PEAK_WHOLE, table[0].i);
        p->wholes[w->local]++;
        for (int i = 0; fine && i < PAINT_PARTS; i++) {
            const int64_t count = sk_shape_count(&whole[i].shape) / p->batch;
            const sk_peak_word *a = (const sk_peak_word *)whole[i].data + count * n,
                               *b = (const sk_peak_word *)got[i].data + count * n;
            for (int64_t k = 0; fine && looked[i] >= 0 && k < count; k++)
                if (!painted_same_word(a[k], b[k]))
                    fine = painted_fail(p, "value of a whole map", a[k].i, b[k].i);
        }
    }
    free(want);
    return fine;
}

/* A session that finds peaks, several submits in flight, and one that brings the outputs. False: `problem` says what. */
static inline bool painted_round(painter *p, int round)
{
    sk_error err = {0};
    sk_graph *g = painted_graph(p, round % 3);
    const sk_peak_wish wish = painted_wish(p, round / 3 % 2);
    sk_session_settings s = sk_session_defaults();
    sk_session *dense = NULL, *sparse = NULL;
    float *data[PAINT_SLOTS][PAINT_PARTS] = {{0}};
    sk_tensor whole[PAINT_PARTS], got[PAINT_SLOTS][PAINT_PARTS + 1];
    s.precision = round / 6 % 2 ? SK_PRECISION_F32 : SK_PRECISION_F16;
    s.cache_dir = "";
    strcpy(s.options, "tune=off");
    bool fine = g && sk_session_open(p->engine, g, p->shapes, PAINT_PARTS, &s, &dense, &err) == SK_OK;
    fine = fine && sk_session_capture(dense, &err) == SK_OK;
    s.stages.peaks = &wish;
    s.slots = PAINT_SLOTS;
    fine = fine && sk_session_open(p->engine, g, p->shapes, PAINT_PARTS, &s, &sparse, &err) == SK_OK;
    fine = fine && sk_session_capture(sparse, &err) == SK_OK;
    for (int k = 0; k < PAINT_SLOTS; k++)
        for (int i = 0; i < PAINT_PARTS; i++)
            data[k][i] = malloc((size_t)sk_shape_count(&p->shapes[i]) * sizeof(float));
    for (int again = 0; fine && again < 2; again++) {
        sk_session_input in[PAINT_SLOTS][PAINT_PARTS] = {{{0}}};
        for (int k = 0; fine && k < PAINT_SLOTS; k++) {
            const int kind = random_below(&p->random, 4);
            for (int i = 0; i < PAINT_PARTS; i++) {
                paint(p, i, kind, data[k][i]);
                in[k][i].data = data[k][i];
            }
            fine = sk_session_submit(sparse, in[k], PAINT_PARTS, &err) == SK_OK;
        }
        for (int k = 0; fine && k < PAINT_SLOTS; k++)
            fine = sk_session_wait(sparse, got[k], PAINT_PARTS + 1, &err) == SK_OK;
        for (int k = 0; fine && k < PAINT_SLOTS; k++)
            fine = sk_session_run(dense, in[k], PAINT_PARTS, whole, PAINT_PARTS, &err) == SK_OK &&
                   painted_compare(p, &wish, whole, got[k]);
    }
    if (err.code != SK_OK)
        snprintf(p->problem, sizeof p->problem, "%.250s", err.message);
    for (int k = 0; k < PAINT_SLOTS; k++)
        for (int i = 0; i < PAINT_PARTS; i++)
            free(data[k][i]);
    sk_session_close(&dense);
    sk_session_close(&sparse);
    sk_graph_close(&g);
    return fine;
}

#endif
