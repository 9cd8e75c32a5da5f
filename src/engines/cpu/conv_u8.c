/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv_u8.h"
#include "graph/quantise.h"

#include <math.h>
#include <string.h>

/* Convolutions in eight bits: bytes in, exact sums, bytes or floats out. */

#define MOST_PRODUCTS 65000 /* of 255 * 128 each still fit 31 bits */
#define FIRST_ROWS    8     /* output rows of the first convolution whose input is converted at once */

/* Bits behind the point of x, at most 4: as many as the activation's table and the residual's factor leave room for. */
static bool settle_finish(cpu_conv_u8 *u, const sk_act_f32 *act, double residual_scale)
{
    for (int32_t shift = 4; shift >= 0; shift--) {
        const double unit = u->out_scale / (1 << shift), gain = 256.0 * residual_scale / unit;
        if (gain < 32767.0 && sk_act_i16_make(&u->act, act->kind, unit) &&
            sk_act_i16_error(&u->act, act->kind, unit) < 0.9 * u->out_scale) {
            u->p.finish.shift = shift;
            u->p.finish.residual_gain = (int16_t)rint(gain);
            return true;
        }
    }
    return false;
}

/* The i8 weights behind a DEQUANTIZE, if that is what v is. */
static bool find_weights(const cpu_plan *plan, sk_value v, int64_t cout, int32_t axis, cpu_conv_u8 *u)
{
    sk_quantisation q;
    if (!sk_graph_quantisation_of(plan->graph, v, &q) || q.real != SK_VALUE_NONE || q.dtype != SK_DTYPE_I8 ||
        q.zero != 0 || (q.n_scales != 1 && (q.n_scales != cout || q.axis != axis)))
        return false;
    const sk_tensor bytes = sk_value_tensor(plan->graph, q.bytes);
    u->data = bytes.data;
    u->data_bytes = (size_t)sk_shape_count(&bytes.shape);
    u->scales = q.scales;
    u->n_scales = q.n_scales;
    return true;
}

/* Everything but where x comes from. */
static bool settle(const cpu_plan *plan, const sk_node *node, const sk_act_f32 *act,
                   const cpu_value *residual, cpu_conv_u8 *u)
{
    const bool transposed = node->op == SK_OP_CONV_TRANSPOSE;
    const sk_shape *w = cpu_shape(plan, node->in[1]);
    const int64_t cout = cpu_shape(plan, node->out[0])->dim[1];
    float out_scale = 1.0f;
    int32_t out_zero = 0;
    if (sk_shape_count(w) / cout > MOST_PRODUCTS || !find_weights(plan, node->in[1], cout, transposed, u))
        return false;
    u->floats = !cpu_quantised_next(plan, node->out[0], &out_scale, &out_zero);
    u->out_scale = out_scale;
    u->p.finish.zero = out_zero;
    u->p.finish.act = &u->act;
    if (residual) {
        u->p.finish.residual_zero = residual->zero;
        if (residual->map < 0 || u->floats)
            return false;
    }
    return u->floats ? act->kind == 0 || (!transposed && sk_act_f32_known(act->kind))
                     : settle_finish(u, act, residual ? (double)residual->scale : 0.0);
}

/* Is it filled as the output will be? */
static bool fits_output(const cpu_conv *c, const cpu_value *in, const cpu_value *residual)
{
    const bool depthwise =
        c->weights.groups > 1 && c->weights.groups == c->weights.cin && c->weights.groups == c->weights.cout;
    return residual->map < 0 ||
           (depthwise ? in->map >= 0 && cpu_same_fill(in, residual) : cpu_usual_fill(residual));
}

