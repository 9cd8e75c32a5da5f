/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"

#include "bytes.cuh"

/* Maps of bytes: depthwise convolution, pooling, moving, and the way to and from halves. 32-bit indices; what is larger is left
 * to the simple kernels. */

#define EACH(i, count) \
    for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < (uint32_t)(count); i += gridDim.x * 256)

/* --- depthwise 3x3, stride 1 --- */

/* Bytes of four pixels of four channels to four pixels of each channel. */
__device__ __forceinline__ void turn(const uint32_t (&x)[4], uint32_t (&y)[4])
{
    const uint32_t a = __byte_perm(x[0], x[1], 0x5140), b = __byte_perm(x[2], x[3], 0x5140);
    const uint32_t c = __byte_perm(x[0], x[1], 0x7362), d = __byte_perm(x[2], x[3], 0x7362);
    y[0] = __byte_perm(a, b, 0x5410);
    y[1] = __byte_perm(a, b, 0x7632);
    y[2] = __byte_perm(c, d, 0x5410);
    y[3] = __byte_perm(c, d, 0x7632);
}
/* Four unsigned bytes times four signed ones, added. */
__device__ __forceinline__ int dot(uint32_t a, uint32_t b, int c)
{
    int d;
    asm("dp4a.u32.s32 %0,%1,%2,%3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
}

/* The sums of a thread: columns from x0 on, channels from c on. */
template <class E, class SUM, int PX, int N>
__device__ __forceinline__ void finish_pixels(const gpu_depthwise_args &p, int line, int x0, int c, const SUM (&acc)[PX][N])
{
    float2 factors[N];
#pragma unroll
    for (int e = 0; e < N; e += 2)
        *(float4 *)&factors[e] = __ldg((const float4 *)((const float2 *)p.p[3] + c + e));
    const long long pixel = (long long)line * p.ow + x0;
#pragma unroll
    for (int k = 0; k < PX; k++) {
        float out[N];
#pragma unroll
        for (int e = 0; e < N; e++)
            out[e] = fmaf((float)acc[k][e], factors[e].x, factors[e].y);
        if (x0 + k >= p.ow)
            break;
        if (p.bytes.half)
            finish_silu<E, N>(p, pixel + k, c, out);
        else
            finish_bytes<E, N>(p, pixel + k, c, out);
    }
}

/* 4 G channels x PX columns a thread. */
template <int G, int PX> __global__ void __launch_bounds__(128) depthwise_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_depthwise_args &p = u.depthwise;
    const int across = (p.ow + PX - 1) / PX, groups = p.c8 * 2 / G;
    const int i = blockIdx.x * 128 + threadIdx.x;
    const bool valid = i < p.n * p.oh * across * groups;
    const int q = i / groups, c = (i - q * groups) * 4 * G, line = q / across, x0 = (q - line * across) * PX;
    const int n = line / p.oh, y = line - n * p.oh;
    uint4 w[3][G];
    if (valid)
#pragma unroll
        for (int r = 0; r < 3; r++)
#pragma unroll
            for (int g = 0; g < G; g++)
                w[r][g] = __ldg((const uint4 *)((const uint8_t *)p.p[2] + ((long long)r * p.c8 * 8 + c) * 4) + g);
    gpu_chain();
    if (!valid)
        return;
    int acc[PX][4 * G] = {};
    const int first = x0 - p.pad_x;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int iy = y + r - p.pad_y;
        const bool row = iy >= 0 && iy < p.h;
        const uint8_t *from = (const uint8_t *)p.p[1] + (((long long)n * p.h + iy) * p.w + first) * p.ldi + c;
        uint32_t v[PX + 2][G];
#pragma unroll
        for (int k = 0; k < PX + 2; k++, from += p.ldi) {
            const bool inside = row && (unsigned)(first + k) < (unsigned)p.w;
            if constexpr (G == 2) {
                const uint2 two = inside ? *(const uint2 *)from : make_uint2(p.bytes.fill, p.bytes.fill);
                v[k][0] = two.x;
                v[k][1] = two.y;
            } else {
                v[k][0] = inside ? *(const uint32_t *)from : p.bytes.fill;
            }
        }
#pragma unroll
        for (int g = 0; g < G; g++) {
            const uint32_t weights[4] = {w[r][g].x, w[r][g].y, w[r][g].z, w[r][g].w};
#pragma unroll
            for (int k = 0; k < PX; k += 2) {
                const uint32_t four[4] = {v[k][g], v[k + 1][g], v[k + 2][g], v[k + 3][g]};
                uint32_t turned[4];
                turn(four, turned);
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    acc[k][4 * g + e] = dot(turned[e], weights[e], acc[k][4 * g + e]);
                    acc[k + 1][4 * g + e] = dot(turned[e], weights[e] << 8, acc[k + 1][4 * g + e]);
                }
            }
        }
    }
    finish_pixels<uint8_t>(p, line, x0, c, acc);
}

