/* SPDX-License-Identifier: Apache-2.0 */
#include "on_device.cuh"

#include "bytes.cuh"
#include "element.h"
#include "tasks/picture_formula.h"

/* First convolution from pictures, depthwise convolution, chained pools. */

/* --- the first convolution: 3x3, stride 2, 4-channel pictures --- */

/* Four bytes as two packed halves each: byte / 256, exact. */
__device__ __forceinline__ uint2 bytes_to_halves(uint32_t bits)
{
    /* 0x64bb is the half 1024 + bb */
    uint32_t low = __byte_perm(bits, 0x64646464, 0x4140), high = __byte_perm(bits, 0x64646464, 0x4342);
    const __half2 offset = __halves2half2(__ushort_as_half(0x6400), __ushort_as_half(0x6400));
    const __half2 scale = __halves2half2(__ushort_as_half(0x1c00), __ushort_as_half(0x1c00)); /* 2^-8 */
    const __half2 a = __hmul2(__hsub2(*(__half2 *)&low, offset), scale);
    const __half2 b = __hmul2(__hsub2(*(__half2 *)&high, offset), scale);
    return make_uint2(*(const uint32_t *)&a, *(const uint32_t *)&b);
}

/* The same as 1024 + byte: as it is put together. */
__device__ __forceinline__ uint2 bytes_beside_1024(uint32_t bits)
{
    return make_uint2(__byte_perm(bits, 0x64646464, 0x4140), __byte_perm(bits, 0x64646464, 0x4342));
}

/* The three rows of a byte picture that a warp's PIXELS pixels of the result take from, in shared memory: 16 bytes at a time,
 * from the last multiple of 16 before the first pixel on. FORM: bytes of a pixel; of 3, a fourth is read that is anything. */
template <int PIXELS, int FORM> struct picture_rows {
    static constexpr int PIECES = ((2 * PIXELS + 2) * FORM + 15 + 15) / 16;
    uint32_t rows[3][PIECES * 4];
    /* Of a pixel's bytes in the picture; before the picture's first byte where the border is there. */
    static __device__ __forceinline__ long long start(const gpu_first_args &p, int n, int y, int x0, int r)
    {
        return (((long long)n * p.h + 2 * y - p.pad_y + r) * p.w + 2 * x0 - p.pad_x) * FORM;
    }
    __device__ __forceinline__ void load(const gpu_first_args &p, int n, int y, int x0, int in_warp)
    {
        const long long all = ((long long)p.n * p.h * p.w * FORM + 15) & ~15ll; /* buffers end at such a multiple */
        for (int x = in_warp; x < 3 * PIECES; x += 32) {
            const int r = x / PIECES, piece = x % PIECES, iy = 2 * y - p.pad_y + r;
            const long long from = (start(p, n, y, x0, r) & ~15ll) + 16 * piece;
            copy16(shared_address(&rows[r][4 * piece]), (const char *)p.p[1] + from,
                   iy >= 0 && iy < p.h && from >= 0 && from < all);
        }
        copy_commit();
        copy_wait<0>();
        __syncwarp();
    }
    /* The bytes of pixel `at` from the first on; `skip`: bytes before that one. */
    __device__ __forceinline__ uint32_t pixel(int r, int skip, int at) const
    {
        const int byte = skip + at * FORM, word = byte >> 2;
        return FORM == 4 ? rows[r][word] : __funnelshift_r(rows[r][word], rows[r][word + 1], 8 * (byte & 3));
    }
};

/* A warp makes MT x 16 pixels of one row. k of one product is one kernel row: 4 pixels x 4 channels, the fourth of each
 * with weight zero. Pictures: of halves (FORM 8), or of bytes (4 or 3). */
