/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.cuh"
#include "kernels.cuh"

/* softmax(scale q^T k) v without ever writing the scores, and a depthwise convolution of v added to it. 16 queries a warp; keys
 * come in tiles of 64 through shared memory; maximum and sum run along. WQ warps of a block take different queries. With WK = 1
 * all of them go through the keys together, two tiles in shared memory. With WK > 1 each of the WK groups has tiles of its own,
 * all of which it fetches at once; what they found is put together at the end: for few images. A block makes VD of a head's
 * channels. The convolution (K x K, 0: none) comes first, while the keys are on their way; with WK > 1 it is the work of four
 * warps more, while the others attend. */

enum { KEYS = 64, POSITION_THREADS = 128 };

__host__ __device__ constexpr int row_bytes(int channels) /* a power of two: the swizzle needs it */
{
    return channels <= 16 ? 32 : channels <= 32 ? 64 : channels <= 64 ? 128 : 256;
}
__host__ __device__ constexpr int stage_bytes(int kd, int vd)
{
    return KEYS * (row_bytes(kd) + row_bytes(vd));
}

__device__ __forceinline__ float power2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
    return y;
}
/* Of the T threads that attend, not of the whole block. */
template <int T> __device__ __forceinline__ void sync_attending()
{
    asm volatile("bar.sync 1,%0;" ::"n"(T) : "memory");
}

/* Of the warps with other queries and the same keys, which fetch these together. */
template <int T> __device__ __forceinline__ void sync_sharing(int group)
{
    if (T == 32)
        __syncwarp();
    else
        asm volatile("bar.sync %0,%1;" ::"r"(2 + group), "n"(T) : "memory");
}

/* 64 keys and their values from k0 on into a stage, by T threads. Those beyond the last are zeros. */
template <int KD, int VD, int T, class E>
__device__ __forceinline__ void load_keys(const gpu_attention_args &p, uint32_t stage, int thread, const E *keys,
                                          const E *values, int k0)
{
    constexpr int KRB = row_bytes(KD), VRB = row_bytes(VD), KC = KD / 8, VC = VD / 8;
#pragma unroll 4
    for (int x = thread; x < KEYS * KC; x += T) {
        const int r = x / KC, c = x % KC;
        copy16(stage + r * KRB + ((c ^ swizzle<KRB>(r)) << 4), keys + (long long)(k0 + r) * p.ldi + c * 8, k0 + r < p.pixels);
    }
#pragma unroll 4
    for (int x = thread; x < KEYS * VC; x += T) {
        const int r = x / VC, c = x % VC;
        copy16(stage + KEYS * KRB + r * VRB + ((c ^ swizzle<VRB>(r)) << 4), values + (long long)(k0 + r) * p.ldi + c * 8,
               k0 + r < p.pixels);
    }
    copy_commit();
}