/* The same of e4m3: numbers are multiplied one by one. */
template <int G, int PX> __global__ void __launch_bounds__(128) depthwise_e4m3(const __grid_constant__ gpu_args u)
{
    const gpu_depthwise_args &p = u.depthwise;
    const int across = (p.ow + PX - 1) / PX, groups = p.c8 * 2 / G;
    const int i = blockIdx.x * 128 + threadIdx.x;
    const bool valid = i < p.n * p.oh * across * groups;
    const int q = i / groups, c = (i - q * groups) * 4 * G, line = q / across, x0 = (q - line * across) * PX;
    const int n = line / p.oh, y = line - n * p.oh, first = x0 - p.pad_x;
    gpu_chain();
    if (!valid)
        return;
    float acc[PX][4 * G] = {};
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int iy = y + r - p.pad_y;
        const bool row = iy >= 0 && iy < p.h;
        const uint8_t *from = (const uint8_t *)p.p[1] + (((long long)n * p.h + iy) * p.w + first) * p.ldi + c;
        float w[3][4 * G];
#pragma unroll
        for (int s = 0; s < 3; s++)
#pragma unroll
            for (int e = 0; e < 4 * G; e += 4)
                *(float4 *)&w[s][e] = __ldg((const float4 *)((const float *)p.p[2] + (r * 3 + s) * p.c8 * 8 + c + e));
#pragma unroll
        for (int k = 0; k < PX + 2; k++, from += p.ldi) {
            uint32_t words[G] = {};
            float v[4 * G];
            if (row && (unsigned)(first + k) < (unsigned)p.w)
                get_words<4 * G>(from, words);
#pragma unroll
            for (int e = 0; e < 4 * G; e++)
                v[e] = low_of<e4m3>::at(words, e);
#pragma unroll
            for (int s = 0; s < 3; s++)
                if (k >= s && k - s < PX)
#pragma unroll
                    for (int e = 0; e < 4 * G; e++)
                        acc[k - s][e] = fmaf(v[e], w[s][e], acc[k - s][e]);
        }
    }
    finish_pixels<e4m3>(p, line, x0, c, acc);
}

static cudaError_t start_depthwise(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_depthwise_args *a = &l->args->depthwise;
    const long long all = (long long)a->n * a->oh * ((a->ow + 1) / 2) * a->c8 * 2;
    if (all > 0x7fff0000ll)
        return cudaErrorInvalidValue;
    const bool wide = all > 400000;
    const long long count = wide ? (long long)a->n * a->oh * ((a->ow + 3) / 4) * a->c8 : all;
    const void *const bytes = wide ? (const void *)depthwise_bytes<2, 4> : (const void *)depthwise_bytes<1, 2>;
    const void *const f8 = wide ? (const void *)depthwise_e4m3<2, 4> : (const void *)depthwise_e4m3<1, 2>;
    return gpu_start(a->type == GPU_F8 ? f8 : bytes,
                     dim3((unsigned)((count + 127) / 128)), dim3(128), 0, l->args, 1, l->pdl, stream);
}

/* --- pooling --- */

template <class WORD> __device__ __forceinline__ WORD larger(WORD x, WORD y)
{
    WORD z;
#pragma unroll
    for (int k = 0; k < (int)sizeof(WORD) / 4; k++)
        ((uint32_t *)&z)[k] = __vmaxu4(((const uint32_t *)&x)[k], ((const uint32_t *)&y)[k]);
    return z;
}
/* Codes of e4m3 as bytes that are in the order of their numbers, and back: negative ones turned round, the others above them. */
template <class E, bool BACK, class WORD> __device__ __forceinline__ WORD ordered(WORD x)
{
    if constexpr (is_e4m3<E>)
#pragma unroll
        for (int k = 0; k < (int)sizeof(WORD) / 4; k++) {
            uint32_t &w = ((uint32_t *)&x)[k];
            const uint32_t negative = ((BACK ? ~w : w) >> 7 & 0x01010101u) * 0x7fu;
            w ^= 0x80808080u | negative;
        }
    return x;
}

