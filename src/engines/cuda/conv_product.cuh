/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_PRODUCT_CUH
#define SK_ENGINES_CUDA_CONV_PRODUCT_CUH

#include "wgmma.cuh"
#include "wgmma_bytes.cuh"

/* The matrix instructions. Each shares BM pixels x BN channels among THREADS threads, holds the sums of a warp's 16-row
 * pieces as acc[MI][NI][4] in the layout of mma.sync (wgmma's is the same), and multiplies what a loader has put into shared
 * memory, tap by tap: rows of LOADER::RB bytes, swizzled. row(i) is the first of the 16 rows of piece i, column() the first
 * channel of the warp.
 *
 * A loader gives: place(row, piece), what of a row's address never changes; row(place, piece, y, x), where that piece (of
 * 16 bytes) of the row of tap (y, x) is; weights(tap), where the BN rows of weights begin. */

/* behind: what a 1x1 convolution behind this one multiplies. Of halves and bf16: */
template <class E> struct fragment_of {
    static constexpr bool HERE = true;
    typedef float sum;
    typedef E behind;
    static __device__ __forceinline__ void ready(uint32_t (&)[4])
    {
    }
    static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
    {
        two_of<E>::multiply(c, a, b[0], b[1]);
    }
};
/* tf32, k = 8: a 16-byte piece is 4 floats instead of 8 halves, and everything else is alike. */
template <> struct fragment_of<float> {
    static constexpr bool HERE = true;
    typedef float sum;
    static __device__ __forceinline__ void ready(uint32_t (&a)[4])
    {
#pragma unroll
        for (int e = 0; e < 4; e++)
            a[e] = round_tf32(a[e]);
    }
    static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
    {
        mma_tf32(c, a, b[0], b[1]);
    }
};