template <int MT, int COUT, int FORM, class E> __global__ void __launch_bounds__(128) first_conv(const __grid_constant__ gpu_args u)
{
    constexpr int NT = COUT / 8;
    constexpr bool BYTES = FORM < 8, TO_BYTES = sizeof(E) == 1;
    __shared__ __align__(16) picture_rows<16 * MT, BYTES ? FORM : 1> staged[BYTES ? 4 : 1];
    const gpu_first_args &p = u.first;
    const int in_warp = threadIdx.x & 31, g = in_warp >> 2, t = in_warp & 3;
    const int w = blockIdx.x * 4 + (threadIdx.x >> 5), across = p.ow / (16 * MT);
    const uint32_t *weights = (const uint32_t *)p.p[2];
    const float *bias = (const float *)p.p[3];
    uint32_t b[3][NT][2];
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int h = 0; h < 2; h++)
                b[r][j][h] = weights[((r * NT + j) * 2 + h) * 32 + in_warp];
    gpu_chain();
    if (w >= p.n * p.oh * across)
        return;
    const int x0 = w % across * 16 * MT, y = (w / across) % p.oh, n = w / across / p.oh;
    auto &own = staged[BYTES ? threadIdx.x >> 5 : 0];
    if (BYTES)
        own.load(p, n, y, x0, in_warp);
    float acc[MT][NT][4];
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int e = 0; e < NT * 4; e++)
            acc[i][e / 4][e % 4] = 0;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        const int iy = 2 * y - p.pad_y + r;
        const bool row_inside = iy >= 0 && iy < p.h;
        const long long row = ((long long)n * p.h + iy) * p.w;
        const int skip = BYTES ? (int)(own.start(p, n, y, x0, r) & 15) : 0;
#pragma unroll
        for (int i = 0; i < MT; i++) {
            uint32_t a[4];
#pragma unroll
            for (int z = 0; z < 2; z++) {
                const int at = 2 * (i * 16 + g + z * 8) + t, ix = 2 * x0 - p.pad_x + at;
                const bool inside = row_inside && (unsigned)ix < (unsigned)p.w;
                uint2 v = make_uint2(0, 0);
                if constexpr (BYTES && TO_BYTES)
                    v = bytes_beside_1024(inside ? own.pixel(r, skip, at) : 0);
                else if (inside)
                    v = BYTES ? bytes_to_halves(own.pixel(r, skip, at)) : __ldg((const uint2 *)p.p[1] + row + ix);
                a[z] = v.x;
                a[z + 2] = v.y;
            }
#pragma unroll
            for (int j = 0; j < NT; j++)
                mma(acc[i][j], a, b[r][j][0], b[r][j][1]);
        }
    }
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int pixel = (n * p.oh + y) * p.ow + x0 + i * 16 + h * 8 + g;
#pragma unroll
            for (int j = 0; j < NT; j += 2) {
                float v[4];
#pragma unroll
                for (int e = 0; e < 4; e++)
                    v[e] = acc[i][j + e / 2][2 * h + e % 2] + __ldg(bias + j * 8 + t * 4 + e);
                if constexpr (!TO_BYTES)
                    store_channels<E, 4, false>(p, pixel, j * 8 + t * 4, v);
                else if (p.bytes.half)
                    put_silu<E>((uint8_t *)p.p[0] + (long long)pixel * p.ldo + j * 8 + t * 4, p.bytes, v, beside<SILU_ALONE, 4>());
                else
                    finish_bytes<E, 4, false>(p, pixel, j * 8 + t * 4, v);
            }
        }
}

/* E: of what is written. */
template <int MT, int COUT, class E> static const void *first_function(int pixel_bytes)
{
    return pixel_bytes == 3   ? (const void *)first_conv<MT, COUT, 3, E>
           : pixel_bytes == 4 ? (const void *)first_conv<MT, COUT, 4, E>
                              : (const void *)first_conv<MT, COUT, 8, E>;
}
template <int MT, int COUT> static cudaError_t start_first(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_first_args *a = &l->args->first;
    const void *function = a->bytes.out           ? a->bytes.f8 ? first_function<MT, COUT, e4m3>(a->pixel_bytes)
                                                                 : first_function<MT, COUT, uint8_t>(a->pixel_bytes)
                           : a->type == GPU_BF16 ? first_function<MT, COUT, __nv_bfloat16>(a->pixel_bytes)
                                                 : first_function<MT, COUT, __half>(a->pixel_bytes);
    const int warps = a->n * a->oh * (a->ow / (16 * MT));
    return gpu_start(function, dim3((warps + 3) / 4), dim3(128), 0, l->args, 1, l->pdl, stream);
}

/* --- depthwise K x K, stride 1: 8 channels x PX columns x RY rows a thread, so that a row of the input is read for RY rows --- */

