/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_PLANNED_H
#define SK_TESTS_ENGINES_PLANNED_H

#include "base/pool.h"
#include "engines/cpu/conv_u8.h"
#include "graph/quantise.h"
#include "graph/reference.h"
#include "random_graph.h"
#include "support/recorded.h"

#include <stdio.h>

/* Plans of the CPU engine for graphs of a few nodes: told line by line, and run share by share in another order than the engine's, so
 * that a share that does too little, too much or somebody else's is noticed; the reference executor says what comes out. */

typedef struct plan_how {
    uint32_t flags; /* instruction sets */
    sk_precision precision;
    int threads;
    sk_input_form input;
    bool by_taps; /* no Winograd */
    bool as_is;   /* pictures without means and deviations */
    bool whole;   /* kernels of bytes want whole blocks, as tiles do */
} plan_how;

typedef struct planned {
    sk_graph *graph; /* specialised */
    sk_pool *pool;
    cpu_plan plan;
} planned;

static inline sk_status planned_try(planned *p, const sk_graph *graph, const sk_shape *shapes, int n,
                                    plan_how how, sk_error *err)
{
    *p = (planned){0};
    sk_session_settings settings = sk_session_defaults();
    settings.precision = how.precision ? how.precision : SK_PRECISION_F32;
    settings.cache_dir = "";
    settings.input = how.input ? how.input : SK_INPUT_TENSOR;
    for (int k = 0; k < 4; k++) {
        settings.mean[k] = how.as_is ? 0.0f : 0.125f * (float)k;
        settings.std[k] = how.as_is ? 1.0f : 1.0f + 0.25f * (float)k;
    }
    sk_pool_settings pool = sk_pool_defaults();
    pool.threads = how.threads ? how.threads : 2;
    assert_ok(sk_pool_open(&pool, &p->pool, err), err);
    assert_ok(sk_graph_specialise(graph, shapes, n, &p->graph, err), err);
    sk_kernels_f32_fill(&p->plan.kernels, how.flags);
    sk_kernels_u8_fill(&p->plan.kernels_u8, how.flags);
    if (how.whole)
        p->plan.kernels_u8.whole_blocks = 1;
    p->plan.winograd = !how.by_taps;
    return cpu_plan_open(p->graph, &settings, p->pool, &p->plan, err);
}

static inline void planned_open(planned *p, const sk_graph *graph, const sk_shape *shapes, int n,
                                plan_how how)
{
    sk_error err = {0};
    assert_ok(planned_try(p, graph, shapes, n, how, &err), &err);
}

static inline void planned_close(planned *p)
{
    cpu_plan_close(&p->plan);
    sk_pool_close(&p->pool);
    sk_graph_close(&p->graph);
}

/* Takes over what a share has written, and nobody before it: every byte has one owner. */
static inline void planned_merge(const planned *p, const cpu_step *step, const uint8_t *before,
                                 uint8_t *after, uint8_t *owner, int32_t part)
{
    for (size_t i = 0; i < p->plan.memory_bytes; i++) {
        if (p->plan.memory[i] == before[i])
            continue;
        if (owner[i])
            fail_msg("%s (%s): byte %zu of share %d is share %d's, too", step->name, step->kernel, i,
                     (int)part, owner[i] - 1);
        owner[i] = (uint8_t)(part + 1);
        after[i] = p->plan.memory[i];
    }
}

/* Every step in `parts` shares, the last first, each of them from what there was before the step. */
static inline void planned_run(planned *p, const sk_session_input *inputs, int32_t parts)
{
    cpu_frame frame = {.plan = &p->plan, .inputs = inputs, .scratch = p->plan.scratch};
    const size_t bytes = p->plan.memory_bytes;
    uint8_t *before = malloc(bytes), *after = malloc(bytes), *owner = malloc(bytes);
    for (size_t i = 0; i < p->plan.n_steps; i++) {
        const cpu_step *step = &p->plan.steps[i];
        memcpy(before, p->plan.memory, bytes);
        memcpy(after, before, bytes);
        memset(owner, 0, bytes);
        for (int32_t part = parts - 1; part >= 0; part--) {
            memcpy(p->plan.memory, before, bytes);
            cpu_clear_borders(&p->plan, step, part, parts);
            step->run(step, &frame, part, parts);
            planned_merge(p, step, before, after, owner, part);
        }
        memcpy(p->plan.memory, after, bytes);
    }
    free(before);
    free(after);
    free(owner);
    assert_int_equal(p->plan.failure, SK_OK);
}