/* Bytes, k = 32, sums of 32 bits: a 16-byte piece is 16 of them. */
template <> struct fragment_of<uint8_t> {
    static constexpr bool HERE = true;
    typedef int sum;
    typedef __half behind;
    static __device__ __forceinline__ void ready(uint32_t (&)[4])
    {
    }
    static __device__ __forceinline__ void multiply(int (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
    {
        mma_bytes(c, a, b[0], b[1]);
    }
};

/* e4m3, k = 32: as bytes lie, with sums of floats. */
template <> struct fragment_of<e4m3> {
    static constexpr bool HERE = GPU_HAS_E4M3;
    typedef float sum;
    typedef __half behind;
    static __device__ __forceinline__ void ready(uint32_t (&)[4])
    {
    }
    static __device__ __forceinline__ void multiply(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
    {
        mma_e4m3(c, a, b[0], b[1]);
    }
};

/* What of the addresses a thread reads at is the same in every step: places of its rows, and in the weights. */
template <int MI> struct thread_places {
    uint32_t a[MI], b;
};
/* Piece kk (of 32 bytes) of the rows i of a thread. A loader whose rows are ALIKE has them at one distance, swizzled alike. */
template <class LOADER, int STEP, int MI> __device__ __forceinline__ uint32_t piece_at(const uint32_t (&at)[MI], int i, int kk)
{
    return LOADER::ALIKE ? (at[0] ^ (kk << 5)) + i * STEP * LOADER::RB : at[i] ^ (kk << 5);
}

/* mma.sync: a warp has WM x WN of the tile; WK groups of warps have every WK-th piece of k each. */
template <class E, int BM_, int BN_, int WM, int WN, int WK_> struct mma_warps {
    typedef E element;
    typedef typename fragment_of<E>::sum sum;
    static constexpr int BM = BM_, BN = BN_, WK = WK_, NWM = BM / WM, NWN = BN / WN, THREADS = NWM * NWN * WK * 32;
    static constexpr int MI = WM / 16, NI = WN / 8, SETS = 1;
    static constexpr bool WGMMA = false, HERE = fragment_of<E>::HERE;
    const int in_warp, wm, wn, wk;

    __device__ __forceinline__ mma_warps()
        : in_warp(threadIdx.x & 31), wm((threadIdx.x >> 5) % NWM), wn((threadIdx.x >> 5) / NWM % NWN),
          wk((threadIdx.x >> 5) / (NWM * NWN))
    {
    }
    __device__ __forceinline__ int row(int i) const
    {
        return wm * WM + i * 16;
    }
    __device__ __forceinline__ int column() const
    {
        return wn * WN;
    }

    /* The 16 bytes of a row that the thread reads first; the next are an XOR away, as rows begin at multiples of RB. */
    __device__ __forceinline__ int piece() const
    {
        return wk * 2 + (in_warp >> 4);
    }
    template <class LOADER> __device__ __forceinline__ thread_places<MI> own() const
    {
        const int b_in_warp = NI == 1 ? in_warp & 7 : ((in_warp >> 4) << 3) + (in_warp & 7);
        const int b_piece = wk * 2 + ((in_warp >> 3) & 1);
        thread_places<MI> o;
#pragma unroll
        for (int i = 0; i < MI; i++)
            o.a[i] = LOADER::place(row(i) + (in_warp & 15), piece());
        o.b = (wn * WN + b_in_warp) * LOADER::RB + ((b_piece ^ swizzle<LOADER::RB>(b_in_warp)) << 4);
        keep(o.a[0]);
        keep(o.b);
        return o;
    }

    template <class LOADER>
    __device__ __forceinline__ void run(const LOADER &load, const thread_places<MI> &own, sum (&acc)[MI][NI][4]) const
    {
        constexpr int RB = LOADER::RB, SIDE = LOADER::TAPS == 9 ? 3 : 1;
#pragma unroll 1
        for (int y = 0; y < SIDE; y++) {
#pragma unroll
            for (int x = 0; x < SIDE; x++) {
                const uint32_t b_at = load.weights(y * 3 + x) + own.b;
                uint32_t a_at[MI];
#pragma unroll
                for (int i = 0; i < MI; i++)
                    a_at[i] = load.row(own.a[i], piece(), y, x);
#pragma unroll
                for (int kk = 0; kk < RB / 32; kk += WK) {
                    uint32_t a[MI][4], b[NI][2];
#pragma unroll
                    for (int i = 0; i < MI; i++) {
                        load_matrix4(a[i], piece_at<LOADER, 16>(a_at, i, kk));
                        fragment_of<E>::ready(a[i]);
                    }
                    if constexpr (NI == 1) {
                        load_matrix2(b[0][0], b[0][1], b_at ^ (kk << 5));
                    } else {
#pragma unroll
                        for (int j = 0; j < NI / 2; j++) {
                            uint32_t r[4];
                            load_matrix4(r, (b_at ^ (kk << 5)) + j * 16 * RB);
                            b[2 * j][0] = r[0];
                            b[2 * j][1] = r[1];
                            b[2 * j + 1][0] = r[2];
                            b[2 * j + 1][1] = r[3];
                        }
                    }
#pragma unroll
                    for (int i = 0; i < MI; i++)
#pragma unroll
                        for (int j = 0; j < NI; j++)
                            fragment_of<E>::multiply(acc[i][j], a[i], b[j]);
                }
            }
        }
    }
};

/* Exact products and sums of floats, one after the other: no tensor cores. A thread has the sums that it would have of mma.sync,
 * and reads four of k at a time of each of its rows and columns; WK groups of warps have every WK-th such piece each. */
template <int BM_, int BN_, int WM, int WN, int WK_> struct fma_warps {
    typedef float element, sum;
    static constexpr int BM = BM_, BN = BN_, WK = WK_, NWM = BM / WM, NWN = BN / WN, THREADS = NWM * NWN * WK * 32;
    static constexpr int MI = WM / 16, NI = WN / 8, SETS = 1;
    static constexpr bool WGMMA = false, HERE = true;
    const int in_warp, wm, wn, wk;

    __device__ __forceinline__ fma_warps()
        : in_warp(threadIdx.x & 31), wm((threadIdx.x >> 5) % NWM), wn((threadIdx.x >> 5) / NWM % NWN),
          wk((threadIdx.x >> 5) / (NWM * NWN))
    {
    }
    __device__ __forceinline__ int row(int i) const
    {
        return wm * WM + i * 16;
    }
    __device__ __forceinline__ int column() const
    {
        return wn * WN;
    }
    /* a[0]: the thread's first row, the others are multiples of 8 rows on; b, a[1]: its first two rows of weights, likewise. */
    template <class LOADER> __device__ __forceinline__ thread_places<2> own() const
    {
        static_assert(LOADER::ALIKE && LOADER::RB == 128, "eight rows on, the swizzle is the same");
        const int b = column() + (in_warp & 3) * 2;
        thread_places<2> o;
        o.a[0] = LOADER::place(row(0) + (in_warp >> 2), wk);
        o.b = LOADER::place(b, wk);
        o.a[1] = LOADER::place(b + 1, wk);
        keep(o.a[0]);
        keep(o.a[1]);
        keep(o.b);
        return o;
    }
    template <class LOADER>
    __device__ __forceinline__ void run(const LOADER &load, const thread_places<2> &own, float (&acc)[MI][NI][4]) const
    {
        constexpr int RB = LOADER::RB;
        auto read = [](uint32_t at) {
            float4 v;
            asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3},[%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at));
            return v;
        };
#pragma unroll 2
        for (int piece = 0; piece < RB / 16; piece += WK) {
            const uint32_t a_at = load.row(own.a[0] ^ (piece << 4), 0, 0, 0);
            const uint32_t b_at[2] = {load.weights(0) + (own.b ^ (piece << 4)), load.weights(0) + (own.a[1] ^ (piece << 4))};
            float4 b[NI][2];
#pragma unroll
            for (int j = 0; j < NI * 2; j++)
                b[j / 2][j % 2] = read(b_at[j % 2] + j / 2 * 8 * RB);
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    const float4 a = read(a_at + (i * 16 + h * 8) * RB);
#pragma unroll
                    for (int j = 0; j < NI; j++)
#pragma unroll
                        for (int e = 0; e < 2; e++) {
                            float &sum = acc[i][j][2 * h + e];
                            sum = fmaf(a.x, b[j][e].x, sum);
                            sum = fmaf(a.y, b[j][e].y, sum);
                            sum = fmaf(a.z, b[j][e].z, sum);
                            sum = fmaf(a.w, b[j][e].w, sum);
                        }
                }
        }
    }
};