/* What a warp knows of its 16 queries: the layout of mma's sums. */
template <class E, int KD, int VD> struct queries {
    static constexpr int KRB = row_bytes(KD), VRB = row_bytes(VD), NS = KEYS / 8;
    uint32_t q[KD / 16][4];
    float o[VD / 8][4], best[2], sum[2];

    __device__ __forceinline__ queries(const gpu_attention_args &p, const E *from, int q0, int g, int t)
    {
#pragma unroll
        for (int s = 0; s < KD / 16; s++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int row = q0 + g + (e & 1) * 8;
                q[s][e] = row < p.pixels
                              ? *(const uint32_t *)(from + (long long)row * p.ldi + s * 16 + (e >> 1) * 8 + t * 2)
                              : 0;
            }
#pragma unroll
        for (int j = 0; j < VD / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                o[j][e] = 0;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            best[h] = -INFINITY;
            sum[h] = 0;
        }
    }
    /* The 64 keys of a stage, of which `left` are there. */
    __device__ __forceinline__ void look_at(uint32_t stage, int left, float scale, int in_warp)
    {
        const uint32_t kb = stage, vb = stage + KEYS * KRB;
        const int t = in_warp & 3;
        float s[NS][4];
#pragma unroll
        for (int j = 0; j < NS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[j][e] = 0;
#pragma unroll
        for (int j = 0; j < NS / 2; j++)
#pragma unroll
            for (int kk = 0; kk < KD / 16; kk++) {
                const int row = j * 16 + ((in_warp >> 4) << 3) + (in_warp & 7), half = (in_warp >> 3) & 1;
                uint32_t b[4];
                load_matrix4(b, kb + row * KRB + (((kk * 2 + half) ^ swizzle<KRB>(row)) << 4));
                two_of<E>::multiply(s[2 * j], q[kk], b[0], b[1]);
                two_of<E>::multiply(s[2 * j + 1], q[kk], b[2], b[3]);
            }
        float high[2] = {best[0], best[1]};
#pragma unroll
        for (int j = 0; j < NS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                s[j][e] = j * 8 + t * 2 + (e & 1) < left ? s[j][e] * scale : -INFINITY;
                high[e >> 1] = fmaxf(high[e >> 1], s[j][e]);
            }
        float shrink[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            high[h] = fmaxf(high[h], __shfl_xor_sync(0xffffffff, high[h], 1));
            high[h] = fmaxf(high[h], __shfl_xor_sync(0xffffffff, high[h], 2));
            shrink[h] = power2(best[h] - high[h]); /* there is a key: high is a number */
            best[h] = high[h];
            sum[h] *= shrink[h];
        }
#pragma unroll
        for (int j = 0; j < VD / 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                o[j][e] *= shrink[e >> 1];
        uint32_t pr[NS][2];
#pragma unroll
        for (int j = 0; j < NS; j++) {
            float v[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                v[e] = power2(s[j][e] - best[e >> 1]);
                sum[e >> 1] += v[e];
            }
            pr[j][0] = two_of<E>::pack(v[0], v[1]);
            pr[j][1] = two_of<E>::pack(v[2], v[3]);
        }
#pragma unroll
        for (int j = 0; j < NS / 2; j++) {
            const uint32_t a[4] = {pr[2 * j][0], pr[2 * j][1], pr[2 * j + 1][0], pr[2 * j + 1][1]};
            const int row = j * 16 + (in_warp & 15);
#pragma unroll
            for (int c = 0; c < VD / 16; c++) {
                uint32_t b[4];
                load_matrix4_turned(b, vb + row * VRB + (((c * 2 + (in_warp >> 4)) ^ swizzle<VRB>(row)) << 4));
                two_of<E>::multiply(o[2 * c], a, b[0], b[1]);
                two_of<E>::multiply(o[2 * c + 1], a, b[2], b[3]);
            }
        }
    }
    __device__ __forceinline__ void finish()
    {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 1);
            sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 2);
        }
    }
};

/* The convolution of VD channels from c0 on for ROWS queries, with its bias, to `to` [ROWS][VD]. Where there is less to do than
 * threads, rows of the kernel are shared among neighbours. */
template <class E, int K, int VD, int ROWS, int THREADS>
__device__ __forceinline__ void find_positions(const gpu_attention_args &p, int thread, int q0, int c0, float *to)
{
    constexpr int ITEMS = ROWS * VD / 8, SHARE = ITEMS < THREADS ? THREADS / ITEMS : 1;
    const int channels = p.heads * p.hd, part = thread % SHARE, area = blockIdx.z % p.areas;
    const E *image = (const E *)p.p[1] + (long long)(blockIdx.z / p.areas) * p.h * p.w * p.ldi + 2 * p.heads * p.kd + c0;
    for (int x = thread / SHARE; x < ITEMS; x += THREADS / SHARE) {
        const int row = x / (VD / 8), c = x % (VD / 8) * 8, pixel = area * p.pixels + q0 + row;
        const int py = pixel / p.w, px = pixel - py * p.w;
        const E *weights = (const E *)p.p[2] + c0 + c;
        float acc[8];
#pragma unroll
        for (int e = 0; e < 8; e++)
            acc[e] = part == 0 ? __ldg((const float *)p.p[3] + c0 + c + e) : 0.0f;
#pragma unroll 1
        for (int r = part; r < K; r += SHARE) {
            const int y = py + r - K / 2;
            if (q0 + row >= p.pixels || y < 0 || y >= p.h)
                continue;
            uint4 v[K], w[K];
#pragma unroll
            for (int s = 0; s < K; s++) {
                const int at = px + s - K / 2;
                v[s] = make_uint4(0, 0, 0, 0);
                if (at >= 0 && at < p.w)
                    v[s] = *(const uint4 *)(image + (y * p.w + at) * p.ldi + c);
                w[s] = __ldg((const uint4 *)(weights + (r * K + s) * channels));
            }
#pragma unroll
            for (int s = 0; s < K; s++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    const float2 a = two_of<E>::unpack(((const uint32_t *)&v[s])[e]);
                    const float2 b = two_of<E>::unpack(((const uint32_t *)&w[s])[e]);
                    acc[2 * e] = fmaf(a.x, b.x, acc[2 * e]);
                    acc[2 * e + 1] = fmaf(a.y, b.y, acc[2 * e + 1]);
                }
        }
#pragma unroll
        for (int d = 1; d < SHARE; d *= 2)
#pragma unroll
            for (int e = 0; e < 8; e++)
                acc[e] += __shfl_xor_sync(0xffffffff, acc[e], d);
        if (part == 0) {
            *(float4 *)(to + row * VD + c) = make_float4(acc[0], acc[1], acc[2], acc[3]);
            *(float4 *)(to + row * VD + c + 4) = make_float4(acc[4], acc[5], acc[6], acc[7]);
        }
    }
}

