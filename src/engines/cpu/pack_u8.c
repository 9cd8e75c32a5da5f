/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv_u8.h"

#include <math.h>
#include <stdlib.h>

/* Weights in eight bits in the forms that kernels/kernels_u8.h describes, and what their sums are multiplied with. */

int64_t cpu_fours_u8(const sk_conv_u8c16 *p)
{
    int64_t count = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        count += (p->fill[b] + 3) / 4;
    return count;
}

int64_t cpu_pairs_u8(const sk_conv_u8c16 *p)
{
    int64_t count = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        count += (p->fill[b] + 1) / 2;
    return count;
}

static int32_t weight_at(const cpu_conv *c, int32_t co, int32_t ci, int32_t ky, int32_t kx)
{
    const cpu_weights *w = &c->weights;
    if (co >= w->cout)
        return 0;
    const int32_t inputs = w->cin / w->groups, outputs = w->cout / w->groups;
    if (w->groups > 1) {
        if (ci / inputs != co / outputs)
            return 0;
        ci %= inputs;
    }
    return c->u8->data[w->offset + co * w->co + ci * w->ci + ky * w->ky + kx * w->kx];
}

/* One step of the kernel's loop: four channels, or bytes of a picture's row, of all outputs of a group. */
static int8_t *put_fours(int8_t *to, const cpu_conv *c, int32_t block, int32_t width, int32_t from,
                         int32_t valid, int32_t ky, int32_t kx, int32_t *sums)
{
    const bool first = c->choice.form == CPU_CONV_FIRST;
    for (int32_t o = 0; o < width * SK_BLOCK; o++)
        for (int32_t i = 0; i < 4; i++, to++) {
            const int32_t k = from + i, co = block * SK_BLOCK + o;
            const int32_t w = i >= valid ? 0
                              : first    ? weight_at(c, co, k % c->weights.cin, ky, k / c->weights.cin)
                                         : weight_at(c, co, k, ky, kx);
            *to = (int8_t)w;
            sums[co] += w;
        }
    return to;
}

static void pack_direct(const cpu_conv *c, int8_t *to, int32_t *sums)
{
    const sk_conv_u8c16 *p = &c->u8->p;
    const uint8_t *holds = c->u8->holds;
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        for (int32_t b = 0, from = 0; b < p->in_blocks; from += holds[b], b++)
            for (int32_t ky = 0; ky < p->kernel_h; ky++)
                for (int32_t kx = 0; kx < p->kernel_w; kx++)
                    for (int32_t i = 0; i < p->fill[b]; i += 4)
                        to = put_fours(to, c, block, width, from + i, holds[b] - i, ky, kx, sums);
    }
}

int64_t cpu_conv_reach_u8(const cpu_conv *c)
{
    const cpu_weights *w = &c->weights;
    int64_t most = 0;
    for (int32_t co = 0; co < w->cout; co++) {
        int64_t above = 0, below = 0;
        for (int32_t ci = 0; ci < w->cin; ci++)
            for (int32_t k = 0; k < w->kernel_h * w->kernel_w; k++) {
                const int32_t value = weight_at(c, co, ci, k / w->kernel_w, k % w->kernel_w);
                above += value > 0 ? value : 0;
                below -= value < 0 ? value : 0;
            }
        most = above > most ? above : most;
        most = below > most ? below : most;
    }
    return 255 * most;
}

/* [point][group][block][channel / 2][16 * width][2 channels] */
static void pack_winograd(const cpu_conv *c, int16_t *to, int32_t *sums)
{
    const sk_conv_u8c16 *p = &c->u8->p;
    const int64_t pairs = cpu_pairs_u8(p), point = pairs * p->out_blocks * SK_BLOCK * 2;
    for (int32_t co = 0; co < c->weights.cout; co++) {
        const int32_t group = co / SK_BLOCK / p->width * p->width, o = co - group * SK_BLOCK;
        const int32_t width = p->out_blocks - group < p->width ? p->out_blocks - group : p->width;
        int16_t *at = to + group * pairs * SK_BLOCK * 2;
        for (int32_t b = 0, from = 0; b < p->in_blocks; from += p->fill[b], b++) {
            for (int32_t i = 0; i < p->fill[b]; i++) {
                int8_t taps[9];
                int16_t points[36];
                for (int32_t k = 0; k < 9; k++) {
                    taps[k] = (int8_t)weight_at(c, co, from + i, k / 3, k % 3);
                    sums[co] += taps[k];
                }
                sk_winograd_u8_weights(taps, points);
                for (int32_t k = 0; k < 36; k++)
                    at[k * point + (i / 2 * width * SK_BLOCK + o) * 2 + i % 2] = points[k];
            }
            at += (p->fill[b] + 1) / 2 * width * SK_BLOCK * 2;
        }
    }
}

