/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PEAK_TABLE_H
#define SK_TASKS_PEAK_TABLE_H

#include "tasks/paf_grouping.h"

/* Peaks found where the maps are, in place of the maps: an engine that can look for them itself (SK_OFFERS_PEAKS) gives a
 * table of some hundred rows an image. Rules and order are those of tasks/peaks.h, tasks/paf_grouping.h and
 * tasks/identity.h, which also check it. */

enum {
    SK_PEAK_ROWS = 128,        /* rows a map, where all local maxima are wanted */
    SK_PEAK_PAIRS = 1 << 14,   /* room for scores of lines, all edges together */
    SK_PEAK_MOST_EDGES = 64,   /* more, or … */
    SK_PEAK_MOST_CLASSES = 64, /* … more: such models bring their maps */
    SK_PEAK_MOST_NODES = 256
};

/* What to look for. Numbers of outputs are those of the model's outputs; -1: none. Zero what is not used: wishes are
 * compared as bytes. */
typedef struct sk_peak_wish {
    int32_t
        local; /* 1: all local maxima above the threshold; 0: the highest value of each map, where it reaches it */
    float threshold;
    int32_t refinement;                     /* sk_refinement; with offsets: not used */
    int32_t maps, offsets, classes, fields; /* offsets replace refinement; classes are read at every peak */
    float maps_stride, classes_stride, fields_stride; /* network input pixels a place */
    int32_t capacity;                                 /* rows a map */
    int32_t pairs;                                    /* room for line scores; 0 without fields */
    int32_t n_channels, n_classes, n_edges;
    int32_t edges[SK_PEAK_MOST_EDGES][2]; /* source and destination map of each edge */
    int32_t n_points;                     /* lines: sk_paf_settings */
    float max_edge_length_ratio, dist_penalty_weight;
} sk_peak_wish;

bool sk_peak_wish_equal(const sk_peak_wish *a, const sk_peak_wish *b);

typedef union sk_peak_word {
    int32_t i;
    float f;
} sk_peak_word;

/* An image's table in words of 32 bits: state, number of line scores, two of nothing; the count of each map's peaks; rows
 * [map][capacity] of place (y * width + x of the grid), value, refined x and y in places, values of the classes; scores of
 * lines, edge after edge, [source peak][destination peak]. Peaks of a map from the top row by row. */
enum { SK_PEAK_COMPLETE = 0, SK_PEAK_WHOLE = 1 /* more than it holds: the outputs hold the maps instead */ };

typedef struct sk_peak_layout {
    int32_t counts, rows, lines; /* where they begin */
    int32_t row_words;
    int32_t words; /* of an image */
} sk_peak_layout;

sk_peak_layout sk_peak_layout_of(const sk_peak_wish *wish);

/* Row `index` of a map. */
static inline const sk_peak_word *sk_peak_row(const sk_peak_word *table, const sk_peak_wish *wish,
                                              const sk_peak_layout *at, int32_t map, int32_t index)
{
    return table + at->rows + ((ptrdiff_t)map * wish->capacity + index) * at->row_words;
}

/* Line scores these counts make; a number above `pairs` where they have no room. */
int64_t sk_peak_lines(const sk_peak_wish *wish, const sk_peak_word *counts);

/* The table of one image's maps, in the order of the outputs, made by the stages for whole maps: what engines' tables are
 * checked against. False: it does not hold all, and says SK_PEAK_WHOLE. */
bool sk_peak_table_fill(const sk_peak_wish *wish, const sk_map *maps, sk_peak_word *table);

/* Is a table, complete, what it says? Counts within bounds, places in order and inside a map of this size. */
sk_status sk_peak_table_check(const sk_peak_word *table, const sk_peak_wish *wish, int32_t width,
                              int32_t height, sk_error *err) SK_MUST_CHECK;

#endif
