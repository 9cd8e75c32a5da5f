/* SPDX-License-Identifier: Apache-2.0 */
#include "conv_epilogue.cuh"
#include "kernels.cuh"

__device__ __forceinline__ float power2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
    return y;
}

/* softmax(scale q^T k) v without ever writing the scores: 16 queries a warp; keys come in tiles of 64 through shared
 * memory, all of them at once where they fit (`resident` buffers), else two at a time; maximum and sum run along. WQ warps of
 * a block take different queries, WK different tiles of keys (then all must be resident); those are put together at the end.
 * Query and key have 32 channels, values 64. */
template <int WQ, int WK> __global__ void __launch_bounds__(WQ *WK * 32) attend(const __grid_constant__ gpu_args u, int resident)
{
    constexpr int KT = 64, KD = 32, HD = 64, T = WQ * WK * 32, KRB = KD * 2, VRB = HD * 2;
    constexpr int NS = KT / 8, STAGE = KT * (KRB + VRB);
    const gpu_attention_args &p = u.attention;
    extern __shared__ __align__(1024) char shared[];
    __shared__ float merge_max[WK][WQ * 16], merge_sum[WK][WQ * 16];
    const uint32_t base = shared_address(shared);
    const int tid = threadIdx.x, in_warp = tid & 31, warp = tid >> 5, wq = warp % WQ, wk = warp / WQ;
    const int g = in_warp >> 2, t = in_warp & 3, head = blockIdx.y, n = blockIdx.z;
    const int q0 = blockIdx.x * WQ * 16 + wq * 16;
    const __half *in = (const __half *)p.p[1] + (long long)n * p.pixels * p.ldi;
    const __half *keys = in + p.heads * KD + head * KD, *values = in + 2 * p.heads * KD + head * HD;
    gpu_chain();
    auto load_tile = [&](int k0, int stage) {
        for (int x = tid; x < KT * 12; x += T) {
            const int r = x / 12, c = x % 12, key = k0 + r;
            const bool valid = key < p.pixels;
            if (c < 4)
                copy16(base + stage * STAGE + r * KRB + ((c ^ swizzle<KRB>(r)) << 4),
                       valid ? keys + (long long)key * p.ldi + c * 8 : in, valid);
            else
                copy16(base + stage * STAGE + KT * KRB + r * VRB + (((c - 4) ^ swizzle<VRB>(r)) << 4),
                       valid ? values + (long long)key * p.ldi + (c - 4) * 8 : in, valid);
        }
        copy_commit();
    };
    const int tiles = (p.pixels + KT - 1) / KT;
    const bool all = tiles <= resident;
    for (int tile = 0; tile < (all ? tiles : 1); tile++)
        load_tile(tile * KT, tile);
    uint32_t q[2][4];
#pragma unroll
    for (int s = 0; s < 2; s++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int row = q0 + g + (e & 1) * 8;
            q[s][e] = row < p.pixels ? *(const uint32_t *)(in + (long long)row * p.ldi + head * KD + s * 16 + (e >> 1) * 8 +
                                                           t * 2)
                                     : 0;
        }
    float o[8][4], best[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < 8; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            o[j][e] = 0;
    const float scale = p.scale * 1.4426950408889634f;
    if (all) {
        copy_wait<0>();
        __syncthreads();
    }
    for (int tile = wk; tile < tiles; tile += WK) {
        if (!all && tile + 1 < tiles) {
            load_tile((tile + 1) * KT, (tile + 1) & 1);
            copy_wait<1>();
        } else if (!all) {
            copy_wait<0>();
        }
        if (!all)
            __syncthreads();
        const uint32_t kb = base + (all ? tile : tile & 1) * STAGE, vb = kb + KT * KRB;
        float s[NS][4];
#pragma unroll
        for (int j = 0; j < NS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[j][e] = 0;
#pragma unroll
        for (int j = 0; j < NS / 2; j++)
#pragma unroll
            for (int kk = 0; kk < 2; kk++) {
                const int row = j * 16 + ((in_warp >> 4) << 3) + (in_warp & 7), half = (in_warp >> 3) & 1;
                uint32_t b[4];
                load_matrix4(b, kb + row * KRB + (((kk * 2 + half) ^ swizzle<KRB>(row)) << 4));
                mma(s[2 * j], q[kk], b[0], b[1]);
                mma(s[2 * j + 1], q[kk], b[2], b[3]);
            }
        const int first = tile * KT;
        float high[2] = {best[0], best[1]};
#pragma unroll
        for (int j = 0; j < NS; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int key = first + j * 8 + t * 2 + (e & 1);
                s[j][e] = key < p.pixels ? s[j][e] * scale : -INFINITY;
                high[e >> 1] = fmaxf(high[e >> 1], s[j][e]);
            }
        float shrink[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            high[h] = fmaxf(high[h], __shfl_xor_sync(0xffffffff, high[h], 1));
            high[h] = fmaxf(high[h], __shfl_xor_sync(0xffffffff, high[h], 2));
            /* before the first key of this warp nothing is known: there is nothing to shrink */
            shrink[h] = high[h] == -INFINITY ? 1.0f : power2(best[h] - high[h]);
            best[h] = high[h];
            sum[h] *= shrink[h];
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                o[j][e] *= shrink[e >> 1];
        uint32_t pr[NS][2];
#pragma unroll
        for (int j = 0; j < NS; j++) {
            float v[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                v[e] = best[e >> 1] == -INFINITY ? 0.0f : power2(s[j][e] - best[e >> 1]);
                sum[e >> 1] += v[e];
            }
            pr[j][0] = pack_halves(v[0], v[1]);
            pr[j][1] = pack_halves(v[2], v[3]);
        }
#pragma unroll
        for (int j = 0; j < NS / 2; j++) {
            const uint32_t a[4] = {pr[2 * j][0], pr[2 * j][1], pr[2 * j + 1][0], pr[2 * j + 1][1]};
            const int row = j * 16 + (in_warp & 15);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                uint32_t b[4];
                load_matrix4_turned(b, vb + row * VRB + (((c * 2 + (in_warp >> 4)) ^ swizzle<VRB>(row)) << 4));
                mma(o[2 * c], a, b[0], b[1]);
                mma(o[2 * c + 1], a, b[2], b[3]);
            }
        }
        if (!all)
            __syncthreads();
    }
    if (WK > 1)
        __syncthreads(); /* tiles are read by nobody any more: sums go there */
#pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 1);
        sum[h] += __shfl_xor_sync(0xffffffff, sum[h], 2);
    }
    __half *out = (__half *)p.p[0] + (long long)n * p.pixels * p.ldo + head * HD;
    if constexpr (WK == 1) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int row = q0 + g + h * 8;
            if (row >= p.pixels)
                continue;
            const float factor = 1.0f / sum[h];
#pragma unroll
            for (int j = 0; j < 8; j++)
                *(uint32_t *)(out + (long long)row * p.ldo + j * 8 + t * 2) =
                    pack_halves(o[j][2 * h] * factor, o[j][2 * h + 1] * factor);
        }
        return;
    }
    /* what the warps with other keys found, relative to the largest maximum */
    float *partial = (float *)shared; /* [WK][WQ * 16][HD] */
    static_assert(WK == 1 || WK * WQ * 16 * HD * 4 <= 2 * STAGE, "the sums fit where the tiles were");
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int row = wq * 16 + g + h * 8;
        if (t == 0) {
            merge_max[wk][row] = best[h];
            merge_sum[wk][row] = sum[h];
        }