static void pack_depthwise(const cpu_conv *c, int32_t *to, int32_t *sums)
{
    const sk_conv_u8c16 *p = &c->u8->p;
    const cpu_weights *w = &c->weights;
    for (int32_t b = 0, from = 0; b < p->in_blocks; from += p->fill[b], b++)
        for (int32_t k = 0; k < p->kernel_h * p->kernel_w; k++)
            for (int32_t i = 0; i < SK_BLOCK; i++, to++) {
                *to = i < p->fill[b] ? c->u8->data[w->offset + (from + i) * w->co + k / p->kernel_w * w->ky +
                                                   k % p->kernel_w * w->kx]
                                     : 0;
                sums[b * SK_BLOCK + i] += *to;
            }
}

size_t cpu_packed_bytes_u8(const cpu_conv *c, const cpu_conv_choice *choice)
{
    const sk_conv_u8c16 *p = &c->u8->p;
    const size_t taps = (size_t)p->kernel_h * (size_t)p->kernel_w, outputs = (size_t)p->out_blocks * SK_BLOCK;
    if (choice->form == CPU_CONV_DEPTHWISE)
        return taps * outputs * sizeof(int32_t);
    if (choice->form == CPU_CONV_WINOGRAD)
        return (size_t)cpu_pairs_u8(p) * 36 * outputs * 2 * sizeof(int16_t);
    return (size_t)cpu_fours_u8(p) * taps * outputs * 4;
}

void cpu_conv_fill_u8(const cpu_conv *c, void *weights, int32_t *sums)
{
    if (c->choice.form == CPU_CONV_DEPTHWISE)
        pack_depthwise(c, weights, sums);
    else if (c->choice.form == CPU_CONV_WINOGRAD)
        pack_winograd(c, weights, sums);
    else
        pack_direct(c, weights, sums);
}

/* The absolute weights of one output, together; those whose products are in the sums that are added, too. */
static double sum_at(const cpu_conv *c, int32_t co)
{
    const cpu_weights *w = &c->weights;
    double sum = 0;
    for (int32_t ci = -c->u8->before; ci < w->cin + c->u8->behind; ci++)
        for (int32_t k = 0; k < w->kernel_h * w->kernel_w; k++)
            sum += abs(weight_at(c, co, ci, k / w->kernel_w, k % w->kernel_w));
    return sum;
}

/* Whatever a file says: no sum, `most` at most, leaves 31 bits when it is scaled and the bias added. Where only the bias would, it ends
 * where no sum brings it back into x's 16 bits. Where sums would, both become smaller together, so that none changes its sign, and
 * are still far beyond. */
static void hold(double most, double *scale, double *bias)
{
    const double reach = most * *scale, end = reach > 5e8 ? 4 * reach : 1.4e9;
    *bias = fmax(fmin(*bias, end), -end);
    const double less = fmin(1.0, 1.9e9 / (reach + fabs(*bias)));
    *scale *= less;
    *bias *= less;
}

/* What the kernel multiplies sums with and adds: to units of x, or to the output itself. */
static void set_scales(const cpu_plan *plan, cpu_conv *c)
{
    cpu_conv_u8 *u = c->u8;
    const double unit = u->floats ? 1.0 : u->out_scale / (1 << u->p.finish.shift);
    const bool depthwise = c->choice.form == CPU_CONV_DEPTHWISE;
    const uint8_t *fill = depthwise ? plan->values[c->x].fill : NULL;
    const double products = (double)u->data_bytes / (double)c->weights.cout, most = 255.0 * 128.0 * products;
    for (int32_t i = 0, at = 0; i < u->p.out_blocks * SK_BLOCK; i++) {
        const bool used = fill ? i % SK_BLOCK < fill[i / SK_BLOCK] : i < c->weights.cout;
        u->scale[i] = u->bias[i] = 0.0f;
        if (!used)
            continue;
        double scale = u->in_scale * (double)u->scales[u->n_scales > 1 ? at : 0] / unit;
        double bias = c->weights.bias ? (double)c->weights.bias[at] / unit : 0.0;
        if (!u->floats && most * scale + fabs(bias) > 1e9)
            hold(255.0 * sum_at(c, at), &scale, &bias);
        u->scale[i] = (float)scale;
        u->bias[i] = (float)bias;
        at++;
    }
}

void cpu_conv_set_weights_u8(const cpu_plan *plan, cpu_conv *c, const void *weights, const int32_t *sums)
{
    c->u8->p.weights = weights;
    c->u8->p.sums = sums;
    set_scales(plan, c);
}

const void *cpu_conv_bytes_u8(const cpu_conv *c, size_t *bytes)
{
    *bytes = c->u8->data_bytes;
    return c->u8->data;
}