sk_status cpu_conv_to_u8(cpu_plan *plan, const sk_node *node, cpu_conv *c, bool *done, sk_error *err)
{
    const sk_value x = cpu_low(plan, c->x), y = cpu_low(plan, c->y);
    const cpu_value *in = &plan->values[x], *residual = NULL;
    *done = false;
    if (plan->low != CPU_LOW_U8 || (in->map < 0 && in->input < 0) || c->residual_shift)
        return SK_OK;
    if (c->residual != SK_VALUE_NONE)
        residual = &plan->values[cpu_low(plan, c->residual)];
    if (residual && !fits_output(c, in, residual))
        return SK_OK;
    cpu_conv_u8 *u = sk_arena_alloc(plan->arena, sizeof *u);
    if (!u)
        return sk_fail_memory(err, sizeof *u);
    if (!settle(plan, node, &c->act, residual, u))
        return SK_OK;
    u->in_scale = in->scale;
    u->p.in_zero = in->zero;
    u->p.finish.residual_first = c->residual_first;
    u->half = SK_VALUE_NONE;
    c->u8 = u;
    c->x = x;
    c->residual = residual ? cpu_low(plan, c->residual) : SK_VALUE_NONE;
    if (!u->floats) {
        c->y = y;
        plan->values[y].scale = (float)u->out_scale;
        plan->values[y].zero = u->p.finish.zero;
    }
    *done = true;
    return SK_OK;
}

bool cpu_conv_takes_bytes(const cpu_plan *plan, const sk_node *node)
{
    cpu_conv_u8 u = {0};
    if (node->op != SK_OP_CONV || !cpu_conv_is_known(plan, node))
        return false;
    const sk_act_f32 act = {node->a.conv.act.kind, node->a.conv.act.alpha, node->a.conv.act.beta};
    return settle(plan, node, &act, NULL, &u);
}

bool cpu_conv_is_first_u8(const cpu_plan *plan, const sk_node *node)
{
    const sk_window *w = &node->a.conv.window;
    return node->op == SK_OP_CONV && w->pad[1] >= 0 &&
           w->kernel[1] * cpu_shape(plan, node->in[0])->dim[1] <= 255 && cpu_conv_takes_bytes(plan, node);
}

bool cpu_conv_can_first_u8(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->values[c->x].input >= 0 && plan->values[c->x].map < 0 && c->weights.cin <= 4 &&
           c->weights.groups == 1 && c->kernel_w * c->weights.cin <= 255 && c->dilation_h == 1 &&
           c->dilation_w == 1 && c->pad_left >= 0 && c->residual == SK_VALUE_NONE && c->step_x == 1 &&
           c->step_y == 1;
}

static bool from_pictures(const cpu_plan *plan)
{
    return plan->settings.input == SK_INPUT_U8_HWC;
}

static void bind_first(cpu_plan *plan, cpu_conv *c)
{
    cpu_conv_u8 *u = c->u8;
    const sk_session_settings *s = &plan->settings;
    const cpu_value *x = &plan->values[c->x];
    u->as_is = from_pictures(plan);
    for (int32_t k = 0; k < c->weights.cin && from_pictures(plan); k++)
        for (int32_t i = 0; i < 256; i++) {
            const float real = (float)i * (s->scale / s->std[k]) - s->mean[k] / s->std[k];
            plan->kernels_u8.quantise(&real, &u->lookup[k][i], 1, x->scale, x->zero);
            u->as_is &= u->lookup[k][i] == i;
        }
    u->p.in_pixel = c->weights.cin;
    u->p.in_row = u->row_bytes;
    u->p.fill = u->holds = &u->first_fill;
    u->p.in_blocks = 1;
    u->p.kernel_w = 1;
}

static void size_first(const cpu_plan *plan, cpu_conv *c)
{
    cpu_conv_u8 *u = c->u8;
    const int32_t need = (c->out_w - 1) * c->stride_w + c->kernel_w,
                  have = c->pad_left + (int32_t)cpu_shape(plan, c->x)->dim[3];
    u->first_fill = (uint8_t)(c->kernel_w * c->weights.cin);
    u->row_bytes = ((need > have ? need : have) * c->weights.cin + 4 + 63) / 64 * 64;
    u->row_count = (FIRST_ROWS - 1) * c->stride_h + c->kernel_h;
}

/* It gives the same bytes as tap by tap. */
bool cpu_conv_can_winograd_u8(const cpu_plan *plan, const cpu_conv *c)
{
    cpu_conv_u8 *u = c->u8;
    if (!plan->winograd || !plan->kernels_u8.winograd || u->floats || c->kernel_h != 3 || c->kernel_w != 3 ||
        c->stride_h != 1 || c->stride_w != 1 || c->dilation_h != 1 || c->dilation_w != 1 || c->step_x != 1 ||
        c->step_y != 1 || c->weights.groups != 1 || c->weights.cin < SK_BLOCK || c->out_h < 4 || c->out_w < 4)
        return false;
    if (u->words == 0)
        u->words = cpu_conv_reach_u8(c) < SK_WINOGRAD_U8_SUM ? 1 : -1;
    return u->words > 0;
}

