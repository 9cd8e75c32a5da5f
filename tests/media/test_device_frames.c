/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that stay on the GPU that decoded them, on a stand-in for NVIDIA's driver (fake_nvidia.c) whose memory is the host's: what is
 * copied where, what of the driver is given back, and what people are told when it refuses. */
#include "fake_nvidia.h"
#include "support/test.h"

#ifdef SKITTER_HAVE_FFMPEG
#include "media/cuda_frames_ffmpeg.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static fake_nvidia *gpu;

static void needs_ffmpeg(void)
{
    sk_error err = {0};
    if (sk_ffmpeg_load("a test", &err) != SK_OK)
        skip();
}

static sk_cuda *opened(int32_t index, AVBufferRef **device)
{
    char why[160] = "";
    sk_cuda *cuda = sk_cuda_open(index, device, why, sizeof why);
    if (!cuda && strstr(why, "built without CUDA"))
        skip();
    if (!cuda)
        fail_msg("%s", why);
    return cuda;
}

static void everything_was_given_back(void)
{
    assert_int_equal(gpu->contexts, 0);
    assert_int_equal(gpu->pushed, 0);
    assert_int_equal(gpu->streams, 0);
    assert_int_equal(gpu->blocks, 0);
}

/* In a process of its own, where the driver that was loaded first is an older one. */
static void what_an_old_driver_lacks_is_said(void **state)
{
    (void)state;
    needs_ffmpeg();
    int ends[2], code = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        char path[512], why[160] = "";
        AVBufferRef *device = NULL;
        snprintf(path, sizeof path, "%s/tests/fake_cuda.so", getenv("SKITTER_TEST_BUILD"));
        if (!dlopen(path, RTLD_NOW | RTLD_GLOBAL))
            _exit(2);
        const bool none = sk_cuda_open(0, &device, why, sizeof why) == NULL;
        _exit(write(ends[1], why, sizeof why) == sizeof why && none ? 0 : 1);
    }
    char why[160] = "";
    close(ends[1]);
    assert_int_equal(read(ends[0], why, sizeof why), sizeof why);
    close(ends[0]);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    assert_string_equal(why, "libcuda.so.1 lacks cuDeviceGetCount: the driver is too old");
}

static void a_gpu_that_cannot_be_had_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *fails;
        int32_t index;
        const char *why;
    } cases[] = {
        {"cuInit", 0, "GPU 0: something is wrong"},
        {"cuDeviceGetCount", 1, "GPU 1: something is wrong"},
        {NULL, 3, "GPU 3: there is no such GPU"},
        {"cuDevicePrimaryCtxRetain", 2, "GPU 2: something is wrong"},
        {"cuCtxPushCurrent_v2", 0, "GPU 0: something is wrong"},
        {"cuStreamCreate", 2, "GPU 2: something is wrong"},
    };
    needs_ffmpeg();
    gpu->devices = 3;
    gpu->error = 999;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AVBufferRef *device = NULL;
        char why[160] = "";
        gpu->fails = cases[i].fails;
        assert_null(sk_cuda_open(cases[i].index, &device, why, sizeof why));
        assert_string_equal(why, cases[i].why);
        assert_null(device);
        everything_was_given_back();
    }
    gpu->fails = NULL;
    AVBufferRef *device = NULL;
    sk_cuda *cuda = opened(2, &device); /* the last one */
    assert_int_equal(gpu->last_index, 2);
    assert_int_equal(gpu->contexts, 1);
    assert_int_equal(gpu->streams, 1);
    assert_int_equal(gpu->pushed, 0);
    sk_ff.av_buffer_unref(&device);
    sk_cuda_release(cuda);
    everything_was_given_back();
}

static AVBufferRef *no_device(enum AVHWDeviceType type)
{
    assert_int_equal(type, AV_HWDEVICE_TYPE_CUDA);
    return NULL;
}

static int refused(AVBufferRef *device)
{
    (void)device;
    return AVERROR(ENOSYS);
}

static void an_ffmpeg_without_cuda_is_said(void **state)
{
    (void)state;
    AVBufferRef *device = NULL;
    char why[160] = "";
    needs_ffmpeg();
    const sk_ffmpeg real = sk_ff;
    sk_ff.av_hwdevice_ctx_alloc = no_device;
    assert_null(sk_cuda_open(0, &device, why, sizeof why));
    sk_ff = real;
    assert_string_equal(why, "this FFmpeg is built without CUDA, or memory ran out");
    everything_was_given_back();
    sk_ff.av_hwdevice_ctx_init = refused;
    sk_cuda *cuda = sk_cuda_open(0, &device, why, sizeof why);
    sk_ff = real;
    assert_null(cuda);
    assert_null(device);
    if (strstr(why, "built without CUDA"))
        skip();
    assert_string_equal(why, sk_ffmpeg_text(AVERROR(ENOSYS)));
    everything_was_given_back();
}

