/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/f8_formula.h"

#include <math.h>
#include <string.h>

/* Which tile runs a convolution, how it is launched and how its weights lie. */

static int32_t round_up(int32_t x, int32_t m)
{
    return (x + m - 1) / m * m;
}

/* Rows of weights are read in whole k steps, of up to 128 bytes. */
static int32_t row_multiple(const gpu_config *c)
{
    return gpu_config_size(c) == 1 ? 128 : 64;
}

static int32_t taps_of(const gpu_step *step)
{
    const sk_node *node = step->node;
    return node->a.conv.window.kernel[0] * node->a.conv.window.kernel[1];
}

static int32_t cout_of(const gpu_plan *plan, const gpu_step *step)
{
    return (int32_t)gpu_shape(plan, step->node->out[0])->dim[1];
}

/* One whose blocks go from tile to tile, with all weights in shared memory. */
static bool walks(const gpu_config *c)
{
    return c->kind == GPU_CONFIG_HALO || c->kind == GPU_CONFIG_WALK;
}

/* Of a tile, borders included. */
static int32_t patch_pixels(const gpu_config *c)
{
    return c->kind == GPU_CONFIG_WALK ? c->bm : ((c->th - 1) * c->stride + 3) * ((c->tw - 1) * c->stride + 3);
}

static int32_t padded_cin(const gpu_step *step, const gpu_config *c)
{
    const int32_t cin = step->args.conv.c8 * 8;
    return walks(c) ? round_up(cin, c->cb) : cin;
}

/* Of the convolution's own weights, without those of one behind it. */
static size_t first_bytes(const gpu_step *step, const gpu_config *c)
{
    const int32_t rows = round_up((int32_t)step->args.conv.cout8, c->bn);
    return (size_t)rows * (size_t)round_up(taps_of(step) * padded_cin(step, c), row_multiple(c)) *
           (size_t)gpu_config_size(c);
}

/* Rows of the second's weights: so many channels are made at a time (conv_then.cuh). */
static int32_t then_rows(const gpu_step *step)
{
    return round_up(step->args.conv.then8, 32);
}

/* A tile of a convolution with a 1x1 convolution behind it has all channels of a pixel, and room for the second's weights. */
static bool fits_then(const gpu_step *step, const gpu_config *c)
{
    if (!c->then != !step->then)
        return false;
    return !c->then ||
           (c->bn >= step->args.conv.cout8 &&
            (walks(c) || then_rows(step) * c->bn * 2 <= (c->bm + c->bn) * c->bk * gpu_config_size(c)));
}

int32_t gpu_config_shared(const gpu_step *step, const gpu_config *c)
{
    const gpu_conv_args *a = &step->args.conv;
    if (!walks(c))
        return c->shared_bytes;
    const int32_t blocks = round_up(a->c8 * 8, c->cb) / c->cb;
    return (blocks * taps_of(step) * c->bn + c->sets * c->buffers * patch_pixels(c)) * c->cb *
               gpu_config_size(c) +
           (step->then ? then_rows(step) * c->bn * 2 : 0);
}

/* Has a 1x1 convolution that walks the end that this one needs? Of bytes, see conv_epilogue_bytes.cuh; of others, maps. */
static bool walks_to_end(const gpu_step *step)
{
    const gpu_conv_args *a = &step->args.conv;
    if (step->bytes)
        return a->bytes.half && (step->refs[4].buffer < 0 || a->residual_before);
    return a->plane == 0 && !a->residual_half;
}