size_t cpu_conv_scratch_u8(const cpu_plan *plan, const cpu_conv *c, const cpu_conv_choice *choice)
{
    if (choice->form == CPU_CONV_WINOGRAD)
        return sk_winograd_u8_scratch(plan->values[c->x].blocks, choice->width, choice->batch_tiles) / 4;
    if (choice->form != CPU_CONV_FIRST)
        return 0;
    size_first(plan, (cpu_conv *)(uintptr_t)c);
    /* converted rows, and one of each of a tensor's channels before they are put side by side */
    return ((size_t)c->u8->row_bytes * (size_t)(c->u8->row_count + c->weights.cin) + 3) / 4;
}

/* Channels that the kernel multiplies: where tiles want whole blocks all of them, those that hold nothing by weights of 0. */
static sk_status find_fill(cpu_plan *plan, const cpu_conv *c, const cpu_map *in, sk_error *err)
{
    cpu_conv_u8 *u = c->u8;
    u->holds = u->p.fill = in->fill;
    if (!plan->kernels_u8.whole_blocks || c->choice.form != CPU_CONV_TAPS || c->out_w < SK_BLOCK)
        return SK_OK;
    if (!u->whole)
        u->whole = sk_arena_alloc(plan->arena, (size_t)in->blocks);
    if (!u->whole)
        return sk_fail_memory(err, (size_t)in->blocks);
    memset(u->whole, SK_BLOCK, (size_t)in->blocks);
    u->p.fill = u->whole;
    return SK_OK;
}

sk_status cpu_conv_bind_u8(cpu_plan *plan, cpu_conv *c, sk_error *err)
{
    cpu_conv_u8 *u = c->u8;
    const cpu_map out = cpu_bound_map(plan, c->y);
    sk_conv_u8c16 *p = &u->p;
    p->kernel_h = c->kernel_h;
    p->kernel_w = c->kernel_w;
    p->stride_h = c->stride_h;
    p->stride_w = c->stride_w;
    p->dilation_h = c->dilation_h;
    p->dilation_w = c->dilation_w;
    p->out_h = c->out_h;
    p->out_w = c->out_w;
    p->out_blocks = c->p.out_blocks = out.blocks;
    p->last_outputs = c->weights.cout - (out.blocks - 1) * SK_BLOCK;
    const ptrdiff_t at = c->from_y * out.row + c->from_x * SK_BLOCK;
    p->out = u->floats || u->only_sums ? NULL : out.bytes + at;
    p->out_f32 = u->floats ? out.data + at : NULL;
    p->out_sums = u->only_sums ? (int32_t *)(void *)out.bytes + at : NULL;
    p->out_plane = out.plane;
    p->out_row = out.row * c->step_y;
    p->out_pixel = (ptrdiff_t)c->step_x * SK_BLOCK;
    c->out_image = out.image;
    c->n = out.n;
    if (c->choice.form == CPU_CONV_FIRST) {
        bind_first(plan, c);
    } else {
        const cpu_map in = cpu_bound_map(plan, c->x);
        p->in = in.bytes - c->pad_top * in.row - c->pad_left * SK_BLOCK;
        p->in_plane = in.plane;
        p->in_row = in.row;
        p->in_pixel = SK_BLOCK;
        p->in_blocks = in.blocks;
        SK_TRY(find_fill(plan, c, &in, err));
        c->in_image = in.image;
    }
    if (c->residual != SK_VALUE_NONE) {
        const cpu_map r = cpu_bound_map(plan, c->residual);
        p->residual = r.bytes;
        p->residual_plane = r.plane;
        p->residual_row = r.row;
        c->residual_image = r.image;
    }
    if (u->half != SK_VALUE_NONE) {
        const cpu_map half = cpu_bound_map(plan, u->half);
        p->half_sums = (const int32_t *)(const void *)half.bytes;
        p->half_plane = half.plane;
        p->half_row = half.row;
        u->half_image = half.image;
    }
    const size_t outputs = (size_t)out.blocks * SK_BLOCK;
    if (!u->scale)
        u->scale = sk_arena_alloc(plan->arena, 2 * outputs * sizeof(float));
    if (!u->scale)
        return sk_fail_memory(err, 2 * outputs * sizeof(float));
    u->bias = u->scale + outputs;
    p->scale = u->scale;
    p->bias = u->bias;
    return SK_OK;
}

