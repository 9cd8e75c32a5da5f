/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.cuh"
#include "mma.cuh"

/* Moving maps 16 bytes a thread: forms of the simple kernels for fp16 and bf16 that networks spend time in. Indices are of 32 bits, as
 * dividing longer ones takes more time than moving; larger maps are left to the simple kernels. */

/* The elements of a thread. */
#define EACH(i, count) \
    for (uint32_t i = blockIdx.x * 256 + threadIdx.x; i < (uint32_t)(count); i += gridDim.x * 256)

__global__ void __launch_bounds__(256) resize_nearest(const __grid_constant__ gpu_args u)
{
    const gpu_resize_args &a = u.resize;
    gpu_chain();
    const int32_t *rows = (const int32_t *)a.p[2], *columns = (const int32_t *)a.p[3];
    EACH (i, a.n * a.oh * a.ow * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = i - pixel * a.c8, line = pixel / a.ow;
        const uint32_t ox = pixel - line * a.ow, image = line / a.oh, oy = line - image * a.oh;
        const int64_t from = ((int64_t)image * a.h + __ldg(rows + 2 * oy)) * a.w + __ldg(columns + 2 * ox);
        *(uint4 *)((__half *)a.p[0] + (int64_t)pixel * a.ldo + chunk * 8) =
            *(const uint4 *)((const __half *)a.p[1] + from * a.ldi + chunk * 8);
    }
}

__global__ void __launch_bounds__(256) shuffle(const __grid_constant__ gpu_args u)
{
    const gpu_shuffle_args &a = u.shuffle;
    gpu_chain();
    const uint32_t ow = 2 * a.w, oh = 2 * a.h;
    EACH (i, a.n * a.h * a.w * 4 * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = i - pixel * a.c8, line = pixel / ow;
        const uint32_t ox = pixel - line * ow, image = line / oh, oy = line - image * oh;
        *(uint4 *)((__half *)a.p[0] + (int64_t)pixel * a.ldo + chunk * 8) =
            *(const uint4 *)((const __half *)a.p[1] + (((int64_t)image * a.h + oy / 2) * a.w + ox / 2) * a.ldi +
                             ((oy % 2 * 2 + ox % 2) * a.c8 + chunk) * 8);
    }
}

/* By words of as many channels as all the numbers are multiples of. */
template <class WORD> __global__ void __launch_bounds__(256) copy_channels(const __grid_constant__ gpu_args u)
{
    constexpr uint32_t N = sizeof(WORD) / 2;
    const gpu_copy_args &a = u.copy;
    gpu_chain();
    const uint32_t width = (a.c + a.zeros) / N, own = a.c / N;
    EACH (i, a.pixels * width) {
        const uint32_t pixel = i / width, word = i - pixel * width;
        ((WORD *)((__half *)a.p[0] + (int64_t)pixel * a.ldo))[word] =
            word < own ? ((const WORD *)((const __half *)a.p[1] + (int64_t)pixel * a.ldi))[word] : WORD{};
    }
}

/* NHWC to planes of floats: 32 pixels x 8 channels a warp; pixels of a thread are neighbours, so writes are whole lines. */
template <class E> __global__ void __launch_bounds__(256) map_to_planes(const __grid_constant__ gpu_args u)
{
    const gpu_form_args &a = u.form;
    gpu_chain();
    const uint32_t c8 = (a.c + 7) / 8, plane = (uint32_t)a.plane;
    EACH (i, a.n * plane * c8) {
        const uint32_t rest = i / plane, at = i - rest * plane;
        const int64_t image = rest / c8;
        const int chunk = (int)(rest % c8);
        const uint4 bits = *(const uint4 *)((const E *)a.p[1] + (image * a.plane + at) * a.ld + chunk * 8);
        float *to = (float *)a.p[0] + (image * a.c + chunk * 8) * a.plane + at;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const float2 two = two_of<E>::unpack(((const uint32_t *)&bits)[k / 2]);
            if (chunk * 8 + k < a.c)
                to[k * a.plane] = k % 2 ? two.y : two.x;
        }
    }
}