template <class E, int K, int PX, int RY> __global__ void __launch_bounds__(128) depthwise(const __grid_constant__ gpu_args u)
{
    constexpr bool HELD = K == 3; /* all weights are fetched ahead; else a row of them at a time */
    const gpu_depthwise_args &p = u.depthwise;
    const int across = p.ow / PX, down = (p.oh + RY - 1) / RY;
    const int i = blockIdx.x * 128 + threadIdx.x; /* below 2^31: start_depthwise */
    const bool valid = i < p.n * down * across * p.c8;
    const int c = i % p.c8, q = i / p.c8;
    const int x0 = q % across * PX, y0 = q / across % down * RY, n = q / across / down;
    float acc[RY][PX][8];
    uint4 w[HELD ? K * K : K];
    auto fetch = [&](int k) { return *(const uint4 *)((const E *)p.p[2] + (k * p.c8 + c) * 8); };
    if (valid) {
        const float *bias = (const float *)p.p[3] + c * 8;
#pragma unroll
        for (int e = 0; e < 8; e++) {
            const float b = bias[e];
#pragma unroll
            for (int k = 0; k < RY * PX; k++)
                acc[k / PX][k % PX][e] = b;
        }
#pragma unroll
        for (int k = 0; HELD && k < K * K; k++)
            w[k] = fetch(k);
    }
    gpu_chain();
    if (!valid)
        return;
    const E *image = (const E *)p.p[1] + (long long)n * p.h * p.w * p.ldi + c * 8;
    auto row = [&](int r) { /* of the RY + K - 1 that the rows of the result take from */
        const int iy = y0 + r - p.pad_y;
        if (iy < 0 || iy >= p.h)
            return;
        uint4 v[PX + K - 1];
#pragma unroll
        for (int k = 0; k < PX + K - 1; k++) {
            const int ix = x0 + k - p.pad_x;
            v[k] = make_uint4(0, 0, 0, 0);
            if (ix >= 0 && ix < p.w)
                v[k] = *(const uint4 *)(image + (iy * p.w + ix) * p.ldi);
        }
#pragma unroll
        for (int k = 0; !HELD && k < K; k++)
            w[k] = fetch(r * K + k);
#pragma unroll
        for (int y = 0; y < RY; y++) {
            if (HELD && (r < y || r >= y + K))
                continue;
#pragma unroll
            for (int s = 0; s < K; s++)
#pragma unroll
                for (int k = 0; k < PX; k++)
#pragma unroll
                    for (int e = 0; e < 4; e++) {
                        const float2 a = two_of<E>::unpack(((const uint32_t *)&v[k + s])[e]);
                        const float2 b = two_of<E>::unpack(((const uint32_t *)&w[HELD ? (r - y) * K + s : s])[e]);
                        acc[y][k][2 * e] = fmaf(a.x, b.x, acc[y][k][2 * e]);
                        acc[y][k][2 * e + 1] = fmaf(a.y, b.y, acc[y][k][2 * e + 1]);
                    }
        }
    };
    static_assert(HELD || RY == 1, "a row of weights is for a row of the result");
    if constexpr (HELD) {
#pragma unroll
        for (int r = 0; r < RY + K - 1; r++)
            row(r);
    } else {
#pragma unroll 1
        for (int r = 0; r < K; r++)
            row(r);
    }
#pragma unroll
    for (int y = 0; y < RY; y++)
#pragma unroll
        for (int k = 0; k < PX; k++)
            if (RY == 1 || y0 + y < p.oh)
                store_channels<E, 8>(p, ((long long)n * p.oh + y0 + y) * p.ow + x0 + k, c * 8, acc[y][k]);
}

template <int K, int PX, int RY> static cudaError_t start_depthwise_by(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_depthwise_args *a = &l->args->depthwise;
    const long long all = (long long)a->n * ((a->oh + RY - 1) / RY) * (a->ow / PX) * a->c8;
    const void *function = a->type == GPU_BF16 ? (const void *)depthwise<__nv_bfloat16, K, PX, RY>
                                               : (const void *)depthwise<__half, K, PX, RY>;
    return gpu_start(function, dim3((unsigned)((all + 127) / 128)), dim3(128), 0, l->args, 1, l->pdl, stream);
}