/* wgmma: NWG groups of four warps, each with all BN channels; the next tap's fragments are fetched while this tap's product
 * runs. SETS such products stand side by side in a block, each with a tile of its own. COLUMNS: the pieces of a warp lie below
 * each other, in rows of 16 pixels, so that what is fetched for one is the tap above of the next. */
template <int BM_, int BN_, int NWG, int SETS_ = 1, bool COLUMNS = false, class E = __half> struct wgmma_groups {
    typedef E element;
    typedef typename fragment_of<E>::sum sum;
    typedef typename fragment_of<E>::behind behind;
    static constexpr int BM = BM_, BN = BN_, WK = 1, THREADS = NWG * 128, MI = BM / (64 * NWG), NI = BN / 8, SETS = SETS_;
    static constexpr bool WGMMA = true, HERE = GPU_HAS_WGMMA;
    const int in_warp, group, w4;

    __device__ __forceinline__ wgmma_groups()
        : in_warp(threadIdx.x & 31), group(SETS == 1 ? threadIdx.x >> 7 : (threadIdx.x >> 7) % NWG), w4((threadIdx.x >> 5) & 3)
    {
    }
    __device__ __forceinline__ int row(int i) const
    {
        return COLUMNS ? ((group * 4 + w4) * MI + i) * 16 : (group * MI + i) * 64 + w4 * 16;
    }
    __device__ __forceinline__ int column() const
    {
        return 0;
    }

    __device__ __forceinline__ int piece() const
    {
        return in_warp >> 4;
    }
    template <class LOADER> __device__ __forceinline__ thread_places<MI> own() const
    {
        thread_places<MI> o;
#pragma unroll
        for (int i = 0; i < MI; i++)
            o.a[i] = LOADER::place(row(i) + (in_warp & 15), piece());
        o.b = 0;
        keep(o.a[0]);
        return o;
    }

    /* Row q of the input, shifted by x, is tap q - i of piece i, for up to three pieces. */
    template <class LOADER>
    __device__ __forceinline__ void run_columns(const LOADER &load, const thread_places<MI> &own, sum (&acc)[MI][NI][4]) const
    {
        constexpr int RB = LOADER::RB, KK = RB / 32, ALL = 3 * (MI + 2);
        uint32_t a[2][KK][4];
        auto fetch = [&](int at, uint32_t(&d)[KK][4]) {
            const uint32_t from = load.row(own.a[0], piece(), at / 3, at % 3);
#pragma unroll
            for (int kk = 0; kk < KK; kk++)
                load_matrix4(d[kk], from ^ (kk << 5));
        };
        fetch(0, a[0]);
#pragma unroll
        for (int at = 0; at < ALL; at++) {
            wgmma_fence();
#pragma unroll
            for (int kk = 0; kk < KK; kk++)
#pragma unroll
                for (int i = 0; i < MI; i++)
                    if (at / 3 >= i && at / 3 < i + 3)
                        wgmma_product<BN, E>(acc[i], a[at & 1][kk],
                                          wgmma_descriptor<RB>(load.weights((at / 3 - i) * 3 + at % 3) + kk * 32));
            wgmma_commit();
            if (at < ALL - 1) {
                if (at > 0)
                    wgmma_wait<1>();
                fetch(at + 1, a[(at + 1) & 1]);
            }
        }
        wgmma_wait<0>(); /* what was read may be written again */
    }

    template <class LOADER>
    __device__ __forceinline__ void run(const LOADER &load, const thread_places<MI> &own, sum (&acc)[MI][NI][4]) const
    {
        if constexpr (COLUMNS)
            run_columns(load, own, acc);
        else
            run_taps(load, own, acc);
    }
    template <class LOADER>
    __device__ __forceinline__ void run_taps(const LOADER &load, const thread_places<MI> &own, sum (&acc)[MI][NI][4]) const
    {
        constexpr int RB = LOADER::RB, KK = RB / 32, TAPS = LOADER::TAPS;
        uint32_t a[TAPS > 1 ? 2 : 1][MI][KK][4];
        auto fetch = [&](int tap, uint32_t(&d)[MI][KK][4]) {
            uint32_t at[MI];
#pragma unroll
            for (int i = 0; i < MI; i++)
                at[i] = load.row(own.a[i], piece(), tap / 3, tap % 3);
#pragma unroll
            for (int i = 0; i < MI; i++)
#pragma unroll
                for (int kk = 0; kk < KK; kk++)
                    load_matrix4(d[i][kk], piece_at<LOADER, 64>(at, i, kk));
        };
        fetch(0, a[0]);
#pragma unroll
        for (int tap = 0; tap < TAPS; tap++) {
            wgmma_fence();
#pragma unroll
            for (int kk = 0; kk < KK; kk++) {
                const uint64_t d = wgmma_descriptor<RB>(load.weights(tap) + kk * 32);
#pragma unroll
                for (int i = 0; i < MI; i++)
                    wgmma_product<BN, E>(acc[i], a[tap & 1][i][kk], d);
            }
            wgmma_commit();
            if (tap < TAPS - 1) {
                if (tap > 0)
                    wgmma_wait<1>();
                fetch(tap + 1, a[(tap + 1) & 1]);
            }
        }
        wgmma_wait<0>(); /* what was read may be written again */
    }
};

#endif