static void who_holds_a_gpu_keeps_it(void **state)
{
    (void)state;
    AVBufferRef *device = NULL;
    needs_ffmpeg();
    sk_cuda *cuda = opened(0, &device);
    sk_ff.av_buffer_unref(&device);
    assert_ptr_equal(sk_cuda_hold(cuda), cuda);
    assert_null(sk_cuda_hold(NULL));
    sk_cuda_release(cuda);
    assert_int_equal(gpu->contexts, 1);
    sk_cuda_release(cuda);
    everything_was_given_back();
    sk_cuda_release(NULL);
}

static void engines_and_memory_are_asked_for(void **state)
{
    (void)state;
    AVBufferRef *device = NULL;
    needs_ffmpeg();
    sk_cuda *cuda = opened(0, &device);
    gpu->error = 1;
    gpu->engines = 7;
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_H264), 7);
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_HEVC), 6);
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_VP9), 5);
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_MPEG4), 0);
    gpu->fails = "cuvidGetDecoderCaps";
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_H264), 0);
    gpu->fails = NULL;
    gpu->engines = 3;
    assert_int_equal(sk_cuda_free_bytes(cuda), (size_t)8 << 30);
    gpu->fails = "cuMemGetInfo_v2";
    assert_int_equal(sk_cuda_free_bytes(cuda), 0);
    gpu->fails = "cuCtxPushCurrent_v2";
    assert_int_equal(sk_cuda_free_bytes(cuda), 0);
    assert_int_equal(sk_cuda_engines(cuda, AV_CODEC_ID_H264), 0);
    gpu->fails = NULL;
    assert_int_equal(gpu->pushed, 0);
    sk_ff.av_buffer_unref(&device);
    sk_cuda_release(cuda);
    everything_was_given_back();
}

static void only_eight_bit_frames_of_the_gpu_stay(void **state)
{
    (void)state;
    AVHWFramesContext frames = {.sw_format = AV_PIX_FMT_NV12};
    AVBufferRef held = {.data = (uint8_t *)&frames};
    AVFrame frame = {.format = AV_PIX_FMT_CUDA, .hw_frames_ctx = &held};
    assert_true(sk_cuda_holds(&frame));
    frames.sw_format = AV_PIX_FMT_P010;
    assert_false(sk_cuda_holds(&frame));
    frames.sw_format = AV_PIX_FMT_NV12;
    frame.format = AV_PIX_FMT_NV12;
    assert_false(sk_cuda_holds(&frame));
    frame.format = AV_PIX_FMT_CUDA;
    frame.hw_frames_ctx = NULL;
    assert_false(sk_cuda_holds(&frame));
}

/* Of the decoder: luma and chroma with rows of different lengths, in one block. */
enum { LUMA_PITCH = 700, CHROMA_PITCH = 650, ROWS = 64 };
static uint8_t surface[ROWS * (LUMA_PITCH + CHROMA_PITCH)];

static AVFrame surface_of(int width, int height)
{
    for (size_t i = 0; i < sizeof surface; i++)
        surface[i] = (uint8_t)(i * 7 + i / 251);
    return (AVFrame){.width = width,
                     .height = height,
                     .format = AV_PIX_FMT_CUDA,
                     .colorspace = AVCOL_SPC_BT709,
                     .color_range = AVCOL_RANGE_JPEG,
                     .data = {surface, surface + ROWS * LUMA_PITCH},
                     .linesize = {LUMA_PITCH, CHROMA_PITCH}};
}

static void frames_are_copied_on_the_device(void **state)
{
    (void)state;
    static const struct {
        int width, height;
        ptrdiff_t stride;
        int columns, chroma_rows;
    } cases[] = {{160, 40, 256, 160, 20},
                 {256, 12, 256, 256, 6},
                 {257, 9, 512, 258, 5},
                 {513, 64, 768, 514, 32},
                 {1, 1, 256, 2, 1}};
    AVBufferRef *device = NULL;
    sk_error err = {0};
    needs_ffmpeg();
    gpu->devices = 2;
    sk_cuda *cuda = opened(1, &device);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_slot slot = {.frame = {.chroma_stride = 77}};
        const AVFrame frame = surface_of(cases[i].width, cases[i].height);
        const int waits = gpu->waits;
        assert_ok(sk_cuda_take(cuda, "v.mp4", &frame, &slot, &err), &err);
        assert_int_equal(gpu->waits, waits + 1);
        const sk_frame *f = &slot.frame;
        assert_int_equal(f->format, SK_PIXEL_NV12);
        assert_int_equal(f->place, SK_PLACE_CUDA);
        assert_int_equal(f->device, 1);
        assert_int_equal(f->width, cases[i].width);
        assert_int_equal(f->height, cases[i].height);
        assert_int_equal(f->stride, cases[i].stride);
        assert_int_equal(f->chroma_stride, 0);
        assert_int_equal(f->matrix, SK_COLOUR_BT709);
        assert_true(f->full_range);
        assert_ptr_equal(f->data, slot.device_memory);
        const uint8_t *chroma = f->chroma;
        assert_ptr_equal(chroma, f->data + f->stride * f->height);
        assert_int_equal(slot.device_capacity,
                         (size_t)f->stride * (size_t)(f->height + cases[i].chroma_rows));
        for (int y = 0; y < f->height; y++)
            assert_memory_equal(f->data + f->stride * y, surface + y * LUMA_PITCH, (size_t)cases[i].columns);
        for (int y = 0; y < cases[i].chroma_rows; y++)
            assert_memory_equal(chroma + f->stride * y, surface + ROWS * LUMA_PITCH + y * CHROMA_PITCH,
                                (size_t)cases[i].columns);
        assert_int_equal(gpu->blocks, 1);
        sk_slot_free(&slot);
        assert_int_equal(gpu->blocks, 0);
        assert_int_equal(gpu->pushed, 0);
    }
    sk_ff.av_buffer_unref(&device);
    sk_cuda_release(cuda);
    everything_was_given_back();
}