template <class E> __global__ void __launch_bounds__(256) max_pool(const __grid_constant__ gpu_args u)
{
    const gpu_pool_args &a = u.pool;
    gpu_chain();
    constexpr uint32_t LOWEST = two_of<E>::LOWEST;
    EACH (i, a.n * a.oh * a.ow * a.c8) {
        const uint32_t pixel = i / a.c8, chunk = i - pixel * a.c8, line = pixel / a.ow;
        const int64_t image = line / a.oh;
        const int ox = (int)(pixel - line * a.ow), oy = (int)(line % a.oh);
        uint32_t best[4] = {LOWEST, LOWEST, LOWEST, LOWEST};
        for (int ky = 0; ky < a.kh; ky++) {
            const int y = oy * a.stride_y + ky - a.pad_y;
            if (y < 0 || y >= a.h)
                continue;
            for (int kx = 0; kx < a.kw; kx++) {
                const int x = ox * a.stride_x + kx - a.pad_x;
                if (x < 0 || x >= a.w)
                    continue;
                const uint4 bits =
                    *(const uint4 *)((const E *)a.p[1] + ((image * a.h + y) * a.w + x) * a.ldi + chunk * 8);
                const uint32_t *v = (const uint32_t *)&bits;
#pragma unroll
                for (int k = 0; k < 4; k++)
                    best[k] = two_of<E>::larger(best[k], v[k]);
            }
        }
        *(uint4 *)((E *)a.p[0] + (int64_t)pixel * a.ldo + chunk * 8) = make_uint4(best[0], best[1], best[2], best[3]);
    }
}

/* Byte pictures of 3 channels to 4, dense: four pixels a thread where their number allows. */
__global__ void __launch_bounds__(256) spread_bytes4(const __grid_constant__ gpu_args u)
{
    const gpu_input_args &a = u.input;
    gpu_chain();
    const int64_t count = (int64_t)a.n * a.h * a.w / 4;
    const uint32_t *from = (const uint32_t *)a.p[1];
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 256) {
        const uint32_t x = from[3 * i], y = from[3 * i + 1], z = from[3 * i + 2];
        ((uint4 *)a.p[0])[i] = make_uint4(x & 0xffffff, (x >> 24 | y << 8) & 0xffffff, (y >> 16 | z << 16) & 0xffffff, z >> 8);
    }
}

/* Byte pictures of 3 channels to 4, dense rows. */
__global__ void __launch_bounds__(256) spread_bytes(const __grid_constant__ gpu_args u)
{
    const gpu_input_args &a = u.input;
    gpu_chain();
    const int64_t count = (int64_t)a.n * a.h * a.w;
    const uint8_t *from = (const uint8_t *)a.p[1];
    for (int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x; i < count; i += (int64_t)gridDim.x * 256)
        ((uchar4 *)a.p[0])[i] = make_uchar4(from[3 * i], from[3 * i + 1], from[3 * i + 2], 0);
}

/* Pictures of up to 8 channels to a map of pitch 8, bytes or planes of floats: a pixel a thread. */
template <class E, bool PLANES> __global__ void __launch_bounds__(256) picture_to_map(const __grid_constant__ gpu_args u)
{
    const gpu_input_args &a = u.input;
    gpu_chain();
    const uint32_t plane = a.h * a.w;
    EACH (i, a.n * plane) {
        const uint32_t image = i / plane, at = i - image * plane, y = at / a.w, x = at - y * a.w;
        const uint8_t *bytes = (const uint8_t *)a.p[1] + image * a.picture_bytes + y * a.row_bytes + x * a.c;
        const float *floats = (const float *)a.p[1] + (int64_t)image * a.c * plane + at;
        float v[8];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            float f = 0.0f;
            if (c < a.c)
                f = PLANES ? floats[(int64_t)c * plane] : (float)bytes[c] * a.gain[c & 3] - a.shift[c & 3];
            v[c] = f;
        }
        ((uint4 *)a.p[0])[i] = make_uint4(two_of<E>::pack(v[0], v[1]), two_of<E>::pack(v[2], v[3]), two_of<E>::pack(v[4], v[5]),
                                          two_of<E>::pack(v[6], v[7]));
    }
}

template <class E> static const void *picture_function(bool planes)
{
    return planes ? (const void *)picture_to_map<E, true> : (const void *)picture_to_map<E, false>;
}
static bool is_narrow(int32_t type)
{
    return type == GPU_F16 || type == GPU_BF16;
}
static dim3 blocks_for(int64_t count)
{
    const int64_t blocks = (count + 255) / 256;
    return dim3((unsigned)(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks));
}
static bool aligned16(const void *p)
{
    return ((uintptr_t)p & 15) == 0;
}