/* As pool_chain of halves (special.cu): windows of 1 + j (K - 1), rows first, then columns. */
template <class E, class WORD> __global__ void __launch_bounds__(512) pool_chain_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_pool_chain_args &a = u.pool_chain;
    extern __shared__ __align__(16) char pool_memory[];
    WORD *plane = (WORD *)pool_memory;
    const int pixels = a.h * a.w, at = blockIdx.x * (int)sizeof(WORD), n = blockIdx.y, r = a.k / 2;
    gpu_chain();
    const uint8_t *in = (const uint8_t *)a.p[1] + (long long)n * pixels * a.ldi + at;
    for (int i = threadIdx.x; i < pixels; i += 512)
        plane[i] = ordered<E, false>(*(const WORD *)(in + (long long)i * a.ldi));
    __syncthreads();
    for (int i = threadIdx.x; i < pixels; i += 512) {
        const int x = i % a.w, row = i - x;
        WORD best = plane[i];
        for (int j = 1; j <= 3; j++) {
            for (int d = (j - 1) * r + 1; d <= j * r; d++)
                best = larger(larger(best, plane[row + max(x - d, 0)]), plane[row + min(x + d, a.w - 1)]);
            plane[j * pixels + i] = best;
        }
    }
    __syncthreads();
    uint8_t *out[3] = {(uint8_t *)a.p[0], (uint8_t *)a.p[2], (uint8_t *)a.p[3]};
    for (int i = threadIdx.x; i < pixels; i += 512) {
        const int y = i / a.w, x = i - y * a.w;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const WORD *rows = plane + (j + 1) * pixels;
            WORD best = rows[i];
            for (int d = 1; d <= (j + 1) * r; d++)
                best = larger(larger(best, rows[max(y - d, 0) * a.w + x]), rows[min(y + d, a.h - 1) * a.w + x]);
            *(WORD *)(out[j] + ((long long)n * pixels + i) * a.ldo[j] + at) = ordered<E, true>(best);
        }
    }
}

static cudaError_t start_chain(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_pool_chain_args *a = &l->args->pool_chain;
    const bool narrow = a->c8 * a->n < 128; /* few images: more blocks with fewer channels */
    const int bytes = 4 * a->h * a->w * (narrow ? 4 : 8);
    const void *const u8 = narrow ? (const void *)pool_chain_bytes<uint8_t, uint32_t> : (const void *)pool_chain_bytes<uint8_t, uint2>;
    const void *const f8 = narrow ? (const void *)pool_chain_bytes<e4m3, uint32_t> : (const void *)pool_chain_bytes<e4m3, uint2>;
    const void *function = a->type == GPU_F8 ? f8 : u8;
    return gpu_start(function, dim3(narrow ? 2 * a->c8 : a->c8, a->n), dim3(512), bytes, l->args, 1, l->pdl, stream);
}

template <class E> __global__ void __launch_bounds__(256) max_pool_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_pool_args &a = u.pool;
    gpu_chain();
    EACH (i, a.n * a.oh * a.ow * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = i - pixel * a.c8, line = pixel / a.ow;
        const int64_t image = line / a.oh;
        const int ox = (int)(pixel - line * a.ow), oy = (int)(line % a.oh);
        uint2 best = make_uint2(0, 0);
        for (int ky = 0; ky < a.kh; ky++) {
            const int y = oy * a.stride_y + ky - a.pad_y;
            for (int kx = 0; kx < a.kw; kx++) {
                const int x = ox * a.stride_x + kx - a.pad_x;
                if (y >= 0 && y < a.h && x >= 0 && x < a.w)
                    best = larger(best, ordered<E, false>(*(const uint2 *)((const uint8_t *)a.p[1] +
                                                                           ((image * a.h + y) * a.w + x) * a.ldi + chunk * 8)));
            }
        }
        *(uint2 *)((uint8_t *)a.p[0] + (int64_t)pixel * a.ldo + chunk * 8) = ordered<E, true>(best);
    }
}

/* --- moving --- */

