/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SLEAP_POST_INTERNAL_H
#define SK_TASKS_SLEAP_POST_INTERNAL_H

#include "tasks/identity.h"
#include "tasks/peak_table.h"
#include "tasks/sleap_post.h"

/* Shared by sleap_post.c (opening), sleap_instances.c (maps of whole frames to instances) and sleap_crop_instances.c (of
 * crops). */

/* Peaks looked at in one map; of more, the first by rows. */
enum { SK_SLEAP_MOST_PEAKS = 4096, SK_SLEAP_MOST_INSTANCES = 1024 };

struct sk_sleap_post {
    sk_sleap_settings settings;
    sk_task task;
    int32_t n_outputs, n_nodes, n_classes, legacy;
    int32_t at[SK_OUTPUT_OTHER + 1]; /* output index of each kind, -1 none */
    float stride[SK_OUTPUT_OTHER + 1];
    int32_t capacity;
    sk_peak *scan;  /* [SK_SLEAP_MOST_PEAKS] of one map */
    sk_peak *peaks; /* [n_nodes * cap] kept, by node */
    int32_t *order; /* [MOST] */
    float *values;  /* [MOST] */
    uint64_t *keys; /* [2 * MOST] */
    uint8_t *kept;  /* [MOST] */
    sk_paf_grouping *grouping;
    sk_identity *identity;
    float *vectors;    /* [capacity][n_classes] of the frame's crops */
    int32_t *class_of; /* [max(capacity, n_classes)] */
    float *probability;
    sk_found *crop_items; /* [capacity] the frame's crops while they are put in the order of their classes */
    sk_keypoint *crop_points;
    int32_t most; /* elements of order, values, kept */
    int32_t n_crops;
    /* Peaks an engine found. */
    int32_t tables; /* 1: this model's can be had so */
    sk_peak_wish wish;
    sk_peak_layout layout;
    const sk_peak_word *table;     /* of the frame in hand; null: the maps themselves */
    int32_t *rank;                 /* [n_nodes * cap] row of each kept peak among its map's */
    float *class_values;           /* [cap][n_classes] */
    int32_t *first_line, *columns; /* [n_edges] */
};

/* Null: the model has no such output. */
const sk_map *sk_sleap_map_of(const sk_sleap_post *p, const sk_map *maps, sk_output_kind kind);
/* Do the maps and the list fit the model? */
sk_status sk_sleap_check_maps(const sk_sleap_post *p, const sk_map *maps, int32_t n_maps,
                              const sk_instances *out, sk_error *err) SK_MUST_CHECK;
/* Sees that a table is what it says, and takes it for the frame or crop in hand. */
sk_status sk_sleap_take_table(sk_sleap_post *p, const sk_peak_word *table, const sk_map *maps, int32_t n_maps,
                              sk_error *err) SK_MUST_CHECK;
/* The highest of every map into p->peaks; x is NaN where it stays below the threshold of the wish. */
void sk_sleap_highest_peaks(sk_sleap_post *p, const sk_map *maps);
/* To sub-pixel places, in network input pixels. Peaks of a table are refined. */
void sk_sleap_refine(const sk_sleap_post *p, const sk_map *maps, sk_peak *peak);
/* Drops instances without keypoints, keeping the order of the rest. */
void sk_sleap_drop_empty(sk_instances *out);

#endif