bool gpu_config_fits(const gpu_plan *plan, const gpu_step *step, const gpu_config *c)
{
    const gpu_conv_args *a = &step->args.conv;
    const int32_t taps = taps_of(step), cin = a->c8 * 8, cout = cout_of(plan, step);
    if (c->floats != gpu_products(plan, step))
        return false;
    if (c->wgmma && !(plan->device_major == 9 && plan->device_minor == 0))
        return false;
    if (c->floats == GPU_E4M3 && !gpu_has_f8(plan->device_major, plan->device_minor))
        return false;
    if (c->split > 1 && plan->device_major < 9)
        return false;
    if ((c->wgmma && plan->without & GPU_WITHOUT_WGMMA) ||
        (c->split > 1 && plan->without & GPU_WITHOUT_SPLIT) ||
        (c->kind == GPU_CONFIG_HALO && plan->without & GPU_WITHOUT_HALO))
        return false;
    if ((c->kind == GPU_CONFIG_POINTWISE || c->kind == GPU_CONFIG_WALK) != (taps == 1) || !fits_then(step, c))
        return false;
    if (c->kind == GPU_CONFIG_WALK && !walks_to_end(step))
        return false;
    if (walks(c)) {
        const int32_t blocks = round_up(cin, c->cb) / c->cb, row = c->cb * gpu_config_size(c);
        if (c->stride != a->stride || (row < 128 && blocks > 1) || (row > 32 && cin <= c->cb / 2))
            return false;
    }
    if (gpu_config_shared(step, c) > plan->shared_bytes)
        return false;
    /* a tile much wider than the channels wastes its arithmetic; one of 8 or 16 reads the input too often */
    if ((c->bn > round_up(cout, 32) && cout > 16) || (cout <= 16 && c->bn > 32) ||
        (c->bn < cout && c->bn <= 16) || (c->bn >= 128 && cout < 128))
        return false;
    return c->split == 1 || (taps * cin + 63) / 64 >= c->split * 2;
}

void gpu_config_apply(const gpu_plan *plan, gpu_step *step, int32_t config, int32_t occupancy)
{
    const gpu_config *c = gpu_config_at(config);
    gpu_conv_args *a = &step->args.conv;
    const int32_t taps = taps_of(step), cin = a->c8 * 8, cout = cout_of(plan, step);
    step->config = config;
    step->shared_bytes = gpu_config_shared(step, c);
    if (step->then) {
        a->then_rows = then_rows(step);
        a->then_at = (int32_t)first_bytes(step, c);
    }
    if (!walks(c)) {
        a->kpad = round_up(taps * cin, row_multiple(c));
        a->nk = (taps * cin + c->bk - 1) / c->bk;
        step->grid[0] = (a->m + c->bm - 1) / c->bm;
        step->grid[1] = (cout + c->bn - 1) / c->bn;
        step->grid[2] = c->split;
        return;
    }
    a->blocks = round_up(cin, c->cb) / c->cb;
    a->kpad = round_up(taps * a->blocks * c->cb, row_multiple(c));
    if (c->kind == GPU_CONFIG_HALO) {
        a->tx = (a->ow + c->tw - 1) / c->tw;
        a->ty = (a->oh + c->th - 1) / c->th;
        a->tiles = a->tx * a->ty * a->n;
    } else {
        a->tiles = (a->m + c->bm - 1) / c->bm;
    }
    a->buffers = c->buffers;
    step->grid[1] = (cout + c->bn - 1) / c->bn;
    const int32_t most = plan->sms * (occupancy > 0 ? occupancy : 1) / step->grid[1];
    const int32_t walks = (a->tiles + c->sets - 1) / c->sets;
    step->grid[0] = walks < most ? walks : most > 0 ? most : 1;
    step->grid[2] = 1;
    if (c->sets == 1 && step->grid[0] == a->tiles && a->blocks == 1 &&
        c->buffers == 2) /* one patch a block: no second buffer */
        step->shared_bytes -= patch_pixels(c) * c->cb * gpu_config_size(c);
}

int32_t gpu_config_guess(const gpu_plan *plan, const gpu_step *step)
{
    const gpu_conv_args *a = &step->args.conv;
    const int32_t cout = cout_of(plan, step);
    int32_t best = -1;
    double best_cost = 0;
    for (int32_t i = 0; i < gpu_config_count(); i++) {
        const gpu_config *c = gpu_config_at(i);
        if (!gpu_config_fits(plan, step, c))
            continue;
        /* waves of blocks times the work of one, wgmma at twice the rate, resident halos reading a ninth */
        const double blocks = (double)((a->m + c->bm - 1) / c->bm) * ((cout + c->bn - 1) / c->bn) * c->split;
        const double waves = blocks <= plan->sms ? 1 : blocks / plan->sms;
        const double k = (double)taps_of(step) * a->c8 * 8 / c->split;
        const double math = (double)c->bm * c->bn * k / (c->wgmma ? 2.0 : 1.0);
        const double loads = (double)(c->bm / (c->kind == GPU_CONFIG_HALO ? 6.0 : 1.0) + c->bn) * k * 8.0;
        const double cost = waves * (math + loads + 20000.0);
        if (best < 0 || cost < best_cost) {
            best = i;
            best_cost = cost;
        }
    }
    return best;
}

