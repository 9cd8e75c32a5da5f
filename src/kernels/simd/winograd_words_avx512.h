/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_WINOGRAD_WORDS_AVX512_H
#define SK_KERNELS_SIMD_WINOGRAD_WORDS_AVX512_H

#include "kernels/simd/vec_avx512.h"

#include "kernels/simd/strip_bf16.h"
#include "kernels/simd/words_avx512.h"

/* Winograd for maps of bf16: 36 products instead of 144, 81 at stride 2, of words, as many an instruction as of bf16. As in
 * winograd_impl.h, but V becomes whole numbers of 16 bits: each tile's inputs are scaled by their largest, so that none leaves
 * them, after their channels' gains have made those alike. Rows of B^T are scaled to the same sum of magnitudes, rows of G back; the weights' own scales, one an output and point, are such
 * that no sum leaves 32 bits (kernels.h says how). What is lost is what bf16 loses: of the products' inputs 12 to 14 bits are left,
 * which the transforms make about 9 of.
 * V and M as in words_avx512.h, X [row][4 * tile + column][16] floats. */

#define WORDS_SIDE(stride) ((stride) == 1 ? 6 : 9)

/* What a tile's largest input becomes: V reaches 100, at stride 2 36 times as far at most. */
#define WORDS_REACH(stride) ((stride) == 1 ? 32767.0f / 100.0f : 32767.0f / 36.0f)

/* Nearer to 0 it would have no reciprocal. */
#define WORDS_LEAST 1e-30f

/* --- the map to V --- */

SK_INLINE void words_bt_1(vec d[6])
{
    const vec four = vec_set1(4.0f), five = vec_set1(5.0f), third = vec_set1(10.0f / 3.0f);
    const vec t0 = vec_fnma(four, d[2], d[4]), t1 = vec_fnma(four, d[1], d[3]);
    const vec t2 = vec_mul(vec_set1(5.0f / 3.0f), vec_sub(d[4], d[2])), t3 = vec_sub(d[3], d[1]);
    const vec o0 = vec_fma(four, d[0], vec_fnma(five, d[2], d[4]));
    const vec o5 = vec_fma(four, d[1], vec_fnma(five, d[3], d[5]));
    d[0] = o0;
    d[1] = vec_add(t0, t1);
    d[2] = vec_sub(t0, t1);
    d[3] = vec_fma(third, t3, t2);
    d[4] = vec_fnma(third, t3, t2);
    d[5] = o5;
}

SK_INLINE void words_bt_2(vec d[9])
{
    const vec two = vec_set1(2.0f), three = vec_set1(3.0f), six = vec_set1(6.0f);
    const vec s = vec_sub(d[6], d[2]), e0 = d[1], e1 = d[3], e2 = d[5], e3 = d[7];
    const vec p0 = vec_fma(two, vec_sub(d[0], d[4]), s);
    const vec p1 = vec_mul(vec_set1(1.5f), vec_sub(s, vec_add(d[2], d[4])));
    const vec p2 = vec_fnma(three, d[4], vec_fma(two, d[2], d[6]));
    const vec p4 = vec_fnma(two, s, vec_sub(d[8], d[4]));
    d[0] = p0;
    d[1] = p1;
    d[2] = p2;
    d[3] = vec_mul(three, s);
    d[4] = p4;
    d[5] = vec_mul(six, e0);
    d[6] = vec_mul(six, e1);
    d[7] = vec_mul(six, e2);
    d[8] = vec_mul(six, e3);
}

/* A tile's inputs: bf16, or floats. */
typedef struct words_patch {
    const uint16_t *low;
    const float *high;
    ptrdiff_t row;
} words_patch;

SK_INLINE vec words_load(const words_patch *in, ptrdiff_t at, const int low)
{
    if (!low)
        return vec_load(in->high + at);
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(in->low + at));
    return (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16);
}