static inline void planned_inputs(const planned *p, uint64_t seed, sk_tensor *tensors)
{
    random_source r = {seed};
    for (int32_t i = 0; i < p->graph->n_inputs; i++) {
        const sk_shape *shape = &p->graph->values[p->graph->inputs[i]].shape;
        const int64_t count = sk_shape_count(shape);
        float *x = malloc((size_t)count * sizeof *x);
        for (int64_t k = 0; k < count; k++)
            x[k] = 2.0f * random_unit(&r);
        tensors[i] = (sk_tensor){SK_DTYPE_F32, *shape, x};
    }
}

/* How far the plan's outputs are from the wanted ones, relative to the output's largest number (at least 1). */
static inline double planned_away(const planned *p, const sk_tensor *want)
{
    double worst = 0;
    for (int32_t i = 0; i < p->graph->n_outputs; i++) {
        const cpu_buffer *b = &p->plan.buffers[p->plan.outputs[i]];
        const uint8_t *got = p->plan.memory + b->offset;
        double scale = 1, most = 0;
        assert_int_equal(b->bytes, sk_tensor_bytes(&want[i]));
        if (want[i].dtype != SK_DTYPE_F32) {
            assert_memory_equal(got, want[i].data, b->bytes);
            continue;
        }
        for (size_t k = 0; k < b->bytes / sizeof(float); k++) {
            const double a = (double)((const float *)(const void *)got)[k],
                         c = (double)((const float *)want[i].data)[k];
            scale = fabs(c) > scale ? fabs(c) : scale;
            if (!(fabs(a - c) <= most) && !(isnan(a) && isnan(c)))
                most = fabs(a - c);
        }
        worst = !(most / scale <= worst) ? most / scale : worst;
    }
    return worst;
}

/* What the reference executor gives is what the plan gives, in one share, in three and in eleven, and run after run by the engine's
 * threads. */
static inline void planned_is_reference(planned *p, const char *name, double tolerance)
{
    sk_error err = {0};
    sk_tensor in[SK_SESSION_MAX_INPUTS], want[SK_SESSION_MAX_OUTPUTS];
    sk_session_input given[SK_SESSION_MAX_INPUTS] = {{0}};
    for (int round = 0; round < 4; round++) {
        static const int32_t shares[] = {1, 3, 11, 0};
        planned_inputs(p, (uint64_t)round + 5, in);
        for (int32_t i = 0; i < p->graph->n_inputs; i++)
            given[i].data = in[i].data;
        assert_ok(sk_reference_run(p->graph, in, p->graph->n_inputs, want, p->graph->n_outputs, &err), &err);
        if (shares[round])
            planned_run(p, given, shares[round]);
        else
            assert_ok(cpu_plan_run(&p->plan, p->pool, given, NULL, &err), &err);
        const double away = planned_away(p, want);
        if (!(away <= tolerance))
            fail_msg("%s: %d shares: %g away from the reference", name, (int)shares[round], away);
        for (int32_t i = 0; i < p->graph->n_outputs; i++)
            sk_free(want[i].data);
        for (int32_t i = 0; i < p->graph->n_inputs; i++)
            free(in[i].data);
    }
}

/* Pictures, with bytes between their rows and between each other or without, give what the same numbers as a tensor give. */
static inline void planned_pictures(planned *pictures, planned *tensors, const char *name, double tolerance)
{
    const sk_session_settings *s = &pictures->plan.settings;
    const sk_shape *shape = &tensors->graph->values[tensors->graph->inputs[0]].shape;
    const int64_t *d = shape->dim;
    for (int gaps = 0; gaps < 2; gaps++) {
        const int64_t row = d[3] * d[1] + (gaps ? 7 : 0), picture = row * d[2] + (gaps ? 11 : 0);
        uint8_t *bytes = malloc((size_t)(picture * d[0]));
        float *x = malloc((size_t)sk_shape_count(shape) * sizeof *x);
        random_source r = {77};
        for (int64_t i = 0; i < picture * d[0]; i++)
            bytes[i] = (uint8_t)random_next(&r);
        for (int64_t n = 0; n < d[0]; n++)
            for (int64_t c = 0; c < d[1]; c++)
                for (int64_t i = 0; i < d[2] * d[3]; i++)
                    x[(n * d[1] + c) * d[2] * d[3] + i] =
                        (float)bytes[n * picture + i / d[3] * row + i % d[3] * d[1] + c] *
                            (s->scale / s->std[c]) -
                        s->mean[c] / s->std[c];
        const sk_session_input of_bytes = {.data = bytes,
                                           .row_bytes = gaps ? row : 0,
                                           .picture_bytes = gaps ? picture : 0},
                               of_floats = {.data = x};
        planned_run(pictures, &of_bytes, 3);
        planned_run(tensors, &of_floats, 1);
        sk_tensor want[SK_SESSION_MAX_OUTPUTS];
        for (int32_t i = 0; i < tensors->graph->n_outputs; i++)
            want[i] =
                (sk_tensor){SK_DTYPE_F32, tensors->graph->values[tensors->graph->outputs[i]].shape,
                            tensors->plan.memory + tensors->plan.buffers[tensors->plan.outputs[i]].offset};
        const double away = planned_away(pictures, want);
        if (!(away <= tolerance))
            fail_msg("%s: pictures are %g away from tensors", name, away);
        free(bytes);
        free(x);
    }
}