size_t gpu_packed_bytes(const gpu_step *step, const gpu_config *c)
{
    const size_t rows = step->then ? (size_t)then_rows(step) : 0;
    return first_bytes(step, c) + rows * (sizeof(float) + (size_t)c->bn * sizeof(uint16_t));
}

/* Rounded to the 10 bits of mantissa that the tensor cores read; they would cut. */
static float to_tf32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits >> 23 & 255) != 255)
        bits = (bits + 0x1000) & ~(uint32_t)0x1fff;
    memcpy(&v, &bits, sizeof bits);
    return v;
}

/* As a number of two bytes of the tile's kind. */
static uint16_t narrowed(float v, const gpu_config *c)
{
    return c->floats == GPU_BRAIN ? sk_f32_to_bf16(v) : sk_f32_to_f16(v);
}

/* Which channel row p of the weights is. */
static int32_t channel_of(int32_t p, int32_t group)
{
    const int32_t span = 8 * group, r = p % span, j = r / 8, q = r % 8;
    return p / span * span + q / 2 * 2 * group + 2 * j + (q & 1);
}

/* Bias, then rows in the same order, whose columns are in the order of the first's rows. */
static void pack_then(const gpu_plan *plan, const gpu_step *step, const gpu_config *c, uint8_t *out)
{
    const sk_node *node = step->then;
    const int32_t rows = then_rows(step), cout = (int32_t)gpu_shape(plan, node->out[0])->dim[1];
    const int32_t cin = (int32_t)gpu_shape(plan, node->in[1])->dim[1];
    const float *w = sk_value_tensor(plan->graph, node->in[1]).data;
    float *bias = (float *)out;
    uint16_t *to = (uint16_t *)(bias + rows);
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE)
        memcpy(bias, sk_value_tensor(plan->graph, node->in[2]).data, (size_t)cout * sizeof *bias);
    for (int32_t p = 0; p < rows; p++)
        for (int32_t k = 0; k < c->bn; k++) {
            const int32_t channel = channel_of(p, 4), from = channel_of(k, c->group);
            if (channel < cout && from < cin)
                to[p * c->bn + k] = narrowed(w[(size_t)channel * (size_t)cin + (size_t)from], c);
        }
}

/* Rows [k tiles] of one output channel each, in the order in which a thread of the tile owns 2 * group neighbours;
 * columns tap by tap, channels of a tap together. */
void gpu_pack(const gpu_plan *plan, const gpu_step *step, const gpu_config *c, void *out)
{
    const int32_t taps = taps_of(step), cin = padded_cin(step, c), cout = cout_of(plan, step);
    const int32_t kpad = round_up(taps * cin, row_multiple(c)), rows = round_up(step->args.conv.cout8, c->bn);
    const int32_t own = (int32_t)gpu_shape(plan, step->node->in[1])->dim[1];
    const gpu_scales *scales = step->bytes ? gpu_scales_of(plan, step->node->in[1]) : NULL;
    const float *w = sk_value_tensor(plan->graph, step->node->in[1]).data;
    memset(out, 0, gpu_packed_bytes(step, c));
    if (step->then)
        pack_then(plan, step, c, (uint8_t *)out + first_bytes(step, c));
    for (int32_t p = 0; p < rows; p++) {
        const int32_t channel = channel_of(p, c->group);
        if (channel >= cout)
            continue;
        for (int32_t t = 0; t < taps; t++)
            for (int32_t i = 0; i < own; i++) {
                const size_t to = (size_t)p * (size_t)kpad + (size_t)t * (size_t)cin + (size_t)i;
                const float v = w[((size_t)channel * (size_t)own + (size_t)i) * (size_t)taps + (size_t)t];
                if (scales && plan->low == GPU_F8)
                    ((uint8_t *)out)[to] = sk_f8_of(v / scales->scales[scales->n > 1 ? channel : 0]);
                else if (scales)
                    ((int8_t *)out)[to] = (int8_t)rintf(v / scales->scales[scales->n > 1 ? channel : 0]);
                else if (gpu_config_size(c) == 4)
                    ((float *)out)[to] = c->floats == GPU_TF32 ? to_tf32(v) : v;
                else
                    ((uint16_t *)out)[to] = narrowed(v, c);
            }
    }
}