/* The largest magnitude times its gain, as bits of a float: no number, and what is infinite, are larger than every number there. */
SK_INLINE uint32_t words_largest(const words_patch *in, int32_t fill, vec gain, uint32_t largest,
                                 const int side, const int low)
{
    const __mmask16 used = (__mmask16)((1u << fill) - 1u);
    const __m512i magnitude = _mm512_maskz_set1_epi32(used, 0x7fffffff);
    __m512i most = _mm512_setzero_si512();
    for (int y = 0; y < side; y++) {
        SK_UNROLL
        for (int x = 0; x < side; x++) {
            const __m512i d = (__m512i)words_load(in, y * in->row + x * SK_BLOCK, low);
            most = _mm512_max_epu32(most, _mm512_and_si512(d, magnitude));
        }
    }
    const uint32_t here = _mm512_reduce_max_epu32((__m512i)vec_mul((vec)most, gain));
    return here > largest ? here : largest;
}

/* One block of one tile; points are `step` words apart. */
SK_INLINE void words_input_tile(const words_patch *in, vec scale, int16_t *v, size_t step, const int stride,
                                const int low)
{
    const int side = WORDS_SIDE(stride);
    vec b[9][9];
    SK_UNROLL
    for (int x = 0; x < side; x++) {
        vec d[9];
        SK_UNROLL
        for (int y = 0; y < side; y++)
            d[y] = vec_mul(scale, words_load(in, y * in->row + x * SK_BLOCK, low));
        if (stride == 1)
            words_bt_1(d);
        else
            words_bt_2(d);
        SK_UNROLL
        for (int y = 0; y < side; y++)
            b[y][x] = d[y];
    }
    SK_UNROLL
    for (int y = 0; y < side; y++) {
        if (stride == 1)
            words_bt_1(b[y]);
        else
            words_bt_2(b[y]);
        SK_UNROLL
        for (int x = 0; x < side; x++)
            _mm256_storeu_si256((__m256i *)(void *)(v + (size_t)(y * side + x) * step),
                                _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(b[y][x])));
    }
}

/* The tile's inputs of one block; where they reach beyond what may be read, completed with zeros in `space`. */
SK_INLINE words_patch words_patch_at(const sk_conv_f32c16 *p, int32_t b, int32_t y, int32_t x, void *space,
                                     const int side, const int low)
{
    const ptrdiff_t at = b * p->in_plane + y * p->in_row + (ptrdiff_t)x * SK_BLOCK;
    const size_t size = low ? sizeof(uint16_t) : sizeof(float);
    const int32_t rows = p->in_h - y < side ? p->in_h - y : side,
                  pixels = p->in_w - x < side ? p->in_w - x : side;
    if (rows == side && pixels == side)
        return (words_patch){low ? p->in16 + at : NULL, low ? NULL : p->in + at, p->in_row};
    const uint8_t *from = low ? (const uint8_t *)(p->in16 + at) : (const uint8_t *)(p->in + at);
    uint8_t *to = space;
    __builtin_memset(to, 0, (size_t)(side * side * SK_BLOCK) * size);
    for (int32_t r = 0; r < rows; r++)
        __builtin_memcpy(to + (size_t)(r * side * SK_BLOCK) * size, from + (size_t)(r * p->in_row) * size,
                         (size_t)(pixels * SK_BLOCK) * size);
    return (words_patch){low ? space : NULL, low ? NULL : space, side * SK_BLOCK};
}

/* unit: of each tile, what 1 of V is worth. */
SK_INLINE void words_input(const sk_conv_f32c16 *p, int32_t columns, int32_t t0, int32_t count, int16_t *v,
                           float *unit, void *space, const int stride, const int low)
{
    const int side = WORDS_SIDE(stride);
    const size_t step = (size_t)words_step(p->in_blocks, p->batch_tiles);
    for (int32_t i = 0; i < count; i++) {
        const int32_t y = (t0 + i) / columns * 4 * stride, x = (t0 + i) % columns * 4 * stride;
        uint32_t bits = 0;
        for (int32_t b = 0; b < p->in_blocks; b++) {
            const words_patch in = words_patch_at(p, b, y, x, space, side, low);
            bits = words_largest(&in, p->fill[b], vec_load(p->channel_gain + b * SK_BLOCK), bits, side, low);
        }
        float largest;
        __builtin_memcpy(&largest, &bits, sizeof largest);
        const bool number = bits < 0x7f800000u;
        largest = largest > WORDS_LEAST ? largest : WORDS_LEAST;
        unit[i] = number ? largest / WORDS_REACH(stride) : __builtin_nanf("");
        const vec scale = vec_set1(number ? WORDS_REACH(stride) / largest : 0.0f);
        for (int32_t b = 0; b < p->in_blocks; b++) {
            const words_patch in = words_patch_at(p, b, y, x, space, side, low);
            words_input_tile(&in, vec_mul(scale, vec_load(p->channel_gain + b * SK_BLOCK)),
                             v + ((size_t)b * (size_t)p->batch_tiles + (size_t)i) * SK_BLOCK, step, stride,
                             low);
        }
    }
}