/* Of a block: those that attend, and more for the positions. */
__host__ __device__ constexpr int block_threads(int wq, int wk, int k)
{
    return wq * wk * 32 + (k && wk > 1 ? POSITION_THREADS : 0);
}

template <class E, int KD, int VD, int WQ, int WK, int K>
__global__ void __launch_bounds__(block_threads(WQ, WK, K), WK > 1 ? 1 : 4)
    attend(const __grid_constant__ gpu_args u, int positions_at)
{
    constexpr int T = WQ * WK * 32, ALL = block_threads(WQ, WK, K), ROWS = WQ * 16, STAGE = stage_bytes(KD, VD);
    const gpu_attention_args &p = u.attention;
    extern __shared__ __align__(1024) char shared[];
    __shared__ float merge_max[WK][ROWS], merge_sum[WK][ROWS];
    float *const positions = (float *)(shared + positions_at);
    const int tid = threadIdx.x, in_warp = tid & 31, warp = tid >> 5, wq = warp % WQ, wk = warp / WQ;
    const int g = in_warp >> 2, t = in_warp & 3, parts = p.hd / VD, head = blockIdx.y / parts;
    const int c0 = head * p.hd + blockIdx.y % parts * VD; /* of the values and of the result */
    const E *in = (const E *)p.p[1] + (long long)blockIdx.z * p.pixels * p.ldi;
    const E *keys = in + (p.heads + head) * KD, *values = in + 2 * p.heads * KD + c0;
    E *out = (E *)p.p[0] + (long long)blockIdx.z * p.pixels * p.ldo + c0;
    const int tiles = (p.pixels + KEYS - 1) / KEYS, q0 = blockIdx.x * ROWS;
    gpu_chain();
    if (K > 0 && WK > 1 && tid >= T) {
        find_positions<E, K ? K : 1, VD, ROWS, POSITION_THREADS>(p, tid - T, q0, c0, positions);
        __syncthreads();
    } else {
        const uint32_t base = shared_address(shared);
        const float scale = p.scale * 1.4426950408889634f;
        if (WK > 1)
            for (int tile = wk; tile < tiles; tile += WK)
                load_keys<KD, VD, WQ * 32>(p, base + tile * STAGE, wq * 32 + in_warp, keys, values, tile * KEYS);
        else
            load_keys<KD, VD, T>(p, base, tid, keys, values, 0);
        if (K > 0 && WK == 1) /* all have met before the positions are read, at the tiles */
            find_positions<E, K ? K : 1, VD, ROWS, T>(p, tid, q0, c0, positions);
        queries<E, KD, VD> own(p, in + head * KD, q0 + wq * 16, g, t);
        if (WK > 1) {
            copy_wait<0>();
            sync_sharing<WQ * 32>(wk);
        }
        for (int tile = wk; tile < tiles; tile += WK) {
            if (WK == 1) {
                if (tile + 1 < tiles) {
                    load_keys<KD, VD, T>(p, base + ((tile + 1) & 1) * STAGE, tid, keys, values, (tile + 1) * KEYS);
                    copy_wait<1>();
                } else {
                    copy_wait<0>();
                }
                __syncthreads();
            }
            own.look_at(base + (WK == 1 ? tile & 1 : tile) * STAGE, p.pixels - tile * KEYS, scale, in_warp);
            if (WK == 1)
                __syncthreads();
        }
        own.finish();
        if constexpr (WK == 1) {
#pragma unroll
            for (int h = 0; h < 2; h++) {
                const int row = wq * 16 + g + h * 8;
                if (q0 + row >= p.pixels)
                    continue;
                const float factor = 1.0f / own.sum[h];
#pragma unroll
                for (int j = 0; j < VD / 8; j++) {
                    float2 add = make_float2(0, 0);
                    if (K > 0)
                        add = *(const float2 *)(positions + row * VD + j * 8 + t * 2);
                    *(uint32_t *)(out + (long long)(q0 + row) * p.ldo + j * 8 + t * 2) =
                        two_of<E>::pack(fmaf(own.o[j][2 * h], factor, add.x), fmaf(own.o[j][2 * h + 1], factor, add.y));
                }
            }
            return;
        }
        sync_attending<T>(); /* tiles are read by nobody any more: sums go there */
        float *partial = (float *)shared; /* [WK][ROWS][VD] */
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = wq * 16 + g + h * 8;
            if (t == 0) {
                merge_max[wk][row] = own.best[h];
                merge_sum[wk][row] = own.sum[h];
            }
#pragma unroll
            for (int j = 0; j < VD / 8; j++)
                *(float2 *)(partial + (wk * ROWS + row) * VD + j * 8 + t * 2) =
                    make_float2(own.o[j][2 * h], own.o[j][2 * h + 1]);
        }
        __syncthreads();
    }
    /* what the warps with other keys found, relative to the largest maximum */
    const float *partial = (const float *)shared;
    for (int x = tid; x < ROWS * VD / 4; x += ALL) {
        const int row = x / (VD / 4), c = x % (VD / 4) * 4;
        if (q0 + row >= p.pixels)
            continue;
        float top = -INFINITY, total = 0, v[4] = {0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < WK; k++)
            top = fmaxf(top, merge_max[k][row]);
#pragma unroll
        for (int k = 0; k < WK; k++) {
            const float f = power2(merge_max[k][row] - top); /* a warp without keys: 0 */
            const float4 from = *(const float4 *)(partial + (k * ROWS + row) * VD + c);
            total += f * merge_sum[k][row];
            v[0] += f * from.x;
            v[1] += f * from.y;
            v[2] += f * from.z;
            v[3] += f * from.w;
        }
        const float factor = 1.0f / total;
#pragma unroll
        for (int e = 0; e < 4; e++)
            v[e] = fmaf(v[e], factor, K > 0 ? positions[row * VD + c + e] : 0.0f);
        if (p.bytes.out && p.bytes.f8)
            put_numbers<e4m3>((uint8_t *)p.p[0] + ((long long)blockIdx.z * p.pixels + q0 + row) * p.ldo + c0 + c, p.bytes, v);
        else if (p.bytes.out)
            put_numbers<uint8_t>((uint8_t *)p.p[0] + ((long long)blockIdx.z * p.pixels + q0 + row) * p.ldo + c0 + c, p.bytes, v);
        else
            map_of<E>::store(out + (long long)(q0 + row) * p.ldo + c, v);
    }
}

