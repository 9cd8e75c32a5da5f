/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PAF_GROUPING_H
#define SK_TASKS_PAF_GROUPING_H

#include "tasks/peaks.h"

/* Joins the peaks of a bottom-up model into instances by its part affinity fields, by SLEAP's rules: score
 * every source-destination pair of each edge along its line, match each edge's peaks by least cost, then
 * walk the skeleton from its root and let matched pairs found and extend instances. */

typedef struct sk_paf_settings {
    uint32_t size;               /* sizeof, for growth */
    int32_t n_points;            /* samples along a line; default 10 */
    float max_edge_length_ratio; /* of the field's largest side; default 0.25 */
    float dist_penalty_weight;   /* default 1 */
    float min_line_score;        /* matches below are dropped; default 0.25 */
    int32_t min_instance_peaks;  /* instances with fewer are dropped; default 0 */
    int32_t max_peaks_per_node;  /* the best that many of each node take part; default 256 */
} sk_paf_settings;

sk_paf_settings sk_paf_settings_defaults(void);

/* One instance found. */
typedef struct sk_paf_instance {
    float score; /* sum of its edges' scores */
    int32_t n_peaks;
    const int32_t *peak_of; /* [n_nodes] index into the peaks given, -1 none */
} sk_paf_instance;

typedef struct sk_paf_grouping sk_paf_grouping;

/* `edges` in the fields' channel order; copied. SK_ERR_UNSUPPORTED when the skeleton has no root (every
 * node is the destination of some edge). */
sk_status sk_paf_grouping_open(int32_t n_nodes, const int32_t (*edges)[2], int32_t n_edges,
                               const sk_paf_settings *settings, sk_paf_grouping **out,
                               sk_error *err) SK_MUST_CHECK;
void sk_paf_grouping_close(sk_paf_grouping **grouping);
/* Most instances a call can give. */
int32_t sk_paf_grouping_capacity(const sk_paf_grouping *grouping);

/* `peaks` in network input pixels, sorted by channel; `fields` has 2 * n_edges channels (x then y of each
 * edge) at `stride` input pixels a place. The instances are borrowed until the next call. */
sk_status sk_paf_group(sk_paf_grouping *grouping, const sk_peak *peaks, int32_t n_peaks, const sk_map *fields,
                       float stride, const sk_paf_instance **instances, int32_t *count,
                       sk_error *err) SK_MUST_CHECK;

/* Line scores worked out elsewhere: of edge e, [source peak][destination peak] of its two nodes' peaks from first[e] on, in
 * rows of columns[e]; `rank` is the place of each of the peaks given among its node's. */
typedef struct sk_paf_lines {
    const float *scores;
    const int32_t *first, *columns, *rank;
} sk_paf_lines;

/* The same with these scores in place of the fields. */
sk_status sk_paf_group_lines(sk_paf_grouping *grouping, const sk_peak *peaks, int32_t n_peaks,
                             const sk_paf_lines *lines, const sk_paf_instance **instances, int32_t *count,
                             sk_error *err) SK_MUST_CHECK;

/* The score of the line between two points for one edge; exposed for tests. */
float sk_paf_line_score(const sk_paf_settings *settings, const sk_map *fields, float stride, int32_t edge,
                        const float source[2], const float destination[2]);

#endif
