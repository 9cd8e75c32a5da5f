/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_GATHER_CUH
#define SK_ENGINES_CUDA_CONV_GATHER_CUH

#include "conv_then.cuh"

/* Loader: convolution as a matrix product that is never written down: rows are output pixels, columns output channels, k runs
 * over (tap, input channel). A block computes one tile in steps of BK through ST buffers in shared memory; SPLIT blocks of a
 * cluster share the whole k. Small images have few pixels: splitting k is what keeps the machine busy there. Weights and
 * indices come in before the kernel waits for the one ahead of it.
 *
 * THEN: the weights of the 1x1 convolution behind come into a buffer that is no longer needed, with the last step.
 *
 * Floats (tf32, f32) and bytes: BK counts halves all the same: a k step is 2 BK bytes of a row. Of bytes, what lies outside the
 * picture is the zero of the map. */

/* Where a row of the implicit matrix begins in the input, and which of its 9 taps lie inside. */
template <int KS>
__device__ __forceinline__ void locate_row(const gpu_conv_args &p, int m, bool valid, int &offset, uint32_t &mask)
{
    if (KS == 1) {
        offset = m * p.ldi;
        mask = valid;
        return;
    }
    const int plane = p.oh * p.ow, n = m / plane, q = m - n * plane, oy = q / p.ow, ox = q - oy * p.ow;
    const int iy = oy * p.stride - p.pad_y, ix = ox * p.stride - p.pad_x;
    mask = 0;
#pragma unroll
    for (int t = 0; t < 9; t++) {
        const int y = iy + t / 3, x = ix + t % 3;
        if (valid && y >= 0 && y < p.h && x >= 0 && x < p.w)
            mask |= 1u << t;
    }
    offset = ((n * p.h + iy) * p.w + ix) * p.ldi;
}

