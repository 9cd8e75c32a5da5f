/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CPU_MAP_OPS_H
#define SK_ENGINES_CPU_MAP_OPS_H

#include "engines/cpu/plan.h"

/* Operations on blocked maps other than convolutions; work is split over (image, block, row) of the output. */

typedef struct map_op {
    sk_value a, b, y;
    cpu_map in, other, out;
    sk_act_f32 act;
    int32_t kind, flip;
    const float *spread; /* binary with a constant: [block][16] */
    sk_pool_f32c16 pool;
    /* resize: input rows and columns of each output row and column */
    int32_t *row0, *row1, *column0, *column1;
    float *row_weight, *column_weight;
    bool doubled;
} map_op;

/* A run of rows of one block of one image. */
typedef struct rows {
    int32_t n, b, y, count;
} rows;

static inline bool next_rows(const cpu_map *m, int32_t grain, int64_t *at, int64_t to, rows *r)
{
    if (*at >= to)
        return false;
    int64_t units = (m->h + grain - 1) / grain; /* grain rows each */
    int64_t unit = *at % units, left = to - *at < units - unit ? to - *at : units - unit;
    r->n = (int32_t)(*at / units / m->blocks);
    r->b = (int32_t)(*at / units % m->blocks);
    r->y = (int32_t)unit * grain;
    r->count = (int32_t)left * grain < m->h - r->y ? (int32_t)left * grain : m->h - r->y;
    *at += left;
    return true;
}

static inline void share(const cpu_map *m, int32_t grain, int32_t part, int32_t parts, int64_t *from,
                         int64_t *to)
{
    sk_pool_split((int64_t)m->n * m->blocks * ((m->h + grain - 1) / grain), 1, part, parts, from, to);
}

static inline float *row_at(const cpu_map *m, const rows *r, int32_t y)
{
    return m->data + r->n * m->image + r->b * m->plane + y * m->row;
}

/* Adds the step of a filled map_op; y's form is there already. */
sk_status cpu_add_map_op(cpu_plan *plan, const map_op *filled,
                         void (*run)(const cpu_step *step, const cpu_frame *frame, int32_t part,
                                     int32_t parts),
                         const char *name, sk_error *err) SK_MUST_CHECK;
/* Where the input has a low form, x and y become low forms, with one rule. */
bool cpu_low_input(cpu_plan *plan, const sk_node *node, sk_value *x, sk_value *y);
/* map_pool.c */
sk_status cpu_build_pool(cpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;
sk_status cpu_build_global(cpu_plan *plan, const sk_node *node, sk_error *err) SK_MUST_CHECK;

#endif