/* Softmax along rows that lie dense: a warp a row. */
__global__ void __launch_bounds__(256) softmax_rows(const __grid_constant__ gpu_args u)
{
    const gpu_row_args &a = u.rows;
    const int in_warp = threadIdx.x & 31;
    gpu_chain();
    const int64_t row = (int64_t)blockIdx.x * 8 + (threadIdx.x >> 5);
    if (row >= a.rows)
        return;
    const float *x = (const float *)a.p[1] + row * a.n;
    float *y = (float *)a.p[0] + row * a.n;
    float best = -INFINITY, sum = 0.0f;
    for (int64_t k = in_warp; k < a.n; k += 32)
        best = fmaxf(best, x[k]);
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, d));
    for (int64_t k = in_warp; k < a.n; k += 32)
        sum += expf(x[k] - best);
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    for (int64_t k = in_warp; k < a.n; k += 32)
        y[k] = expf(x[k] - best) / sum;
}

/* What the numbers of a copy are all multiples of, in halves. */
static const void *copy_function(const gpu_copy_args *a, int *width)
{
    const uintptr_t all = (uintptr_t)a->p[0] | (uintptr_t)a->p[1] | (uintptr_t)(a->c * 2) | (uintptr_t)(a->zeros * 2);
    const int bytes = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 0;
    *width = bytes ? (a->c + a->zeros) * 2 / bytes : 0;
    return bytes == 16  ? (const void *)copy_channels<uint4>
           : bytes == 8 ? (const void *)copy_channels<uint2>
           : bytes == 4 ? (const void *)copy_channels<uint32_t>
                        : NULL;
}

cudaError_t gpu_start_map(const gpu_launch *l, cudaStream_t stream)
{
    const gpu_args *a = l->args;
    const void *function = NULL;
    int64_t count = 0;
    int width;
    if (l->kind == GPU_ROWS && a->rows.op == 0 && a->rows.inner == 1 && a->rows.n >= 32)
        return gpu_start((const void *)softmax_rows, dim3((unsigned)((a->rows.rows + 7) / 8)), dim3(256), 0, a, 1, l->pdl,
                         stream);
    if (l->kind == GPU_RESIZE && is_narrow(a->resize.type) && !a->resize.linear) {
        function = (const void *)resize_nearest;
        count = (int64_t)a->resize.n * a->resize.oh * a->resize.ow * a->resize.c8;
    } else if (l->kind == GPU_SHUFFLE && is_narrow(a->shuffle.type)) {
        function = (const void *)shuffle;
        count = (int64_t)a->shuffle.n * a->shuffle.h * a->shuffle.w * 4 * a->shuffle.c8;
    } else if (l->kind == GPU_COPY && is_narrow(a->copy.type)) {
        function = copy_function(&a->copy, &width);
        count = a->copy.pixels * width;
    } else if (l->kind == GPU_TO_DENSE && is_narrow(a->form.type)) {
        function = a->form.type == GPU_F16 ? (const void *)map_to_planes<__half> : (const void *)map_to_planes<__nv_bfloat16>;
        count = (int64_t)a->form.n * a->form.plane * ((a->form.c + 7) / 8);
    } else if (l->kind == GPU_POOL && is_narrow(a->pool.type) && !a->pool.average) {
        function = a->pool.type == GPU_F16 ? (const void *)max_pool<__half> : (const void *)max_pool<__nv_bfloat16>;
        count = (int64_t)a->pool.n * a->pool.oh * a->pool.ow * a->pool.c8;
    } else if (l->kind == GPU_INPUT && a->input.type == 0 && a->input.c == 3 && !a->input.planes) {
        count = (int64_t)a->input.n * a->input.h * a->input.w;
        const bool four = count % 4 == 0 && aligned16(a->p[0]) && aligned16(a->p[1]);
        function = four ? (const void *)spread_bytes4 : (const void *)spread_bytes;
        count = four ? count / 4 : count;
    } else if (l->kind == GPU_INPUT && is_narrow(a->input.type) && a->input.ld == 8 &&
               (a->input.planes || a->input.c <= 4)) {
        count = (int64_t)a->input.n * a->input.h * a->input.w;
        function = a->input.type == GPU_F16 ? picture_function<__half>(a->input.planes)
                                            : picture_function<__nv_bfloat16>(a->input.planes);
    }
    if (!function || count >= 0x7fff0000ll)
        return cudaErrorInvalidValue;
    return gpu_start(function, blocks_for(count), dim3(256), 0, a, 1, l->pdl, stream);
}