static cudaError_t start_depthwise(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_depthwise_args *a = &l->args->depthwise;
    const long long all = (long long)a->n * a->oh * a->ow * a->c8;
    if (all > 0x7fff0000ll)
        return cudaErrorInvalidValue;
    const bool two = a->ow % 2 == 0;
    switch (a->k) {
    case 3:
        return a->ow % 4 == 0 && all > 400000 ? start_depthwise_by<3, 4, 1>(l, stream)
               : two && all > 100000          ? start_depthwise_by<3, 2, 1>(l, stream)
                                              : start_depthwise_by<3, 1, 1>(l, stream);
    case 5:
        return two && all > 100000 ? start_depthwise_by<5, 2, 1>(l, stream) : start_depthwise_by<5, 1, 1>(l, stream);
    case 7:
        return two && all > 100000 ? start_depthwise_by<7, 2, 1>(l, stream) : start_depthwise_by<7, 1, 1>(l, stream);
    default: return cudaErrorInvalidValue;
    }
}

/* --- three chained max pools: windows of 1 + j (K - 1), rows first, then columns, CH channels a block. What would lie outside is
 * the border once more, which is in the window anyway. --- */

template <class E, class WORD> __device__ __forceinline__ WORD larger(WORD x, WORD y)
{
    WORD z;
#pragma unroll
    for (int k = 0; k < (int)sizeof(WORD) / 4; k++)
        ((uint32_t *)&z)[k] = two_of<E>::larger(((const uint32_t *)&x)[k], ((const uint32_t *)&y)[k]);
    return z;
}

/* R: of the window, to each side; 0: a.k says. */
template <class E, class WORD, int R> __global__ void __launch_bounds__(512) pool_chain(const __grid_constant__ gpu_args u)
{
    const gpu_pool_chain_args &a = u.pool_chain;
    constexpr int CH = sizeof(WORD) / 2;
    extern __shared__ __align__(16) char pool_memory[]; /* the input, then three row-wise results */
    WORD *plane = (WORD *)pool_memory;
    const int pixels = a.h * a.w, chunk = blockIdx.x, n = blockIdx.y, r = R ? R : a.k / 2;
    gpu_chain();
    const E *in = (const E *)a.p[1] + (long long)n * pixels * a.ldi + chunk * CH;
    for (int i = threadIdx.x; i < pixels; i += 512)
        plane[i] = *(const WORD *)(in + (long long)i * a.ldi);
    __syncthreads();
    for (int i = threadIdx.x; i < pixels; i += 512) {
        const int x = i % a.w, row = i - x;
        WORD best = plane[i];
#pragma unroll
        for (int j = 1; j <= 3; j++) {
#pragma unroll
            for (int d = (j - 1) * r + 1; d <= j * r; d++) {
                best = larger<E>(best, plane[row + max(x - d, 0)]);
                best = larger<E>(best, plane[row + min(x + d, a.w - 1)]);
            }
            plane[j * pixels + i] = best;
        }
    }
    __syncthreads();
    E *out[3] = {(E *)a.p[0], (E *)a.p[2], (E *)a.p[3]};
    for (int i = threadIdx.x; i < pixels; i += 512) {
        const int y = i / a.w, x = i - y * a.w;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const WORD *rows = plane + (j + 1) * pixels;
            WORD best = rows[i];
#pragma unroll
            for (int d = 1; d <= (j + 1) * r; d++) {
                best = larger<E>(best, rows[max(y - d, 0) * a.w + x]);
                best = larger<E>(best, rows[min(y + d, a.h - 1) * a.w + x]);
            }
            *(WORD *)(out[j] + ((long long)n * pixels + i) * a.ldo[j] + chunk * CH) = best;
        }
    }
}

template <class E> static const void *chain_function(int k, bool narrow)
{
    return k == 5   ? narrow ? (const void *)pool_chain<E, uint32_t, 2> : (const void *)pool_chain<E, uint4, 2>
           : narrow ? (const void *)pool_chain<E, uint32_t, 0>
                    : (const void *)pool_chain<E, uint4, 0>;
}

static cudaError_t start_chain(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_pool_chain_args *a = &l->args->pool_chain;
    const bool narrow = a->c8 * a->n < 64; /* few images: more blocks with fewer channels */
    const int bytes = 4 * a->h * a->w * (narrow ? 4 : 16);
    const void *function = a->type == GPU_BF16 ? chain_function<__nv_bfloat16>(a->k, narrow) : chain_function<__half>(a->k, narrow);
    if (bytes > 48 * 1024) {
        const cudaError_t e = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        if (e != cudaSuccess)
            return e;
    }
    return gpu_start(function, dim3(narrow ? 4 * a->c8 : a->c8, a->n), dim3(512), bytes, l->args, 1, l->pdl, stream);
}