/* --- telling --- */

typedef struct plan_line {
    char text[2048];
    size_t used;
} plan_line;

static inline void plan_word(plan_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void plan_word(plan_line *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof l->text - l->used);
    l->used += (size_t)n;
}

static inline void plan_say(plan_line *l)
{
    recorded_say("%s", l->text);
    *l = (plan_line){0};
}

static inline double plan_sum(const float *x, int32_t count)
{
    recorded_sum sum = {0};
    for (int32_t i = 0; i < count; i++)
        recorded_add(&sum, (double)x[i]);
    return sum.sum;
}

/* What a convolution in eight bits has beside others: rules, the last steps' numbers, rows that are converted before. */
static inline void plan_tell_conv_u8(const cpu_conv_u8 *u, plan_line *l)
{
    const sk_conv_u8c16 *p = &u->p;
    recorded_sum table = {0}, lookup = {0};
    for (int i = 0; i < SK_I16_SEGMENTS && u->act.folded; i++)
        recorded_add(&table, (double)u->act.pieces[i]);
    for (int i = 0; i < 4 * 256; i++)
        recorded_add(&lookup, u->lookup[i / 256][i % 256]);
    plan_word(l, "    bytes of %.9g %d to %.9g %d floats %d words %d scales %d shift %d residual %d %d %d",
              u->in_scale, p->in_zero, u->out_scale, p->finish.zero, u->floats, u->words, (int)u->n_scales,
              p->finish.shift, p->finish.residual_first, p->finish.residual_zero, p->finish.residual_gain);
    plan_word(l, " act %d %d %d %d %.9g weights %td %td last %d", u->act.relu, u->act.folded,
              u->act.relu && !u->act.folded ? u->act.high : 0, u->act.folded ? u->act.gain : 0, table.sum,
              p->group_weights, p->point_weights, p->last_outputs);
    if (u->only_sums)
        plan_word(l, " only sums");
    if (u->half != SK_VALUE_NONE)
        plan_word(l, " half %d of %td beside %d %d", u->half, u->half_image, u->before, u->behind);
    plan_word(l, " first %d %d %d as is %d %.9g gains %.9g %.9g", u->first_fill, u->row_bytes, u->row_count,
              u->as_is, lookup.sum, plan_sum(p->scale, p->out_blocks * SK_BLOCK),
              plan_sum(p->bias, p->out_blocks * SK_BLOCK));
    plan_say(l);
}