/* --- M to X --- */

SK_INLINE void words_at_1(const vec m[6], vec o[4])
{
    const vec a = vec_add(m[1], m[2]), b = vec_sub(m[1], m[2]);
    const vec c = vec_add(m[3], m[4]), e = vec_sub(m[3], m[4]);
    o[0] = vec_add(vec_add(m[0], a), c);
    o[1] = vec_fma(vec_set1(2.0f), e, b);
    o[2] = vec_fma(vec_set1(4.0f), c, a);
    o[3] = vec_add(vec_fma(vec_set1(8.0f), e, b), m[5]);
}

SK_INLINE void words_at_2(const vec m[9], vec o[4])
{
    const vec a = vec_add(m[1], m[2]), b = vec_sub(m[1], m[2]);
    o[0] = vec_add(vec_add(m[0], m[3]), vec_add(a, m[5]));
    o[1] = vec_fma(vec_set1(2.0f), m[3], vec_add(b, m[6]));
    o[2] = vec_fma(vec_set1(4.0f), m[3], vec_add(a, m[7]));
    o[3] = vec_fma(vec_set1(8.0f), m[3], vec_add(vec_add(b, m[4]), m[8]));
}

SK_INLINE vec words_few(const float *values, const int pack)
{
    return pack > 1 ? (vec)packed_load(values, pack) : vec_load(values);
}

/* What one of each sum is worth: of each tile in the vector. */
SK_INLINE vec words_units(const float *unit, const int pack)
{
    vec v = vec_set1(unit[0]);
    SK_UNROLL
    for (int i = 1; i < pack; i++)
        v = _mm512_mask_mov_ps(v, packed_part(i, pack), vec_set1(unit[i]));
    return v;
}

SK_INLINE void words_put(float *x, vec all, const int pack)
{
    if (pack == 1) {
        vec_store(x, all);
        return;
    }
    SK_UNROLL
    for (int i = 0; i < pack; i++)
        vec_store(x + i * 4 * SK_BLOCK, _mm512_maskz_compress_ps(packed_part(i, pack), all));
}

/* One vector's 4x4 outputs: of a tile, or of as many as are packed. */
SK_INLINE void words_output_tile(const int32_t *m, size_t step, const float *worth, vec unit, vec bias,
                                 float *x, ptrdiff_t row, const int stride, const int pack)
{
    const int side = WORDS_SIDE(stride);
    vec b[4][9];
    SK_UNROLL
    for (int i = 0; i < side; i++) {
        vec d[9], o[4];
        SK_UNROLL
        for (int y = 0; y < side; y++) {
            const int at = y * side + i;
            d[y] = vec_mul(_mm512_cvtepi32_ps(_mm512_loadu_si512(m + (size_t)at * step)),
                           words_few(worth + at * SK_BLOCK, pack));
        }
        if (stride == 1)
            words_at_1(d, o);
        else
            words_at_2(d, o);
        SK_UNROLL
        for (int y = 0; y < 4; y++)
            b[y][i] = o[y];
    }
    SK_UNROLL
    for (int y = 0; y < 4; y++) {
        vec o[4];
        if (stride == 1)
            words_at_1(b[y], o);
        else
            words_at_2(b[y], o);
        SK_UNROLL
        for (int i = 0; i < 4; i++)
            words_put(x + y * row + i * SK_BLOCK, vec_fma(o[i], unit, bias), pack);
    }
}