__global__ void __launch_bounds__(256) resize_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_resize_args &a = u.resize;
    gpu_chain();
    const int32_t *rows = (const int32_t *)a.p[2], *columns = (const int32_t *)a.p[3];
    EACH (i, a.n * a.oh * a.ow * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = i - pixel * a.c8, line = pixel / a.ow;
        const uint32_t ox = pixel - line * a.ow, image = line / a.oh, oy = line - image * a.oh;
        const int64_t from = ((int64_t)image * a.h + __ldg(rows + 2 * oy)) * a.w + __ldg(columns + 2 * ox);
        *(uint2 *)((uint8_t *)a.p[0] + (int64_t)pixel * a.ldo + chunk * 8) =
            *(const uint2 *)((const uint8_t *)a.p[1] + from * a.ldi + chunk * 8);
    }
}

template <class WORD> __global__ void __launch_bounds__(256) copy_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_copy_args &a = u.copy;
    gpu_chain();
    const uint32_t width = (a.c + a.zeros) / sizeof(WORD), own = a.c / sizeof(WORD);
    EACH (i, a.pixels * width) {
        const uint32_t pixel = i / width, word = i - pixel * width;
        ((WORD *)((uint8_t *)a.p[0] + (int64_t)pixel * a.ldo))[word] =
            word < own ? ((const WORD *)((const uint8_t *)a.p[1] + (int64_t)pixel * a.ldi))[word] : WORD{};
    }
}

/* --- to and from halves --- */

template <class E> __global__ void __launch_bounds__(256) convert_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_convert_args &a = u.convert;
    gpu_chain();
    EACH (i, a.pixels * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = (i - pixel * a.c8) * 8;
        const int64_t from = (int64_t)pixel * a.ldi + chunk, to = (int64_t)pixel * a.ldo + chunk;
        float v[8];
        if (a.to_bytes) {
            gpu_bytes b = {};
            b.gain = a.gain;
            b.zero = a.zero;
            map_of<__half>::load((const __half *)a.p[1] + from, v);
            put_numbers<E>((uint8_t *)a.p[0] + to, b, v);
        } else {
            get_bytes<E>((const uint8_t *)a.p[1] + from, v);
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] = (is_e4m3<E> ? v[e] : v[e] - a.zero) * a.gain;
            map_of<__half>::store((__half *)a.p[0] + to, v);
        }
    }
}

static bool is_low(int32_t type)
{
    return type == GPU_U8 || type == GPU_F8;
}

cudaError_t gpu_start_bytes(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_args *a = l->args;
    const void *function = NULL;
    int64_t count = 0;
    if (l->kind == GPU_DEPTHWISE && is_low(a->depthwise.type))
        return start_depthwise(l, stream);
    if (l->kind == GPU_POOL_CHAIN && is_low(a->pool_chain.type))
        return start_chain(l, stream);
    if (l->kind == GPU_POOL && is_low(a->pool.type)) {
        function = a->pool.type == GPU_F8 ? (const void *)max_pool_bytes<e4m3> : (const void *)max_pool_bytes<uint8_t>;
        count = (int64_t)a->pool.n * a->pool.oh * a->pool.ow * a->pool.c8;
    } else if (l->kind == GPU_RESIZE && is_low(a->resize.type)) {
        function = (const void *)resize_bytes;
        count = (int64_t)a->resize.n * a->resize.oh * a->resize.ow * a->resize.c8;
    } else if (l->kind == GPU_COPY && is_low(a->copy.type)) {
        const uintptr_t all = (uintptr_t)a->p[0] | (uintptr_t)a->p[1] | (uintptr_t)a->copy.c | (uintptr_t)a->copy.zeros;
        const int bytes = all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 1;
        function = bytes == 16  ? (const void *)copy_bytes<uint4>
                   : bytes == 4 ? (const void *)copy_bytes<uint32_t>
                                : (const void *)copy_bytes<uint8_t>;
        count = a->copy.pixels * ((a->copy.c + a->copy.zeros) / bytes);
    } else if (l->kind == GPU_CONVERT) {
        function = a->convert.f8 ? (const void *)convert_bytes<e4m3> : (const void *)convert_bytes<uint8_t>;
        count = a->convert.pixels * a->convert.c8;
    }
    if (!function || count >= 0x7fff0000ll)
        return cudaErrorInvalidValue;
    const int64_t blocks = (count + 255) / 256;
    return gpu_start(function, dim3((unsigned)(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks)), dim3(256), 0, a, 1, l->pdl,
                     stream);
}
