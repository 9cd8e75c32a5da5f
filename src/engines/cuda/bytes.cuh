/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_BYTES_CUH
#define SK_ENGINES_CUDA_BYTES_CUH

#include "conv_epilogue.cuh"

/* Numbers to bytes and back, N neighbouring channels at once; gpu_bytes says how. E: uint8_t, steps of one size from a zero on, or
 * e4m3. */

template <int N> __device__ __forceinline__ void put_words(void *to, const uint32_t *words)
{
    if constexpr (N == 16)
        *(uint4 *)to = *(const uint4 *)words;
    else if constexpr (N == 8)
        *(uint2 *)to = make_uint2(words[0], words[1]);
    else if constexpr (N == 4)
        *(uint32_t *)to = words[0];
    else
        *(uint16_t *)to = (uint16_t)words[0];
}
template <int N> __device__ __forceinline__ void get_words(const void *from, uint32_t *words)
{
    if constexpr (N == 16)
        *(uint4 *)words = *(const uint4 *)from;
    else if constexpr (N == 8)
        *(uint2 *)words = *(const uint2 *)from;
    else if constexpr (N == 4)
        words[0] = *(const uint32_t *)from;
    else
        words[0] = *(const uint16_t *)from;
}
template <class E> struct low_of;

template <> struct low_of<uint8_t> {
    /* v is number * gain + zero, of which what lies in [0, 1] is left and rounded to 255ths, half to even, by adding 2^23. */
    template <int N> static __device__ __forceinline__ void put(void *to, const float (&v)[N])
    {
        uint32_t bits[N], words[N / 4 > 0 ? N / 4 : 1];
#pragma unroll
        for (int e = 0; e < N; e++)
            bits[e] = __float_as_uint(fmaf(__saturatef(v[e]), 255.0f, 8388608.0f));
        if constexpr (N == 2)
            words[0] = __byte_perm(bits[0], bits[1], 0x0040);
#pragma unroll
        for (int e = 0; e < N / 4; e++)
            words[e] = __byte_perm(__byte_perm(bits[4 * e], bits[4 * e + 1], 0x0040),
                                   __byte_perm(bits[4 * e + 2], bits[4 * e + 3], 0x0040), 0x5410);
        put_words<N>(to, words);
    }
    /* 2^23 + byte, less 2^23: exact. */
    static __device__ __forceinline__ float at(const uint32_t *words, int e)
    {
        return __uint_as_float(__byte_perm(words[e / 4], 0x4b000000u, 0x7440 + e % 4)) - 8388608.0f;
    }
};
template <> struct low_of<e4m3> {
    template <int N> static __device__ __forceinline__ void put(void *to, const float (&v)[N])
    {
        uint32_t words[N / 4 > 0 ? N / 4 : 1];
        if constexpr (N == 2)
            words[0] = pack_e4m3(v[0], v[1]);
#pragma unroll
        for (int e = 0; e < N / 4; e++)
            words[e] = __byte_perm(pack_e4m3(v[4 * e], v[4 * e + 1]), pack_e4m3(v[4 * e + 2], v[4 * e + 3]), 0x5410);
        put_words<N>(to, words);
    }
    static __device__ __forceinline__ float at(const uint32_t *words, int e)
    {
        const float2 two = unpack_e4m3(words[e / 4] >> (e % 4 / 2 * 16));
        return e % 2 ? two.y : two.x;
    }
};

template <class E, int N> __device__ __forceinline__ void get_bytes(const void *from, float (&v)[N])
{
    uint32_t words[N / 4 > 0 ? N / 4 : 1];
    get_words<N>(from, words);
#pragma unroll
    for (int e = 0; e < N; e++)
        v[e] = low_of<E>::at(words, e);
}
template <class E, int N> __device__ __forceinline__ void put_numbers(void *to, const gpu_bytes &b, const float (&v)[N])
{
    float left[N];
#pragma unroll
    for (int e = 0; e < N; e++)
        left[e] = is_e4m3<E> ? v[e] * b.gain : fmaf(v[e], b.gain, b.zero);
    low_of<E>::put(to, left);
}

/* The usual ends, gpu_bytes.half: SiLU of twice h as h + h tanh(h), with as few instructions as it takes. Alone; with what is
 * added to it from a map of bytes; with what is added to h before it from a map of halves. */
enum half_end { SILU_ALONE, SILU_THEN_ADD, ADD_THEN_SILU };

