/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SLEAP_POST_INTERNAL_H
#define SK_TASKS_SLEAP_POST_INTERNAL_H

#include "tasks/identity.h"
#include "tasks/peak_table.h"
#include "tasks/sleap_post.h"

/* Shared by sleap_post.c (opening) and sleap_instances.c (maps to instances). */

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
    float *class_rows;             /* [cap][n_classes] */
    int32_t *first_line, *columns; /* [n_edges] */
};

#endif