/* A slot keeps its memory as long as it is large enough and of this device; it holds the device as long. */
static void a_slot_keeps_its_memory(void **state)
{
    (void)state;
    AVBufferRef *devices[2] = {NULL, NULL};
    sk_error err = {0};
    sk_slot slot = {0};
    needs_ffmpeg();
    sk_cuda *first = opened(0, &devices[0]), *second = opened(0, &devices[1]);
    AVFrame frame = surface_of(100, 20);
    frame.color_range = AVCOL_RANGE_MPEG;
    assert_ok(sk_cuda_take(first, "v.mp4", &frame, &slot, &err), &err);
    assert_false(slot.frame.full_range);
    uint8_t *memory = slot.device_memory;
    memory[250] = 0x77;          /* behind a row */
    frame = surface_of(200, 20); /* the same bytes */
    assert_ok(sk_cuda_take(first, "v.mp4", &frame, &slot, &err), &err);
    assert_ptr_equal(slot.device_memory, memory);
    assert_int_equal(memory[250], 0x77); /* not given back and taken again */
    assert_int_equal(slot.device_capacity, 256 * 30);
    frame = surface_of(200, 22); /* more */
    assert_ok(sk_cuda_take(first, "v.mp4", &frame, &slot, &err), &err);
    assert_int_equal(slot.device_capacity, 256 * 33);
    assert_int_equal(gpu->blocks, 1);
    frame = surface_of(20, 4);
    assert_ok(sk_cuda_take(second, "v.mp4", &frame, &slot, &err), &err);
    assert_int_equal(slot.device_capacity, 256 * 6);
    assert_ptr_equal(slot.device, second);
    assert_int_equal(gpu->blocks, 1);
    for (int i = 0; i < 2; i++)
        sk_ff.av_buffer_unref(&devices[i]);
    sk_cuda_release(first);
    assert_int_equal(gpu->contexts, 1);
    sk_cuda_release(second); /* the slot still has it */
    assert_int_equal(gpu->contexts, 1);
    assert_int_equal(gpu->blocks, 1);
    sk_slot_free(&slot);
    assert_null(slot.device_memory);
    everything_was_given_back();
}

static void a_frame_that_cannot_be_kept_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *fails;
        int error;
        sk_status status;
    } cases[] = {{"cuCtxPushCurrent_v2", 201, SK_ERR_RUNTIME}, {"cuMemAlloc_v2", 2, SK_ERR_MEMORY},
                 {"cuMemAlloc_v2", 1, SK_ERR_RUNTIME},         {"cuMemcpy2DAsync_v2", 700, SK_ERR_RUNTIME},
                 {"cuMemcpy2DAsync_v2", 2, SK_ERR_MEMORY},     {"cuStreamSynchronize", 3, SK_ERR_RUNTIME}};
    AVBufferRef *device = NULL;
    needs_ffmpeg();
    sk_cuda *cuda = opened(0, &device);
    const AVFrame frame = surface_of(64, 32);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_slot slot = {0};
        gpu->fails = cases[i].fails;
        gpu->error = cases[i].error;
        const sk_status status = sk_cuda_take(cuda, "v.mp4", &frame, &slot, &err);
        gpu->fails = NULL;
        assert_int_equal(status, cases[i].status);
        assert_string_equal(err.message,
                            "v.mp4: a frame decoded on GPU 0 could not be kept there: something is wrong");
        assert_int_equal(gpu->pushed, 0);
        sk_slot_free(&slot);
        assert_int_equal(gpu->blocks, 0);
    }
    sk_ff.av_buffer_unref(&device);
    sk_cuda_release(cuda);
    everything_was_given_back();
}

int main(void)
{
    const struct CMUnitTest before[] = {cmocka_unit_test(what_an_old_driver_lacks_is_said)};
    const int failed = cmocka_run_group_tests(before, NULL, NULL);
    if (!(gpu = fake_nvidia_load()))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_that_cannot_be_had_says_why),
        cmocka_unit_test(an_ffmpeg_without_cuda_is_said),
        cmocka_unit_test(who_holds_a_gpu_keeps_it),
        cmocka_unit_test(engines_and_memory_are_asked_for),
        cmocka_unit_test(only_eight_bit_frames_of_the_gpu_stay),
        cmocka_unit_test(frames_are_copied_on_the_device),
        cmocka_unit_test(a_slot_keeps_its_memory),
        cmocka_unit_test(a_frame_that_cannot_be_kept_is_said),
    };
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void test_without_video(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_video)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