/* --- places that pass: a place a thread; rows are copied by the whole block --- */

__global__ void __launch_bounds__(128) gather_places(const __grid_constant__ gpu_args u)
{
    const gpu_gather_args &a = u.gather;
    __shared__ int found[128], count, first;
    const int blocks = (a.places + 127) / 128, image = blockIdx.x / blocks;
    const int place = (blockIdx.x % blocks) * 128 + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    gpu_chain();
    __syncthreads();
    if (place < a.places) {
        const __half *scores = (const __half *)a.p[1] + ((long long)image * a.places + place) * a.lds;
        float best = -INFINITY;
        for (int c = 0; c < a.classes; c++)
            best = fmaxf(best, __half2float(scores[c]));
        if (best > a.bound)
            found[atomicAdd(&count, 1)] = place;
    }
    __syncthreads();
    if (count == 0)
        return;
    int *header = (int *)a.p[0] + image * a.image_words;
    if (threadIdx.x == 0)
        first = atomicAdd(header, count);
    __syncthreads();
    for (int i = 0; i < count; i++) {
        const int row = first + i;
        if (row >= a.capacity)
            break;
        int *to = header + 4 + (long long)row * a.row_words;
        const long long at = (long long)image * a.places + found[i];
        if (threadIdx.x == 0)
            to[0] = a.first + found[i];
        float *values = (float *)(to + 1);
        for (int c = threadIdx.x; c < a.classes; c += 128)
            values[c] = __half2float(((const __half *)a.p[1])[at * a.lds + c]);
        values += a.classes;
        for (int k = 0; k < a.n_others; k++) {
            for (int c = threadIdx.x; c < a.c[k]; c += 128)
                values[c] = __half2float(((const __half *)a.p[2 + k])[at * a.ld[k] + c]);
            values += a.c[k];
        }
    }
}

static cudaError_t start_gather(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_gather_args *a = &l->args->gather;
    return gpu_start((const void *)gather_places, dim3((unsigned)((a->places + 127) / 128 * a->n)), dim3(128), 0, l->args, 1,
                     l->pdl, stream);
}

/* --- frames into 4-channel byte pictures: a pixel a thread, tables once --- */

/* A pixel of a crop that lies turned or has something painted over in it. */
__device__ __noinline__ int3 crop_pixel(const gpu_letterbox_args &a, const uint8_t *frame, int y, int x)
{
    return make_int3(gpu_frame_value(&a, frame, y, x, 0), gpu_frame_value(&a, frame, y, x, 1),
                     gpu_frame_value(&a, frame, y, x, 2));
}

/* The three channels of a frame's pixel; grey is spread, BGR turned round, NV12 made RGB. */
template <bool CROPS>
__device__ __forceinline__ int3 frame_pixel(const gpu_letterbox_args &a, const uint8_t *frame, int y, int x)
{
    if (CROPS && (a.view.turned == 1 || a.view.n_boxes > 0))
        return crop_pixel(a, frame, y, x);
    const uint8_t *row = frame + y * a.row_bytes;
    if (a.nv12) {
        const uchar2 c = __ldg((const uchar2 *)(frame + (a.frame_h + (y >> 1)) * a.row_bytes + (x & ~1)));
        const sk_rgb p = sk_nv12_pixel(&a.weights, __ldg(row + x), c.x, c.y);
        return a.swap ? make_int3(p.blue, p.green, p.red) : make_int3(p.red, p.green, p.blue);
    }
    if (a.channels == 1) {
        const int v = __ldg(row + x);
        return make_int3(v, v, v);
    }
    const uint8_t *p = row + 3 * x;
    const int first = __ldg(p), second = __ldg(p + 1), third = __ldg(p + 2);
    return a.swap ? make_int3(third, second, first) : make_int3(first, second, third);
}

