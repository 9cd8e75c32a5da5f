/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"
#include "engines/cpu/conv_u8.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Weights in the forms kernels/kernels.h describes. Sets are found by content, so sessions on the same model, at any
 * size, share one copy. */

typedef struct pack_key {
    uint64_t part[2];
} pack_key;

struct cpu_packed {
    pack_key key;
    int32_t references;
    float *weights, *bias;
    size_t floats;
    cpu_packed *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_packed *all_packed;

static float weight_at(const cpu_weights *w, int32_t co, int32_t ci, int32_t ky, int32_t kx)
{
    if (co >= w->cout)
        return 0.0f;
    int32_t inputs = w->cin / w->groups, outputs = w->cout / w->groups;
    if (w->groups > 1) {
        if (ci / inputs != co / outputs)
            return 0.0f;
        ci %= inputs;
    }
    const float value = w->data[co * w->co + ci * w->ci + ky * w->ky + kx * w->kx];
    return w->bf16 ? sk_bf16_to_f32(sk_f32_to_bf16(value)) : value;
}

/* One (group, channel, tap): the group's output channels side by side. */
static float *put(float *to, const cpu_weights *w, int32_t block, int32_t width, int32_t ci, int32_t ky,
                  int32_t kx)
{
    for (int32_t i = 0; i < width * SK_BLOCK; i++)
        *to++ = weight_at(w, block * SK_BLOCK + i, ci, ky, kx);
    return to;
}

static void pack_direct(const cpu_conv *c, const uint8_t *fill, int32_t in_blocks, bool row_form, float *to)
{
    const cpu_weights *w = &c->weights;
    const int32_t out_blocks = cpu_blocks(w->cout);
    for (int32_t block = 0; block < out_blocks; block += c->choice.width) {
        int32_t width = out_blocks - block < c->choice.width ? out_blocks - block : c->choice.width, from = 0;
        for (int32_t b = 0; b < in_blocks; from += fill[b], b++)
            for (int32_t ky = 0; ky < w->kernel_h; ky++) {
                if (row_form) {
                    for (int32_t ci = 0; ci < fill[b]; ci++)
                        for (int32_t kx = 0; kx < w->kernel_w; kx++)
                            to = put(to, w, block, width, from + ci, ky, kx);
                } else {
                    for (int32_t kx = 0; kx < w->kernel_w; kx++)
                        for (int32_t ci = 0; ci < fill[b]; ci++)
                            to = put(to, w, block, width, from + ci, ky, kx);
                }
            }
    }
}

/* Channels in pairs, as bf16. */
static void pack_bf16(const cpu_conv *c, const uint8_t *fill, int32_t in_blocks, uint16_t *to)
{
    const cpu_weights *w = &c->weights;
    const int32_t out_blocks = cpu_blocks(w->cout);
    for (int32_t block = 0; block < out_blocks; block += c->choice.width) {
        int32_t width = out_blocks - block < c->choice.width ? out_blocks - block : c->choice.width, from = 0;
        for (int32_t b = 0; b < in_blocks; from += fill[b], b++)
            for (int32_t k = 0; k < w->kernel_h * w->kernel_w; k++)
                for (int32_t ci = 0; ci < fill[b]; ci += 2)
                    for (int32_t i = 0; i < 2 * width * SK_BLOCK; i++)
                        *to++ = ci + i % 2 < fill[b]
                                    ? sk_f32_to_bf16(weight_at(w, block * SK_BLOCK + i / 2, from + ci + i % 2,
                                                               k / w->kernel_w, k % w->kernel_w))
                                    : 0;
    }
}

/* G of the two cases in simd/winograd_impl.h. */
static const double g_1[6][3] = {{1.0 / 4, 0, 0},
                                 {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                                 {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                                 {1.0 / 24, 1.0 / 12, 1.0 / 6},
                                 {1.0 / 24, -1.0 / 12, 1.0 / 6},
                                 {0, 0, 1}};
static const double g_2[9][3] = {{1.0 / 2, 0, 0},
                                 {-1.0 / 2, 0, -1.0 / 2},
                                 {-1.0 / 6, 0, 1.0 / 6},
                                 {1.0 / 6, 0, 1.0 / 3},
                                 {0, 0, 1},
                                 {0, 1, 0},
                                 {0, 1, 0},
                                 {0, 1, 0},
                                 {0, 1, 0}};

/* U = G g G^T for one channel pair, in double: the transformed weights should not add to the error. */
static void transform(const cpu_weights *w, int32_t co, int32_t ci, const double (*g)[3], int side, float *u)
{
    double half[9][3];
    const float *data = w->data + co * w->co + ci * w->ci;
    for (int i = 0; i < side; i++)
        for (int x = 0; x < 3; x++)
            half[i][x] = g[i][0] * data[x * w->kx] + g[i][1] * data[w->ky + x * w->kx] +
                         g[i][2] * data[2 * w->ky + x * w->kx];
    for (int i = 0; i < side; i++)
        for (int k = 0; k < side; k++)
            u[i * side + k] = (float)(half[i][0] * g[k][0] + half[i][1] * g[k][1] + half[i][2] * g[k][2]);
}

/* [point][group][channel][16 * width]; channels in order, whatever blocks they lie in. */
static void pack_winograd(const cpu_conv *c, float *to)
{
    const cpu_weights *w = &c->weights;
    const int side = c->stride_h == 1 ? 6 : 9;
    const int32_t out_blocks = cpu_blocks(w->cout);
    const size_t point = (size_t)w->cin * (size_t)out_blocks * SK_BLOCK;
    for (int32_t block = 0; block < out_blocks; block++) {
        int32_t first = block / c->choice.width * c->choice.width;
        int32_t width = out_blocks - first < c->choice.width ? out_blocks - first : c->choice.width;
        float *group = to + (size_t)first * (size_t)w->cin * SK_BLOCK + (block - first) * SK_BLOCK;
        for (int32_t ci = 0; ci < w->cin; ci++) {
            float u[SK_BLOCK][81]; /* 16 outputs together: whole lines are written */
            int32_t count = w->cout - block * SK_BLOCK < SK_BLOCK ? w->cout - block * SK_BLOCK : SK_BLOCK;
            for (int32_t i = 0; i < count; i++)
                transform(w, block * SK_BLOCK + i, ci, side == 6 ? g_1 : g_2, side, u[i]);
            for (int k = 0; k < side * side; k++)
                for (int32_t i = 0; i < count; i++)
                    group[(size_t)k * point + (size_t)ci * (size_t)width * SK_BLOCK + (size_t)i] = u[i][k];
        }
    }
}

/* What a channel's inputs are multiplied by, and its weights divided by: its largest weight as a power of two, beside the largest of all.
 * A channel that nothing reads has none to speak of. */
static void channel_gains(const cpu_weights *w, float *gain)
{
    float most = 0.0f;
    for (int32_t ci = 0; ci < w->cin; ci++) {
        gain[ci] = 0.0f;
        for (int32_t co = 0; co < w->cout; co++)
            for (int32_t k = 0; k < 9; k++) {
                const float m = fabsf(weight_at(w, co, ci, k / 3, k % 3));
                gain[ci] = m > gain[ci] ? m : gain[ci];
            }
        most = gain[ci] > most ? gain[ci] : most;
    }
    for (int32_t ci = 0; ci < w->cin; ci++) {
        const int power = gain[ci] > 0 && isfinite(gain[ci]) && isfinite(most)
                              ? ilogbf(gain[ci]) - ilogbf(most)
                          : gain[ci] > 0 ? 0
                                         : -100;
        gain[ci] = ldexpf(1.0f, power > -100 ? power : -100);
    }
}

/* Channels in pairs, as words: of each output and point as large as the sums allow. What 1 of them is worth stands behind them all, and
 * behind that the channels' gains, block by block. */
static void pack_words(const cpu_conv *c, const uint8_t *fill, int32_t in_blocks, int16_t *to)
{
    const cpu_weights *w = &c->weights;
    const int side = c->stride_h == 1 ? 6 : 9, points = side * side;
    const int32_t out_blocks = cpu_blocks(w->cout);
    const size_t pairs = (size_t)cpu_conv_pairs(c), point = 2 * pairs * (size_t)out_blocks * SK_BLOCK;
    float *worth = (float *)(void *)(to + (size_t)points * point), gain[SK_WORDS_CHANNELS];
    float *gains = worth + (size_t)points * (size_t)out_blocks * SK_BLOCK;
    channel_gains(w, gain);
    for (int32_t b = 0, ci = 0; b < in_blocks; ci += fill[b], b++)
        memcpy(gains + (ptrdiff_t)b * SK_BLOCK, gain + ci, fill[b] * sizeof *gain);
    for (int32_t co = 0; co < w->cout; co++) {
        const int32_t block = co / SK_BLOCK, first = block / c->choice.width * c->choice.width;
        const int32_t width = out_blocks - first < c->choice.width ? out_blocks - first : c->choice.width;
        int16_t *group = to + 2 * pairs * (size_t)first * SK_BLOCK + 2 * (size_t)(co - first * SK_BLOCK);
        double sum[81] = {0}, most[81] = {0}, scale[81];
        float u[81];
        for (int32_t ci = 0; ci < w->cin; ci++) {
            transform(w, co, ci, side == 6 ? g_1 : g_2, side, u);
            for (int k = 0; k < points; k++) {
                const double magnitude = fabs((double)u[k] / (double)gain[ci]);
                sum[k] += magnitude;
                most[k] = magnitude > most[k] ? magnitude : most[k];
            }
        }
        for (int k = 0; k < points; k++) { /* each may be rounded up by half */
            const double room = (SK_WORDS_SUM - w->cin) / fmax(sum[k], 1e-30);
            const bool number = isfinite(sum[k]); /* else what they make is none either */
            scale[k] = number ? fmin(room, 32767.0 / fmax(most[k], 1e-30)) : 0.0;
            worth[((size_t)block * (size_t)points + (size_t)k) * SK_BLOCK + (size_t)(co % SK_BLOCK)] =
                number ? (float)(1.0 / scale[k] / sk_words_row(c->stride_h, k / side) /
                                 sk_words_row(c->stride_h, k % side))
                       : NAN;
        }
        for (int32_t b = 0, ci = 0, pair = 0; b < in_blocks; pair += (fill[b] + 1) / 2, b++)
            for (int32_t i = 0; i < fill[b]; i++, ci++) {
                transform(w, co, ci, side == 6 ? g_1 : g_2, side, u);
                for (int k = 0; k < points; k++)
                    group[(size_t)k * point + 2 * (size_t)(pair + i / 2) * (size_t)width * SK_BLOCK +
                          (size_t)(i % 2)] =
                        scale[k] > 0 ? (int16_t)rint((double)u[k] / (double)gain[ci] * scale[k]) : 0;
            }
    }
}

static void pack_depthwise(const cpu_conv *c, const uint8_t *fill, int32_t blocks, float *to, float *bias)
{
    const cpu_weights *w = &c->weights;
    for (int32_t b = 0, from = 0; b < blocks; from += fill[b], b++) {
        for (int32_t k = 0; k < w->kernel_h * w->kernel_w; k++)
            for (int32_t i = 0; i < SK_BLOCK; i++)
                *to++ = i < fill[b]
                            ? w->data[(from + i) * w->co + k / w->kernel_w * w->ky + k % w->kernel_w * w->kx]
                            : 0.0f;
        for (int32_t i = 0; i < fill[b] && w->bias; i++)
            bias[b * SK_BLOCK + i] = w->bias[from + i];
    }
}

size_t cpu_packed_floats(const cpu_conv *c, const cpu_conv_choice *choice)
{
    const cpu_weights *w = &c->weights;
    if (c->u8)
        return (cpu_packed_bytes_u8(c, choice) + sizeof(float) - 1) / sizeof(float);
    size_t taps = (size_t)w->kernel_h * (size_t)w->kernel_w;
    if (choice->form == CPU_CONV_DEPTHWISE)
        return taps * (size_t)c->p.out_blocks * SK_BLOCK;
    const size_t outputs = (size_t)cpu_blocks(w->cout) * SK_BLOCK;
    if (choice->form == CPU_CONV_WORDS) /* and what they are worth, and gains */
        return (size_t)sk_winograd_points(c->stride_h) * ((size_t)cpu_conv_pairs(c) + 1) * outputs +
               (size_t)c->p.in_blocks * SK_BLOCK;
    const size_t pairs =
        outputs * (choice->form == CPU_CONV_BF16 ? (size_t)cpu_conv_pairs(c) : (size_t)w->cin);
    return pairs * (choice->form == CPU_CONV_WINOGRAD ? (size_t)sk_winograd_points(c->stride_h) : taps);
}

static void key_add(pack_key *key, const void *data, size_t bytes)
{
    for (int i = 0; i < 2; i++)
        key->part[i] = sk_hash_xxh3(data, bytes, key->part[i]);
}

static pack_key key_of(const cpu_conv *c, const uint8_t *fill, int32_t blocks)
{
    const cpu_weights *w = &c->weights;
    const int64_t head[] = {c->choice.form, c->choice.width, c->stride_h, w->co,        w->ci,
                            w->ky,          w->kx,           w->groups,   w->cin,       w->cout,
                            w->kernel_h,    w->kernel_w,     blocks,      w->bias != 0, w->bf16};
    pack_key key = {{1, 2}};
    key_add(&key, head, sizeof head);
    key_add(&key, fill, (size_t)blocks);
    if (c->u8) {
        size_t bytes;
        const void *data = cpu_conv_bytes_u8(c, &bytes);
        key_add(&key, &w->offset, sizeof w->offset);
        key_add(&key, data, bytes);
        key_add(&key, c->u8->p.fill, (size_t)blocks); /* those that hold nothing may be multiplied, too */
        key.part[0] ^= 8;                             /* never the same as floats' */
        return key;
    }
    if (w->bias)
        key_add(&key, w->bias, (size_t)w->cout * sizeof(float));
    const int32_t inputs = w->cin / w->groups, taps = w->kernel_h * w->kernel_w;
    if (w->kx == 1 && w->co == (ptrdiff_t)inputs * taps) { /* contiguous */
        key_add(&key, w->data, (size_t)(w->co * w->cout) * sizeof(float));
        return key;
    }
    for (int32_t co = 0; co < w->cout; co++)
        for (int32_t k = 0; k < taps; k++) {
            float run[64];
            for (int32_t ci = 0; ci < inputs;) {
                int32_t n = 0;
                for (; n < 64 && ci < inputs; n++, ci++)
                    run[n] =
                        w->data[co * w->co + ci * w->ci + k / w->kernel_w * w->ky + k % w->kernel_w * w->kx];
                key_add(&key, run, (size_t)n * sizeof(float));
            }
        }
    return key;
}

static void fill_packed(const cpu_conv *c, const uint8_t *fill, int32_t blocks, cpu_packed *packed)
{
    const cpu_weights *w = &c->weights;
    if (c->u8) { /* in the bias's place: the sums of the weights */
        cpu_conv_fill_u8(c, packed->weights, (int32_t *)(void *)packed->bias);
        return;
    }
    if (w->bias && c->choice.form != CPU_CONV_DEPTHWISE)
        memcpy(packed->bias, w->bias, (size_t)w->cout * sizeof(float));
    switch (c->choice.form) {
    case CPU_CONV_WINOGRAD: pack_winograd(c, packed->weights); break;
    case CPU_CONV_DEPTHWISE: pack_depthwise(c, fill, blocks, packed->weights, packed->bias); break;
    case CPU_CONV_WORDS: pack_words(c, fill, blocks, (int16_t *)(void *)packed->weights); break;
    case CPU_CONV_BF16: pack_bf16(c, fill, blocks, (uint16_t *)(void *)packed->weights); break;
    case CPU_CONV_ROWS: pack_direct(c, fill, blocks, true, packed->weights); break;
    default: pack_direct(c, fill, blocks, false, packed->weights); break;
    }
}

static sk_status make_packed(const cpu_conv *c, const uint8_t *fill, int32_t blocks, cpu_packed **out,
                             sk_error *err)
{
    size_t bias = (size_t)c->p.out_blocks * SK_BLOCK;
    size_t floats = cpu_packed_floats(c, &c->choice) + bias;
    cpu_packed *packed = sk_calloc(1, sizeof *packed);
    float *data = packed ? sk_aligned_calloc(64, floats * sizeof(float)) : NULL;
    if (!data) {
        sk_free(packed);
        return sk_fail_memory(err, floats * sizeof(float));
    }
    packed->bias = data;
    packed->weights = data + bias;
    packed->floats = floats;
    fill_packed(c, fill, blocks, packed);
    *out = packed;
    return SK_OK;
}

sk_status cpu_conv_pack(cpu_plan *plan, cpu_conv *c, sk_error *err)
{
    uint8_t one = (uint8_t)c->weights.cin;
    const bool first = c->choice.form == CPU_CONV_FIRST;
    const uint8_t *fill = first ? &one : plan->values[c->x].fill;
    const int32_t blocks = first ? 1 : plan->values[c->x].blocks;
    const pack_key key = key_of(c, fill, blocks);
    SK_TRY(sk_array_reserve((void **)&plan->packed, &plan->packed_capacity, plan->n_packed + 1,
                            sizeof plan->packed[0], SK_GRAPH_MAX_NODES, err));
    pthread_mutex_lock(&lock);
    cpu_packed *found = all_packed;
    while (found && memcmp(&found->key, &key, sizeof key) != 0)
        found = found->next;
    sk_status status = SK_OK;
    if (!found) {
        status = make_packed(c, fill, blocks, &found, err);
        if (status == SK_OK) {
            found->key = key;
            found->next = all_packed;
            all_packed = found;
        }
    }
    if (status == SK_OK) {
        found->references++;
        plan->packed[plan->n_packed++] = found;
        plan->weight_bytes += found->floats * sizeof(float);
        c->packed = found;
        c->p.weights = found->weights;
        c->p.bias = found->bias;
        if (c->u8)
            cpu_conv_set_weights_u8(plan, c, found->weights, (const int32_t *)(const void *)found->bias);
    }
    pthread_mutex_unlock(&lock);
    return status;
}

void cpu_packed_unref(cpu_packed **packed)
{
    if (!*packed)
        return;
    pthread_mutex_lock(&lock);
    if (--(*packed)->references == 0) {
        cpu_packed **at = &all_packed;
        while (*at != *packed)
            at = &(*at)->next;
        *at = (*packed)->next;
        sk_free((*packed)->bias);
        sk_free(*packed);
    }
    pthread_mutex_unlock(&lock);
    *packed = NULL;
}

int32_t cpu_packed_live(void)
{
    int32_t count = 0;
    pthread_mutex_lock(&lock);
    for (const cpu_packed *p = all_packed; p; p = p->next)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}
