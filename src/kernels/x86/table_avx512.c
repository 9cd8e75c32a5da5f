/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx512.h"

#include "kernels/simd/table_impl.h"
#include "kernels/x86/tables.h"

/* 16 rows of 16 floats, transposed in registers. */
static void transpose16(__m512 r[16])
{
    __m512 t[16];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        for (int k = 0; k < 2; k++) {
            r[i + 2 * k] = _mm512_shuffle_ps(t[i + k], t[i + k + 2], 0x44);
            r[i + 2 * k + 1] = _mm512_shuffle_ps(t[i + k], t[i + k + 2], 0xee);
        }
    }
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0x88);
        r[i + 8] = _mm512_shuffle_f32x4(t[i], t[i + 8], 0xdd);
        r[i + 4] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 12] = _mm512_shuffle_f32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

static __mmask16 first_floats(int32_t n)
{
    return n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1u);
}

static void to_blocked(const float *in, ptrdiff_t channel_stride, int32_t channels, float *out, int32_t width)
{
    for (int32_t x = 0; x < width; x += 16) {
        int32_t n = width - x < 16 ? width - x : 16;
        __m512 r[16];
        for (int c = 0; c < 16; c++)
            r[c] = c < channels ? _mm512_maskz_loadu_ps(first_floats(n), in + c * channel_stride + x)
                                : _mm512_setzero_ps();
        transpose16(r);
        for (int32_t i = 0; i < n; i++)
            _mm512_storeu_ps(out + (x + i) * SK_BLOCK, r[i]);
    }
}

static void from_blocked(const float *in, float *out, ptrdiff_t channel_stride, int32_t channels,
                         int32_t width)
{
    for (int32_t x = 0; x < width; x += 16) {
        int32_t n = width - x < 16 ? width - x : 16;
        __m512 r[16];
        for (int i = 0; i < 16; i++)
            r[i] = i < n ? _mm512_loadu_ps(in + (x + i) * SK_BLOCK) : _mm512_setzero_ps();
        transpose16(r);
        for (int32_t c = 0; c < channels; c++)
            _mm512_mask_storeu_ps(out + c * channel_stride + x, first_floats(n), r[c]);
    }
}

/* Where float i of 48 comes from: channel i % 3 of pixel i / 3, once from the first two planes and once from what that made and the third. */
static const int32_t two_planes[3][16] = {{0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5},
                                          {21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26},
                                          {0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0}};
static const int32_t third_plane[3][16] = {{0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15},
                                           {0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15},
                                           {26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31}};

static void row_planes(const float *in, ptrdiff_t plane, int32_t channels, float *out, int32_t width)
{
    int32_t x = 0;
    if (channels == 1) {
        memcpy(out, in, (size_t)width * sizeof *out);
        return;
    }
    for (; channels == 3 && x + 16 <= width; x += 16)
        for (int i = 0; i < 3; i++) {
            const __m512 two = _mm512_permutex2var_ps(
                _mm512_loadu_ps(in + x), _mm512_loadu_si512(two_planes[i]), _mm512_loadu_ps(in + plane + x));
            _mm512_storeu_ps(out + 3 * x + 16 * i,
                             _mm512_permutex2var_ps(two, _mm512_loadu_si512(third_plane[i]),
                                                    _mm512_loadu_ps(in + 2 * plane + x)));
        }
    for (; x < width; x++)
        for (int32_t k = 0; k < channels; k++)
            out[x * channels + k] = in[k * plane + x];
}

void sk_kernels_f32_avx512(sk_kernels_f32 *table)
{
    table->isa = "avx512";
    table_fill(table);
    table->winograd2_from = 16;
    table->rows_stride2 = 1;
    table->to_blocked = to_blocked;
    table->from_blocked = from_blocked;
    table->row_planes = row_planes;
    sk_kernels_f32_conv_avx512(table);
    sk_kernels_f32_conv3_avx512(table);
}