template <bool CROPS>
__global__ void __launch_bounds__(256) letterbox_bytes(const __grid_constant__ gpu_args u)
{
    gpu_letterbox_args a = u.letterbox;
    const int image = blockIdx.z, y = blockIdx.y, x = blockIdx.x * 256 + threadIdx.x;
    gpu_chain();
    if (x >= a.w)
        return;
    if (CROPS)
        gpu_take_crop(&a, image);
    uchar4 *out = (uchar4 *)a.p[0] + ((long long)image * a.h + y) * a.w + x;
    const int px = x - a.left, py = y - a.top;
    if (px < 0 || px >= a.rw || py < 0 || py >= a.rh) {
        *out = make_uchar4((unsigned char)a.border, (unsigned char)a.border, (unsigned char)a.border, 0);
        return;
    }
    const uint8_t *frame = (const uint8_t *)a.p[1] + image * a.picture_bytes;
    if (a.mode == 0) {
        const int3 v = frame_pixel<CROPS>(a, frame, py, px);
        *out = make_uchar4((unsigned char)v.x, (unsigned char)v.y, (unsigned char)v.z, 0);
        return;
    }
    int2 columns = make_int2(2 * px, 2 * px + 1), rows = make_int2(2 * py, 2 * py + 1);
    if (a.mode == 1) {
        columns = __ldg((const int2 *)a.p[2] + px);
        rows = __ldg((const int2 *)a.p[3] + py);
    }
    const int3 v00 = frame_pixel<CROPS>(a, frame, rows.x, columns.x), v01 = frame_pixel<CROPS>(a, frame, rows.x, columns.y);
    const int3 v10 = frame_pixel<CROPS>(a, frame, rows.y, columns.x), v11 = frame_pixel<CROPS>(a, frame, rows.y, columns.y);
    if (a.mode == 2) {
        *out = make_uchar4(sk_linear_half(v00.x, v01.x, v10.x, v11.x), sk_linear_half(v00.y, v01.y, v10.y, v11.y),
                           sk_linear_half(v00.z, v01.z, v10.z, v11.z), 0);
        return;
    }
    const short2 wx = __ldg((const short2 *)a.p[4] + px), wy = __ldg((const short2 *)a.p[5] + py);
    auto mix = [&](int a0, int a1, int b0, int b1) {
        return sk_linear_down(sk_linear_across(a0, a1, wx.x, wx.y), sk_linear_across(b0, b1, wx.x, wx.y), wy.x, wy.y);
    };
    *out = make_uchar4(mix(v00.x, v01.x, v10.x, v11.x), mix(v00.y, v01.y, v10.y, v11.y), mix(v00.z, v01.z, v10.z, v11.z),
                       0);
}

static cudaError_t start_letterbox(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_letterbox_args *a = &l->args->letterbox;
    const void *kernel = a->table_bytes ? (const void *)letterbox_bytes<true> : (const void *)letterbox_bytes<false>;
    return gpu_start(kernel, dim3((a->w + 255) / 256, a->h, a->n), dim3(256), 0, l->args, 1, l->pdl,
                     stream);
}

cudaError_t gpu_start_special(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_args *a = l->args;
    if (l->kind == GPU_FIRST) {
        const bool wide = a->first.ow % 64 == 0;
        if (l->variant == 16)
            return wide ? start_first<4, 16>(l, stream) : start_first<1, 16>(l, stream);
        if (l->variant == 32)
            return a->first.ow % 32 == 0 ? start_first<2, 32>(l, stream) : start_first<1, 32>(l, stream);
        return l->variant == 64 ? start_first<1, 64>(l, stream) : cudaErrorInvalidValue;
    }
    if (l->kind == GPU_GATHER && a->gather.type == GPU_F16)
        return start_gather(l, stream);
    if (l->kind == GPU_LETTERBOX && a->letterbox.type == 0 && a->letterbox.n < 65536)
        return start_letterbox(l, stream);
    if (l->kind == GPU_DEPTHWISE && (a->depthwise.type == GPU_F16 || a->depthwise.type == GPU_BF16) && a->depthwise.stride == 1) {
        const cudaError_t e = start_depthwise(l, stream);
        if (e != cudaErrorInvalidValue)
            return e;
    }
    if (l->kind == GPU_POOL_CHAIN && (a->pool_chain.type == GPU_F16 || a->pool_chain.type == GPU_BF16) && a->pool_chain.k >= 3)
        return start_chain(l, stream);
    return cudaErrorInvalidValue;
}