template <class PRODUCT, int BK, int ST, int KS, int SPLIT_, bool THEN_ = false> struct gather {
    typedef PRODUCT product;
    typedef typename PRODUCT::element E;
    static constexpr int BM = PRODUCT::BM, BN = PRODUCT::BN, SPLIT = SPLIT_, TAPS = 1, RB = BK * 2;
    static constexpr int CH = BK / 8, SA = BM * RB, SS = SA + BN * RB; /* 16-byte pieces of a row; bytes of a stage */
    static constexpr int RS = PRODUCT::THREADS / CH, NA = (BM + RS - 1) / RS, NB = (BN + RS - 1) / RS;
    static constexpr int V = 16 / (int)sizeof(E), LEAST = 0; /* channels of a piece; see conv_halo.cuh */
    static constexpr bool WALKS = false, ALIKE = true, POINT = KS == 1, THEN = THEN_;
    const gpu_conv_args &p;
    const uint32_t base0;
    const int m0, n0, pieces, row0; /* pieces: of a pixel */
    int k, steps, stage, chunk, tap;
    const E *weights_from;
    int offset[NA];
    uint32_t then0, mask[NA], base, own; /* own: where in the first stage this thread's first piece goes; the next are RS rows on */
    static_assert(RS % 8 == 0, "the swizzle repeats");

    /* The tile's weights of the first steps are on their way when this returns. */
    __device__ __forceinline__ gather(const gpu_conv_args &args, uint32_t shared)
        : p(args), base0(shared), m0(blockIdx.x * BM), n0(blockIdx.y * BN), pieces(p.c8 * (int)sizeof(E) / 2),
          row0(threadIdx.x / CH), k(0), stage(0)
    {
        const int col = threadIdx.x % CH;
        int k0 = 0, k1 = p.nk;
        if (SPLIT > 1) {
            k0 = blockIdx.z * p.nk / SPLIT;
            k1 = (blockIdx.z + 1) * p.nk / SPLIT;
        }
        steps = k1 - k0;
        own = base0 + row0 * RB + ((col ^ swizzle<RB>(row0)) << 4);
        keep(own);
        weights_from = (const E *)p.p[2] + (size_t)(n0 + row0) * p.kpad + (k0 * CH + col) * V;
#pragma unroll
        for (int s = 0; s < ST - 1; s++)
            if (s < steps)
                load_weights(s);
#pragma unroll
        for (int i = 0; i < NA; i++) {
            const int r = row0 + i * RS;
            locate_row<KS>(p, m0 + r, m0 + r < p.m && (BM % RS == 0 || r < BM), offset[i], mask[i]);
        }
        chunk = k0 * CH + col;
        tap = 0;
        if (KS == 3) {
            tap = chunk / pieces;
            chunk -= tap * pieces;
        }
    }
    /* The next k step to stage `to`; steps come in order. */
    __device__ __forceinline__ void load_weights(int to)
    {
#pragma unroll
        for (int i = 0; i < NB; i++)
            if (BN % RS == 0 || row0 + i * RS < BN)
                copy16(own + to * SS + SA + i * RS * RB, weights_from + (size_t)i * RS * p.kpad, true);
        weights_from += CH * V;
    }
    /* Beyond the last tap are zeros, as the weights there are. `left`: of e4m3, bytes of the piece that are numbers. */
    __device__ __forceinline__ void bring(uint32_t to, const E *from, bool inside, bool valid, int left) const
    {
        if constexpr (is_e4m3<E>)
            copy_part(to, from, inside && valid ? left : 0);
        else if (sizeof(E) == 1 && KS == 3 && inside && !valid)
            fill16(to, p.bytes.fill);
        else
            copy16(to, from, inside && valid);
    }
    __device__ __forceinline__ void load_input(int to)
    {
        const E *from = (const E *)p.p[1] + chunk * V;
        const bool inside = KS == 1 ? chunk < pieces : tap < 9;
        const int left = is_e4m3<E> ? min(16, p.cin8 - chunk * V) : 16;
        if (KS == 3) {
            const int ty = (tap * 11) >> 5;
            from += (ty * p.w + tap - 3 * ty) * p.ldi;
        }
        keep(from);
#pragma unroll
        for (int i = 0; i < NA; i++)
            if (BM % RS == 0 || row0 + i * RS < BM)
                bring(own + to * SS + i * RS * RB, from + offset[i], inside, (mask[i] >> tap) & 1, left);
        chunk += CH;
        if (KS == 3)
            while (chunk >= pieces) {
                chunk -= pieces;
                tap++;
            }
    }

    /* The steps: see conv_kernel.cuh. */
    __device__ __forceinline__ void begin()
    {
#pragma unroll
        for (int s = 0; s < ST - 1; s++) {
            if (s < steps)
                load_input(s);
            copy_commit();
        }
    }
    __device__ __forceinline__ void arrive()
    {
        copy_wait<ST - 2>();
        if (PRODUCT::WGMMA)
            proxy_fence();
        __syncthreads();
        int next = stage + ST - 1;
        if (next >= ST)
            next -= ST;
        if (k + ST - 1 < steps) {
            load_weights(next);
            load_input(next);
        }
        if (THEN && k + 1 == steps) {
            then0 = base0 + next * SS;
            load_then<BN, PRODUCT::THREADS>(p, then0);
        }
        copy_commit();
        base = base0 + stage * SS;
        if (++stage == ST)
            stage = 0;
    }
    __device__ __forceinline__ void multiplied() const
    {
    }
    __device__ __forceinline__ void leave()
    {
        k++;
    }
    __device__ __forceinline__ bool more() const
    {
        return k < steps;
    }

    /* Rows of a tile, as the product reads them and as the epilogue stores them. */
    static __device__ __forceinline__ uint32_t place(int row, int piece)
    {
        return row * RB + ((piece ^ swizzle<RB>(row)) << 4);
    }
    __device__ __forceinline__ uint32_t row(uint32_t place, int, int, int) const
    {
        return base + place;
    }
    __device__ __forceinline__ uint32_t weights(int) const
    {
        return base + SA;
    }

    __device__ __forceinline__ uint32_t then() const
    {
        return then0;
    }

    struct tile {
        const int m0, m;
        __device__ __forceinline__ int pixel(int row) const
        {
            return m0 + row < m ? m0 + row : -1;
        }
    };
    __device__ __forceinline__ tile where() const
    {
        return {m0, p.m};
    }
};

#endif