static inline void plan_tell_conv(const cpu_plan *plan, const cpu_conv *c, plan_line *l)
{
    const cpu_conv_choice *k = &c->choice;
    plan_word(l, "    x %d y %d residual %d shift %d first %d", c->x, c->y, c->residual, c->residual_shift,
              c->residual_first);
    plan_word(l, " pad %d %d out %dx%d from %d %d step %d %d", c->pad_top, c->pad_left, c->out_h, c->out_w,
              c->from_y, c->from_x, c->step_y, c->step_x);
    plan_word(l, " choice %d %d %d %d %d %d", k->form, k->width, k->tile, k->groups_outer, k->split_groups,
              k->batch_tiles);
    plan_word(l, " groups %d images %td %td %td act %d", c->groups, c->in_image, c->out_image,
              c->residual_image, c->act.kind);
    if (!c->u8)
        plan_word(l, " weights %td %td row %d", c->p.group_weights, c->p.point_weights, c->row_floats);
    recorded_sum sum = {0};
    if (k->form == CPU_CONV_WORDS) { /* and what they are worth */
        const int16_t *words = (const int16_t *)(const void *)c->p.weights;
        const int32_t points = sk_winograd_points(c->stride_h);
        for (ptrdiff_t i = 0; i < points * c->p.point_weights; i++)
            recorded_add(&sum, words[i]);
        recorded_add(&sum, plan_sum(c->p.weights + points * c->p.point_weights / 2,
                                    points * c->p.out_blocks * SK_BLOCK));
    } else if (c->u8 || k->form == CPU_CONV_BF16) {
        const uint8_t *bytes = (const uint8_t *)c->p.weights;
        for (size_t i = 0; i < cpu_packed_floats(c, k) * sizeof(float); i++)
            recorded_add(&sum, bytes[i]);
    } else {
        for (size_t i = 0; i < cpu_packed_floats(c, k); i++)
            recorded_add(&sum, (double)c->p.weights[i]);
        for (int32_t i = 0; i < c->p.out_blocks * SK_BLOCK; i++)
            recorded_add(&sum, (double)c->p.bias[i]);
    }
    plan_word(l, " packed %zu %.9g", sum.n, sum.sum);
    plan_word(l, " scratch %zu", cpu_conv_scratch(plan, c, k));
    if (k->form == CPU_CONV_FIRST && !c->u8)
        plan_word(l, " gains %.9g %.9g to bytes %d %.9g %d", plan_sum(c->gain, 64), plan_sum(c->shift, 64),
                  c->out8 != NULL, c->out8 ? (double)c->out_scale : 0, c->out8 ? c->out_zero : 0);
    plan_say(l);
    if (c->u8)
        plan_tell_conv_u8(c->u8, l);
}

static inline void plan_tell(const planned *p, const char *name)
{
    const cpu_plan *plan = &p->plan;
    plan_line l = {0};
    int kept = 0; /* constants; weights that are packed are not */
    for (size_t i = 0; i < plan->graph->n_values; i++)
        kept += plan->graph->values[i].blob != NULL;
    recorded_say("%s: memory %zu scratch %zu packed %zu %zu kept %d winograd %d", name, plan->memory_bytes,
                 plan->scratch_floats, plan->n_packed, plan->weight_bytes, kept, plan->n_winograd);
    for (size_t i = 0; i < plan->n_steps; i++) {
        const cpu_step *s = &plan->steps[i];
        plan_word(&l, "  %s: %s: %s flops %.9g parts %d uses", s->name, s->kernel, s->shape, s->flops,
                  s->parts);
        for (int32_t k = 0; k < s->n_buffers; k++)
            plan_word(&l, " %d", s->buffers[k]);
        for (const cpu_border *b = s->borders; b; b = b->next)
            plan_word(&l, " clears %d", b->buffer);
        plan_say(&l);
        if (s->run == cpu_conv_run)
            plan_tell_conv(plan, s->data, &l);
    }
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const cpu_buffer *b = &plan->buffers[i];
        plan_word(&l, "  buffer %zu%s at %zu steps %d %d in %d %d", i, b->keep ? " kept" : "", b->offset,
                  b->first, b->last, b->parent, b->delta);
        if (b->blocked)
            plan_word(&l, " maps %d %d %dx%d border %d %d %d %d of %d size %d strides %td %td %td", b->n,
                      b->blocks, b->h, b->w, b->border[0], b->border[1], b->border[2], b->border[3],
                      b->border_byte, b->size, b->image, b->plane, b->row);
        else
            plan_word(&l, " bytes %zu", b->bytes);
        plan_say(&l);
    }
    for (sk_value v = 0; v < 3 * plan->n_values; v++) {
        const cpu_value *x = &plan->values[v];
        if (x->map < 0 && x->dense < 0 && x->input < 0)
            continue;
        plan_word(&l, "  value %d map %d %d+%d dense %d input %d rule %.9g %d fill", v, x->map, x->block,
                  x->blocks, x->dense, x->input, (double)x->scale, x->zero);
        for (int32_t b = 0; x->map >= 0 && b < x->blocks; b++)
            plan_word(&l, " %d", x->fill[b]);
        plan_say(&l);
    }
    for (int op = 0; op < SK_OP_COUNT; op++)
        if (plan->by_reference[op])
            recorded_say("  elsewhere %s x%d", sk_op_name((sk_op)op), plan->by_reference[op]);
}

#endif