template <int KD, int VD, int WQ, int WK, int K> static cudaError_t start(const gpu_launch *l, int stages, cudaStream_t stream)
{
    constexpr int ROWS = WQ * 16;
    const gpu_attention_args *a = &l->args->attention;
    const void *function = a->type == GPU_BF16 ? (const void *)attend<__nv_bfloat16, KD, VD, WQ, WK, K>
                                               : (const void *)attend<__half, KD, VD, WQ, WK, K>;
    const int tiles = stages * stage_bytes(KD, VD), sums = WK > 1 ? WK * ROWS * VD * 4 : 0;
    int at = tiles > sums ? tiles : sums;
    const int bytes = at + (K ? ROWS * VD * 4 : 0);
    const cudaError_t e = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (e != cudaSuccess)
        return e;
    void *list[] = {(void *)l->args, &at};
    return gpu_start_list(function, dim3((a->pixels + ROWS - 1) / ROWS, a->heads * (a->hd / VD), a->n),
                          dim3(block_threads(WQ, WK, K)), bytes, list, 1, l->pdl, stream);
}

template <int KD, int HD, int K> static cudaError_t start_heads(const gpu_launch *l, cudaStream_t stream)
{
    enum { FEW = 32, REST = 20 * 1024 }; /* channels of a block where images are few; room for sums and positions */
    const gpu_attention_args *a = &l->args->attention;
    int device = 0, most = 0, sms = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (e != cudaSuccess)
        return e;
    const int tiles = (a->pixels + KEYS - 1) / KEYS;
    const long long heads = (long long)a->n * a->heads * (HD / FEW);
    const bool fits = tiles * stage_bytes(KD, FEW) + REST <= most;
    if (fits && heads * ((a->pixels + 15) / 16) <= sms)
        return start<KD, FEW, 1, 8, K>(l, tiles, stream);
    if (fits && heads * ((a->pixels + 31) / 32) <= sms)
        return start<KD, FEW, 2, 4, K>(l, tiles, stream);
    return start<KD, HD, 4, 1, K>(l, 2, stream);
}

cudaError_t gpu_start_attention(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_attention_args *a = &l->args->attention;
    if (a->kd == 32 && a->hd == 64)
        return a->k == 0 ? start_heads<32, 64, 0>(l, stream) : a->k == 3 ? start_heads<32, 64, 3>(l, stream)
                                                                       : cudaErrorInvalidValue;
    if (a->kd == 32 && a->hd == 32)
        return a->k == 0 ? start_heads<32, 32, 0>(l, stream) : a->k == 7 ? start_heads<32, 32, 7>(l, stream)
                                                                       : cudaErrorInvalidValue;
    if (a->kd == 48 && a->hd == 96)
        return a->k == 0 ? start_heads<48, 96, 0>(l, stream) : a->k == 3 ? start_heads<48, 96, 3>(l, stream)
                                                                       : cudaErrorInvalidValue;
    return cudaErrorInvalidValue;
}