void cpu_conv_apply_u8(cpu_conv *c)
{
    sk_conv_u8c16 *p = &c->u8->p;
    p->width = c->choice.width;
    p->tile = c->choice.tile;
    p->groups_outer = c->choice.groups_outer;
    p->batch_tiles = c->choice.batch_tiles;
    if (c->choice.form == CPU_CONV_WINOGRAD) {
        p->group_weights = cpu_pairs_u8(p) * p->width * SK_BLOCK * 4;
        p->point_weights = cpu_pairs_u8(p) * p->out_blocks * SK_BLOCK * 4;
        return;
    }
    p->group_weights = cpu_fours_u8(p) * p->kernel_h * p->kernel_w * p->width * SK_BLOCK * 4;
}

/* --- running --- */

/* Rows [y0, y1) of units [g0, g1); floats get their activation row by row, while they are in the cache. */
static void run_units(const cpu_conv *c, const cpu_frame *frame, sk_conv_u8c16_fn fn, const sk_conv_u8c16 *p,
                      int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    if (!p->out_f32 || !c->act.kind) {
        fn(p, g0, g1, y0, y1);
        return;
    }
    const int32_t width = c->choice.form == CPU_CONV_DEPTHWISE ? 1 : p->width;
    const int32_t last = g1 * width < p->out_blocks ? g1 * width : p->out_blocks;
    for (int32_t y = y0; y < y1; y++) {
        fn(p, g0, g1, y, y + 1);
        for (int32_t b = g0 * width; b < last; b++) {
            float *row = p->out_f32 + b * p->out_plane + y * p->out_row;
            frame->plan->kernels.unary(row, row, (size_t)p->out_w * SK_BLOCK, &c->act);
        }
    }
}

static void run_rows(const cpu_conv *c, const cpu_frame *frame, sk_conv_u8c16_fn fn, int32_t units,
                     int32_t part, int32_t parts)
{
    sk_conv_u8c16 p = c->u8->p;
    const sk_conv_u8c16 *at_first = &c->u8->p;
    int64_t from, to, g0, g1;
    cpu_conv_share(c, units, p.out_h, part, parts, &g0, &g1, &from, &to);
    for (int64_t at = from; at < to && g0 < g1;) {
        const int32_t n = (int32_t)(at / p.out_h), y = (int32_t)(at % p.out_h);
        const int32_t rows = (int32_t)(to - at < p.out_h - y ? to - at : p.out_h - y);
        p.in = at_first->in + n * c->in_image;
        p.out = at_first->out ? at_first->out + n * c->out_image : NULL;
        p.out_f32 = at_first->out_f32 ? at_first->out_f32 + n * c->out_image : NULL;
        p.out_sums = at_first->out_sums ? at_first->out_sums + n * c->out_image : NULL;
        p.half_sums = at_first->half_sums ? at_first->half_sums + n * c->u8->half_image : NULL;
        p.residual = at_first->residual ? at_first->residual + n * c->residual_image : NULL;
        run_units(c, frame, fn, &p, (int32_t)g0, (int32_t)g1, y, y + rows);
        at += rows;
    }
}

static void run_winograd(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const sk_conv_u8c16 *at_first = &c->u8->p;
    sk_conv_u8c16 p = *at_first;
    const int32_t tiles = ((p.out_w + 3) / 4) * ((p.out_h + 3) / 4);
    int64_t from, to, g0, g1;
    cpu_conv_share(c, c->groups, tiles, part, parts, &g0, &g1, &from, &to);
    for (int64_t at = from; at < to && g0 < g1;) {
        const int32_t n = (int32_t)(at / tiles), t = (int32_t)(at % tiles);
        const int32_t count = (int32_t)(to - at < tiles - t ? to - at : tiles - t);
        p.in = at_first->in + n * c->in_image;
        p.out = at_first->out + n * c->out_image;
        p.residual = at_first->residual ? at_first->residual + n * c->residual_image : NULL;
        frame->plan->kernels_u8.winograd(&p, (int32_t)g0, (int32_t)g1, t, t + count, frame->scratch);
        at += count;
    }
}