SK_INLINE void words_outputs(const sk_conv_f32c16 *p, const int32_t *m, size_t step, int32_t block,
                             const float *unit, int32_t count, float *x, const int stride, const int pack)
{
    const float *worth =
        p->point_worth + (ptrdiff_t)block * WORDS_SIDE(stride) * WORDS_SIDE(stride) * SK_BLOCK;
    const vec bias = words_few(p->bias + block * SK_BLOCK, pack);
    const ptrdiff_t row = (ptrdiff_t)p->batch_tiles * 4 * SK_BLOCK;
    for (int32_t i = 0; i < count; i += pack)
        words_output_tile(m + (ptrdiff_t)(i / pack) * SK_BLOCK, step, worth, words_units(unit + i, pack),
                          bias, x + (ptrdiff_t)i * 4 * SK_BLOCK, row, stride, pack);
}

/* Rows of X to the map, as far as tiles lie side by side. */
static void words_rows(const sk_conv_f32c16 *p, int32_t columns, int32_t t0, int32_t count, int32_t block,
                       float *x)
{
    for (int32_t i = 0, n; i < count; i += n) {
        const int32_t y = (t0 + i) / columns * 4, column = (t0 + i) % columns;
        n = columns - column < count - i ? columns - column : count - i;
        const int32_t from = column * 4, left = p->out_w - from, pixels = left < n * 4 ? left : n * 4;
        for (int32_t r = 0; r < 4 && y + r < p->out_h; r++)
            strip_out(p, x + (ptrdiff_t)(r * p->batch_tiles + i) * 4 * SK_BLOCK, block, y + r, from, pixels);
    }
}

SK_INLINE void words_tiles(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1,
                           float *scratch, const int stride, const int low)
{
    const int points = WORDS_SIDE(stride) * WORDS_SIDE(stride);
    const int32_t columns = (p->out_w + 3) / 4, batch = p->batch_tiles;
    const words_set set = {(const int16_t *)(const void *)p->weights,
                           p->point_weights,
                           p->group_weights,
                           p->fill,
                           p->in_blocks,
                           p->tile,
                           batch,
                           points};
    float *x = scratch, *unit = x + (ptrdiff_t)16 * batch * SK_BLOCK;
    float *space = unit + (batch + SK_BLOCK - 1) / SK_BLOCK * SK_BLOCK;
    int16_t *v = (int16_t *)(void *)(space + points * SK_BLOCK);
    int32_t *m = (int32_t *)(void *)(v + points * words_step(p->in_blocks, batch));
    for (int32_t first = t0; first < t1; first += batch) {
        const int32_t count = t1 - first < batch ? t1 - first : batch;
        words_input(p, columns, first, count, v, unit, space, stride, low);
        for (int32_t g = g0; g < g1; g++) {
            const int32_t block = g * p->width;
            const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
            const int32_t pack = packed_pack(block + width == p->out_blocks ? p->last_outputs : 0);
            const size_t step = (size_t)sums_step(width, batch);
            words_products(&set, g, width, count, pack, v, m);
            for (int32_t j = 0; j < width; j++) {
                const int32_t *from = m + (ptrdiff_t)j * batch * SK_BLOCK;
                const int32_t here = j + 1 == width ? pack : 1;
                if (here == 1)
                    words_outputs(p, from, step, block + j, unit, count, x, stride, 1);
                else if (here == 2)
                    words_outputs(p, from, step, block + j, unit, count, x, stride, 2);
                else
                    words_outputs(p, from, step, block + j, unit, count, x, stride, 4);
                words_rows(p, columns, first, count, block + j, x);
            }
        }
    }
}

static void winograd_words(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1,
                           float *scratch)
{
    if (p->stride_h == 1 && p->in16)
        words_tiles(p, g0, g1, t0, t1, scratch, 1, 1);
    else if (p->stride_h == 1)
        words_tiles(p, g0, g1, t0, t1, scratch, 1, 0);
    else if (p->in16)
        words_tiles(p, g0, g1, t0, t1, scratch, 2, 1);
    else
        words_tiles(p, g0, g1, t0, t1, scratch, 2, 0);
}

#endif
