/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_CONV_HALO_CUH
#define SK_ENGINES_CUDA_CONV_HALO_CUH

#include "conv_then.cuh"

/* Loader: 3x3 convolution with the input patch of a TH x TW tile, borders included, in shared memory: it is read once and the
 * nine taps are nine shifted views. All weights of the block's BN channels stay in shared memory while the block walks over
 * its tiles. CB channels are worked on at a time: a step is one block of channels. With two buffers the next patch is on its
 * way while this one is multiplied; with one (`buffers`, wgmma only) while it is stored. SETS of the product: each has its own
 * patches and its own walk over tiles, and waits for itself only, so that one multiplies while another loads or stores. THEN:
 * the weights of the 1x1 convolution behind lie between the others and the patches. KS 1: a 1x1 convolution, whose tiles are TW
 * pixels one after the other (TH 1) and have no borders. */
template <class PRODUCT, int TH, int TW, int CB, int S, bool THEN_ = false, int KS = 3> struct patch {
    typedef PRODUCT product;
    typedef typename PRODUCT::element E;
    static constexpr int BM = PRODUCT::BM, BN = PRODUCT::BN, SPLIT = 1, TAPS = KS * KS, RB = CB * 2, T = PRODUCT::THREADS;
    static constexpr int CH = CB / 8, HH = (TH - 1) * S + KS, HW = (TW - 1) * S + KS, SA = HH * HW * RB, SBT = BN * RB;
    static constexpr int V = 16 / (int)sizeof(E), C = CH * V; /* channels of a piece, and of a block; CB counts halves */
    static constexpr int SH = S == 2 ? 1 : 0, SETS = PRODUCT::SETS;
    static constexpr int LEAST = KS == 1 && sizeof(E) == 1 && T * SETS <= 384 ? 2 : 0; /* blocks a multiprocessor has room for; 0: as it comes */
    static constexpr bool WALKS = true, ALIKE = false, POINT = KS == 1, THEN = THEN_;
    static_assert(BM == TH * TW && (KS == 3 || (TH == 1 && S == 1)), "a row is a pixel");
    const gpu_conv_args &p;
    const int set, thread; /* thread: of the set */
    const uint32_t weights0, then0, patch0;
    const int n0, steps;
    int at, step, next_at, next_step, buffer; /* at: tile */
    uint32_t from;

    __device__ __forceinline__ patch(const gpu_conv_args &args, uint32_t shared)
        : p(args), set(SETS == 1 ? 0 : threadIdx.x / T), thread(threadIdx.x - set * T), weights0(shared),
          then0(shared + args.blocks * TAPS * SBT),
          patch0(then0 + (THEN ? args.then_rows * BN * 2 : 0) + set * args.buffers * SA), n0(blockIdx.y * BN),
          steps(args.blocks), at(blockIdx.x * SETS + set), step(0), buffer(0)
    {
        load_weights();
        if (THEN)
            load_then<BN, T * SETS>(p, then0);
        if (SETS > 1)
            copy_commit();
    }
    __device__ __forceinline__ void sync() const
    {
        if (SETS == 1)
            __syncthreads();
        else
            asm volatile("bar.sync %0,%1;" ::"r"(set + 1), "n"(T) : "memory");
    }
    /* [block][tap][BN rows][CB] */
    __device__ __forceinline__ void load_weights() const
    {
        const E *weights = (const E *)p.p[2];
        const int cin = p.blocks * C;
        for (int x = threadIdx.x; x < p.blocks * TAPS * BN * CH; x += T * SETS) {
            const int c = x % CH, r = (x / CH) % BN, ct = x / (CH * BN), cb = ct / TAPS, tap = ct - cb * TAPS;
            copy16(weights0 + ct * BN * RB + r * RB + ((c ^ swizzle<RB>(r)) << 4),
                   weights + (size_t)(n0 + r) * p.kpad + tap * cin + cb * C + c * V, true);
        }
    }
    /* A tile's image and place. */
    struct tile {
        const gpu_conv_args &p;
        const int n, ty, tx;
        __device__ __forceinline__ int pixel(int row) const
        {
            if (KS == 1)
                return tx * TW + row < p.m ? tx * TW + row : -1;
            const int oy = ty * TH + row / TW, ox = tx * TW + row % TW;
            return oy < p.oh && ox < p.ow ? (n * p.oh + oy) * p.ow + ox : -1;
        }
    };
    __device__ __forceinline__ tile tile_at(int index) const
    {
        if (KS == 1)
            return {p, 0, 0, index};
        const int n = index / (p.tx * p.ty), q = index - n * p.tx * p.ty, ty = q / p.tx;
        return {p, n, ty, q - ty * p.tx};
    }
    /* A piece, whose first channel is `first`; of e4m3, what lies behind the last channel may be no number. */
    __device__ __forceinline__ void bring(uint32_t to, const E *from, bool valid, int first) const
    {
        if constexpr (is_e4m3<E>)
            copy_part(to, from, valid ? min(16, p.cin8 - first) : 0);
        else
            copy16(to, from, valid);
    }
    __device__ __forceinline__ void load_pixels(uint32_t to, int index, int cb) const
    {
        const E *from = (const E *)p.p[1] + cb * C;
        for (int x = thread; x < BM * CH; x += T) {
            const int c = x % CH, r = x / CH, pixel = index * BM + r;
            const bool valid = pixel < p.m && (cb * CH + c) * V < p.c8 * 8;
            bring(to + r * RB + ((c ^ swizzle<RB>(r)) << 4), from + (size_t)pixel * p.ldi + c * V, valid, (cb * CH + c) * V);
        }
    }
    __device__ __forceinline__ void load_patch(uint32_t to, int index, int cb) const
    {
        if constexpr (KS == 1) {
            load_pixels(to, index, cb);
            return;
        }
        const tile t = tile_at(index);
        const int iy0 = t.ty * TH * S - p.pad_y, ix0 = t.tx * TW * S - p.pad_x;
        const E *image = (const E *)p.p[1] + (size_t)t.n * p.h * p.w * p.ldi + cb * C;
        /* Of one piece of bytes the others' weights are zero: what lies there is anything, but must be a number. */
        const bool one = sizeof(E) == 1 && !is_e4m3<E> && CH > 1 && p.c8 * 8 <= V;
        const int pieces = one ? HH * HW : HH * HW * CH;
        for (int x = thread; x < pieces; x += T) {
            const int c = one ? 0 : x % CH, pq = one ? x : x / CH, hy = pq / HW, hx = pq - hy * HW, iy = iy0 + hy, ix = ix0 + hx;
            const bool valid = iy >= 0 && iy < p.h && ix >= 0 && ix < p.w, inside = (cb * CH + c) * V < p.c8 * 8;
            const uint32_t at = to + pq * RB + ((c ^ swizzle<RB>(pq >> SH)) << 4);
            if (sizeof(E) == 1 && !is_e4m3<E> && inside && !valid) /* outside the picture is the zero of the map */
                fill16(at, p.bytes.fill);
            else
                bring(at, image + (iy * p.w + ix) * p.ldi + c * V, valid && inside, (cb * CH + c) * V);
        }
    }
    __device__ __forceinline__ bool ahead() const
    {
        return !PRODUCT::WGMMA || p.buffers == 2;
    }

    /* The steps: see conv_kernel.cuh. */
    __device__ __forceinline__ void begin() const
    {
        if (SETS == 1 || more())
            load_patch(patch0, at, 0);
        copy_commit();
        if (SETS > 1) { /* the weights, which all have brought in; what comes is for each set alone */
            copy_wait<1>();
            proxy_fence();
            __syncthreads();
        }
    }
    __device__ __forceinline__ void arrive()
    {
        next_at = at;
        next_step = step + 1;
        if (next_step == steps) {
            next_step = 0;
            next_at += gridDim.x * SETS;
        }
        if (ahead() && next_at < p.tiles) {
            load_patch(patch0 + (buffer ^ 1) * SA, next_at, next_step);
            copy_commit();
            copy_wait<1>();
        } else {
            copy_wait<0>();
        }
        if (PRODUCT::WGMMA)
            proxy_fence();
        sync();
        from = patch0 + buffer * SA;
    }
    __device__ __forceinline__ void multiplied() const
    {
        if (ahead())
            return;
        sync();
        if (next_at < p.tiles) {
            load_patch(patch0, next_at, next_step);
            copy_commit();
        }
    }
    __device__ __forceinline__ bool first() const
    {
        return step == 0;
    }
    __device__ __forceinline__ bool last() const
    {
        return next_step == 0;
    }
    __device__ __forceinline__ void leave()
    {
        if (ahead()) {
            sync();
            buffer ^= 1;
        }
        at = next_at;
        step = next_step;
    }
    __device__ __forceinline__ bool more() const
    {
        return at < p.tiles;
    }

    /* Rows of a tile, as the product reads them and as the epilogue stores them. */
    static __device__ __forceinline__ uint32_t place(int row, int)
    {
        return (row / TW) * S * HW + (row % TW) * S;
    }
    __device__ __forceinline__ uint32_t row(uint32_t place, int piece, int y, int x) const
    {
        const int q = place + y * HW + x;
        return from + q * RB + ((piece ^ swizzle<RB>(q >> SH)) << 4);
    }
    __device__ __forceinline__ uint32_t weights(int tap) const
    {
        return weights0 + (step * TAPS + tap) * SBT;
    }

    __device__ __forceinline__ uint32_t then() const
    {
        return then0;
    }

    __device__ __forceinline__ tile where() const
    {
        return tile_at(at);
    }
};

#endif