/* Rows of single channels to pixels. Of three channels four bytes are written at once; the fourth is the next pixel's. */
static void side_by_side(const uint8_t *rows, int32_t row, uint8_t *out, int32_t width, int32_t channels)
{
    if (channels == 3) {
        const uint8_t *a = rows, *b = rows + row, *c = b + row;
        for (int32_t i = 0; i + 1 < width; i++) {
            const uint32_t pixel = (uint32_t)a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16;
            memcpy(out + 3 * i, &pixel, sizeof pixel);
        }
    }
    for (int32_t i = channels == 3 ? width - 1 : 0; i < width; i++)
        for (int32_t k = 0; k < channels; k++)
            out[i * channels + k] = rows[k * row + i];
}

/* Input row y of image n as interleaved bytes; outside the picture are zero points. */
static void convert_row(const cpu_conv *c, const cpu_frame *frame, int32_t n, int32_t y, uint8_t *out,
                        uint8_t *spare)
{
    const cpu_conv_u8 *u = c->u8;
    const cpu_plan *plan = frame->plan;
    const cpu_value *x = &plan->values[c->x];
    const sk_session_input *in = &frame->inputs[x->input];
    const int64_t *d = cpu_shape(plan, c->x)->dim;
    const int32_t channels = c->weights.cin, width = (int32_t)d[3], lead = c->pad_left * channels;
    memset(out, x->zero, (size_t)u->row_bytes);
    if (y < 0 || y >= d[2])
        return;
    out += lead;
    if (from_pictures(plan)) {
        const ptrdiff_t row = in->row_bytes ? in->row_bytes : (ptrdiff_t)width * channels;
        const ptrdiff_t picture = in->picture_bytes ? in->picture_bytes : row * (ptrdiff_t)d[2];
        const uint8_t *from = (const uint8_t *)in->data + n * picture + y * row;
        if (u->as_is)
            memcpy(out, from, (size_t)width * (size_t)channels);
        else
            for (int32_t k = 0; k < channels; k++)
                for (int32_t i = k; i < width * channels; i += channels)
                    out[i] = u->lookup[k][from[i]];
        return;
    }
    for (int32_t k = 0; k < channels; k++) {
        const float *from = (const float *)in->data + (((int64_t)n * channels + k) * d[2] + y) * width;
        plan->kernels_u8.quantise(from, channels == 1 ? out : spare + k * u->row_bytes, (size_t)width,
                                  x->scale, x->zero);
    }
    if (channels > 1)
        side_by_side(spare, u->row_bytes, out, width, channels);
}

static void run_first(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const cpu_conv_u8 *u = c->u8;
    sk_conv_u8c16 p = u->p;
    uint8_t *rows = (uint8_t *)frame->scratch, *spare = rows + (size_t)u->row_count * (size_t)u->row_bytes;
    int64_t from, to;
    sk_pool_split((int64_t)c->n * c->out_h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to;) {
        const int32_t n = (int32_t)(at / c->out_h), y = (int32_t)(at % c->out_h);
        int32_t count = (int32_t)(to - at < c->out_h - y ? to - at : c->out_h - y);
        count = count < FIRST_ROWS ? count : FIRST_ROWS;
        for (int32_t i = 0; i < (count - 1) * c->stride_h + c->kernel_h; i++)
            convert_row(c, frame, n, y * c->stride_h - c->pad_top + i,
                        rows + (size_t)i * (size_t)u->row_bytes, spare);
        p.in = rows - (ptrdiff_t)y * c->stride_h * u->row_bytes;
        p.out = u->floats ? NULL : u->p.out + n * c->out_image;
        p.out_f32 = u->floats ? u->p.out_f32 + n * c->out_image : NULL;
        run_units(c, frame, frame->plan->kernels_u8.conv, &p, 0, c->groups, y, y + count);
        at += count;
    }
}

void cpu_conv_run_u8(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const sk_kernels_u8 *k = &frame->plan->kernels_u8;
    if (c->choice.form == CPU_CONV_FIRST)
        run_first(c, frame, part, parts);
    else if (c->choice.form == CPU_CONV_WINOGRAD)
        run_winograd(c, frame, part, parts);
    else if (c->choice.form == CPU_CONV_DEPTHWISE)
        run_rows(c, frame, k->depthwise, c->u8->p.out_blocks, part, parts);
    else
        run_rows(c, frame, k->conv, c->groups, part, parts);
}