#pragma unroll
        for (int j = 0; j < 8; j++)
            *(float2 *)(partial + ((wk * WQ * 16 + row) * HD) + j * 8 + t * 2) = make_float2(o[j][2 * h], o[j][2 * h + 1]);
    }
    __syncthreads();
    for (int x = tid; x < WQ * 16 * 8; x += T) {
        const int row = x / 8, c = x % 8 * 8, query = blockIdx.x * WQ * 16 + row;
        if (query >= p.pixels)
            continue;
        float top = -INFINITY, total = 0, v[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll
        for (int k = 0; k < WK; k++)
            top = fmaxf(top, merge_max[k][row]);
#pragma unroll
        for (int k = 0; k < WK; k++) {
            const float f = merge_max[k][row] == -INFINITY ? 0.0f : power2(merge_max[k][row] - top);
            const float *from = partial + (k * WQ * 16 + row) * HD + c;
            total += f * merge_sum[k][row];
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] += f * from[e];
        }
        const float factor = 1.0f / total;
#pragma unroll
        for (int e = 0; e < 8; e++)
            v[e] *= factor;
        map_of<__half>::store(out + (long long)query * p.ldo + c, v);
    }
}

cudaError_t gpu_start_attention(const gpu_launch *l, cudaStream_t stream)
{
    enum { STAGE = 64 * (64 + 128), MOST = 16 };
    const gpu_attention_args *a = &l->args->attention;
    if (a->kd != 32 || a->hd != 64)
        return cudaErrorInvalidValue;
    int device = 0, most = 0;
    cudaError_t e = cudaGetDevice(&device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    const int tiles = (a->pixels + 63) / 64;
    const bool fits = tiles <= MOST && tiles * STAGE <= most - 1024;
    const bool few = fits && tiles >= 2 && (long long)a->n * a->heads * tiles < 132;
    const int queries = few ? 16 : 64;
    const void *function = few ? (const void *)attend<1, 4> : (const void *)attend<4, 1>;
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most - 1024);
    if (e != cudaSuccess)
        return e;
    int resident = fits && tiles > 2 ? tiles : 2;
    void *list[] = {(void *)l->args, &resident};
    return gpu_start_list(function, dim3((a->pixels + queries - 1) / queries, a->heads, a->n), dim3(128), resident * STAGE,
                          list, 1, l->pdl, stream);
}
