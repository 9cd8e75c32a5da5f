/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <stdio.h>
#include <string.h>

/* Between the two forms of a value, and from the caller's pictures to a tensor. */

typedef struct reorder {
    sk_value v;
    cpu_map map;
    int32_t channels;
    bool to_blocked;
} reorder;

static sk_status bind_reorder(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    reorder *r = step->data;
    r->map = cpu_bound_map(plan, r->v);
    return SK_OK;
}

/* Work is split over (image, block, row). */
static void run_reorder(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const reorder *r = step->data;
    const cpu_map *m = &r->map;
    const sk_kernels_f32 *k = &frame->plan->kernels;
    float *dense = cpu_bound_dense(frame->plan, frame, r->v);
    const ptrdiff_t channel = (ptrdiff_t)m->h * m->w;
    int64_t from, to;
    sk_pool_split((int64_t)m->n * m->blocks * m->h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to;) {
        int32_t y = (int32_t)(at % m->h), b = (int32_t)(at / m->h % m->blocks),
                n = (int32_t)(at / m->h / m->blocks);
        int64_t rows = to - at < m->h - y ? to - at : m->h - y;
        ptrdiff_t before = 0;
        for (int32_t i = 0; i < b; i++)
            before += m->fill[i];
        for (int64_t i = 0; i < rows; i++, y++, at++) {
            float *blocked = m->data + n * m->image + b * m->plane + y * m->row;
            float *line = dense + ((ptrdiff_t)n * r->channels + before) * channel + (ptrdiff_t)y * m->w;
            if (r->to_blocked)
                k->to_blocked(line, channel, m->fill[b], blocked, m->w);
            else
                k->from_blocked(blocked, line, channel, m->fill[b], m->w);
        }
    }
}

static sk_status add_reorder(cpu_plan *plan, sk_value v, bool to_blocked, sk_error *err)
{
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof(reorder), &step, err));
    reorder *r = step->data;
    r->v = v;
    r->to_blocked = to_blocked;
    r->channels = (int32_t)cpu_shape(plan, v)->dim[1];
    step->run = run_reorder;
    step->bind = bind_reorder;
    snprintf(step->kernel, sizeof step->kernel, "%s blocks %s", to_blocked ? "to" : "from",
             plan->kernels.isa);
    return cpu_step_uses(plan, step, &v, 1, &v, 1, err);
}

sk_status cpu_add_to_blocked(cpu_plan *plan, sk_value v, sk_error *err)
{
    return add_reorder(plan, v, true, err);
}

sk_status cpu_add_from_blocked(cpu_plan *plan, sk_value v, sk_error *err)
{
    return add_reorder(plan, v, false, err);
}

static void run_input(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const reorder *r = step->data;
    const cpu_plan *plan = frame->plan;
    const sk_shape *shape = cpu_shape(plan, r->v);
    sk_session_input in = frame->inputs[plan->values[r->v].input];
    int64_t from, to;
    ptrdiff_t row = in.row_bytes ? in.row_bytes : (ptrdiff_t)(shape->dim[3] * shape->dim[1]);
    ptrdiff_t picture = in.picture_bytes ? in.picture_bytes : row * (ptrdiff_t)shape->dim[2];
    sk_pool_split(shape->dim[0], 1, part, parts, &from, &to);
    sk_shape one = *shape;
    one.dim[0] = 1;
    float *out = (float *)(void *)(plan->memory + plan->buffers[plan->values[r->v].dense].offset);
    for (int64_t n = from; n < to; n++) {
        sk_session_input one_picture = {.data = (const uint8_t *)in.data + n * picture, .row_bytes = row};
        sk_input_unpack_u8(&one_picture, &plan->settings, &one,
                           out + n * shape->dim[1] * shape->dim[2] * shape->dim[3]);
    }
}

static sk_status bind_input(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)plan, (void)step, (void)err;
    return SK_OK;
}

sk_status cpu_add_input(cpu_plan *plan, int32_t index, sk_error *err)
{
    sk_value v = plan->graph->inputs[index];
    cpu_step *step;
    SK_TRY(cpu_make_dense(plan, v, err));
    SK_TRY(cpu_add_step(plan, sizeof(reorder), &step, err));
    ((reorder *)step->data)->v = v;
    step->run = run_input;
    step->bind = bind_input;
    snprintf(step->kernel, sizeof step->kernel, "pictures to tensor");
    return cpu_step_uses(plan, step, NULL, 0, &v, 1, err);
}