/* What of N channels is added, as it lies in memory. */
template <int KIND, int N> struct beside {
    static constexpr int WORDS = KIND == SILU_ALONE ? 1 : KIND == SILU_THEN_ADD ? (N + 3) / 4 : N / 2;
    uint32_t words[WORDS];
    /* P: of 1x1 convolutions, which may add what has half the size. */
    template <bool P, class A> __device__ __forceinline__ void load(const A &p, long long pixel, int c)
    {
        if constexpr (KIND == SILU_ALONE)
            return;
        if constexpr (P)
            if (p.residual_half)
                pixel = half_pixel((int)pixel, p.ow);
        const char *from = (const char *)p.p[4] + (pixel * p.ldr + c) * (KIND == SILU_THEN_ADD ? 1 : 2);
        if constexpr (KIND == SILU_THEN_ADD && N == 2)
            words[0] = *(const uint16_t *)from;
        else if constexpr (WORDS == 4)
            *(uint4 *)words = *(const uint4 *)from;
        else if constexpr (WORDS == 2)
            *(uint2 *)words = *(const uint2 *)from;
        else
            words[0] = *(const uint32_t *)from;
    }
};

template <class E, int KIND, int N>
__device__ __forceinline__ void put_silu(void *to, const gpu_bytes &b, float (&h)[N], const beside<KIND, N> &more)
{
    float left[N];
    const float gain = KIND == SILU_THEN_ADD ? b.residual_gain * b.gain : 0.0f;
    const float zero = is_e4m3<E>              ? 0.0f
                       : KIND == SILU_THEN_ADD ? fmaf(-b.residual_zero, gain, b.zero)
                                               : b.zero;
#pragma unroll
    for (int e = 0; e < N; e++) {
        if constexpr (KIND == ADD_THEN_SILU) {
            const float2 two = unpack_halves(more.words[e / 2]);
            h[e] = fmaf(e % 2 ? two.y : two.x, 0.5f, h[e]);
        }
        const float g = h[e] * b.gain;
        float t;
        asm("tanh.approx.f32 %0,%1;" : "=f"(t) : "f"(h[e]));
        if constexpr (is_e4m3<E> && KIND != SILU_THEN_ADD)
            left[e] = fmaf(g, t, g);
        else if constexpr (is_e4m3<E>)
            left[e] = fmaf(g, t, fmaf(low_of<E>::at(more.words, e), gain, g));
        else
            left[e] = fmaf(g, t,
                           fmaf(h[e], b.gain, KIND == SILU_THEN_ADD ? fmaf(low_of<E>::at(more.words, e), gain, zero) : zero));
    }
    low_of<E>::put(to, left);
}

/* Any of them, for a pixel at a time. */
template <class E, int N, bool P = false, class A>
__device__ __forceinline__ void finish_silu(const A &p, long long pixel, int c, float (&h)[N])
{
    uint8_t *const to = (uint8_t *)p.p[0] + pixel * p.ldo + c;
    if (!p.p[4]) {
        put_silu<E>(to, p.bytes, h, beside<SILU_ALONE, N>());
    } else if (!p.residual_before) {
        beside<SILU_THEN_ADD, N> more;
        more.template load<P>(p, pixel, c);
        put_silu<E>(to, p.bytes, h, more);
    } else {
        beside<ADD_THEN_SILU, N> more;
        more.template load<P>(p, pixel, c);
        put_silu<E>(to, p.bytes, h, more);
    }
}

/* What a residual adds. */
template <class E, int N>
__device__ __forceinline__ void get_residual(const gpu_bytes &b, const void *from, long long at, float (&r)[N])
{
    if (!b.residual) {
        map_of<__half>::load((const __half *)from + at, r);
        return;
    }
    get_bytes<E>((const uint8_t *)from + at, r);
#pragma unroll
    for (int e = 0; e < N; e++)
        r[e] = (is_e4m3<E> ? r[e] : r[e] - b.residual_zero) * b.residual_gain;
}

/* N channels of a pixel from c on, as numbers: activation, residual, one store. P: of 1x1 convolutions, which may write planes or
 * add what has half the size. */
template <class E, int N, bool RESIDUAL = true, bool P = false, class A>
__device__ __forceinline__ void finish_bytes(const A &p, long long pixel, int c, float (&v)[N])
{
    if constexpr (RESIDUAL) {
        float r[N];
        if (p.p[4]) {
            long long at = pixel;
            if constexpr (P)
                if (p.residual_half)
                    at = half_pixel((int)pixel, p.ow);
            get_residual<E>(p.bytes, p.p[4], at * p.ldr + c, r);
            if (p.residual_before)
#pragma unroll
                for (int e = 0; e < N; e++)
                    v[e] += r[e];
        }
        activate<__half>(v, p.act, p.alpha);
        if (p.p[4] && !p.residual_before)
#pragma unroll
            for (int e = 0; e < N; e++)
                v[e] += r[e];
    } else {
        activate<__half>(v, p.act, p.alpha);
    }
    if (p.bytes.out) {
        put_numbers<E>((uint8_t *)p.p[0] + pixel * p.ldo + c, p.bytes, v);
        return;
    }
    if constexpr (P)
        if (p.plane > 0) {
            store_planes<__half>(p, (int)pixel, c, v);
            return;
        }
    map_of<__half>::store((__half *)p.p[0] + pixel * p.ldo + c, v);
}

#endif
