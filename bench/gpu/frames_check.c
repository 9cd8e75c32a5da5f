/* SPDX-License-Identifier: Apache-2.0 */
/* Frames as people have them, on a real GPU: every pixel format in ordinary, pinned and device memory, the last complete, behind a
 * stream and behind an event, and as a DLPack tensor, through the public pipeline on the cuda runtime. All places of one format must
 * give the same instances to the bit; formats of the same picture nearly the same.
 * usage: frames_check PICTURE MODEL [SECOND MODEL] */
#include <skitter/skitter.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The driver's functions that are needed, found by name: this program links no CUDA. */
typedef struct driver {
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*context_retain)(void **, int);
    int (*context_set)(void *);
    int (*alloc)(unsigned long long *, size_t);
    int (*host_alloc)(void **, size_t, unsigned);
    int (*copy)(unsigned long long, const void *, size_t);
    int (*copy_async)(unsigned long long, const void *, size_t, void *);
    int (*set_async)(unsigned long long, unsigned char, size_t, void *);
    int (*stream_create)(void **, unsigned);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*synchronize)(void);
} driver;

static driver cu;

static int bad, n_models;

/* Memory of a device is lent: somebody must be told when it is over. */
static void released(void *context, const sk_frame *frame)
{
    (void)frame;
    ++*(int *)context;
}
static int n_released;

static void check(int code, const char *what)
{
    if (code) {
        printf("FAILED: %s gives %d\n", what, code);
        exit(1);
    }
}

static void load_driver(void)
{
    static const char *const names[] = {
        "cuInit",         "cuDeviceGet",     "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc_v2",
        "cuMemHostAlloc", "cuMemcpyHtoD_v2", "cuMemcpyHtoDAsync_v2",     "cuMemsetD8Async", "cuStreamCreate",
        "cuEventCreate",  "cuEventRecord",   "cuCtxSynchronize"};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("FAILED: %s\n", dlerror());
        exit(1);
    }
    void **place = (void **)(void *)&cu;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(!(place[i] = dlsym(library, names[i])), names[i]);
    int device = 0;
    void *context = NULL;
    check(cu.init(0), "cuInit");
    check(cu.device_get(&device, 0), "cuDeviceGet");
    check(cu.context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    check(cu.context_set(context), "cuCtxSetCurrent");
}

/* --- a picture in every format --- */

typedef struct picture {
    const char *name;
    sk_frame frame; /* host memory; planes one after another in one block */
    size_t bytes, chroma_at, chroma_v_at;
} picture;

static uint8_t clamp(double value)
{
    return (uint8_t)lrint(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void luma_chroma(const uint8_t *p, double yuv[3])
{
    yuv[0] = 16 + (65.481 * p[0] + 128.553 * p[1] + 24.966 * p[2]) / 255;
    yuv[1] = 128 + (-37.797 * p[0] - 74.203 * p[1] + 112.0 * p[2]) / 255;
    yuv[2] = 128 + (112.0 * p[0] - 93.786 * p[1] - 18.214 * p[2]) / 255;
}

static picture picture_of(const char *name, sk_pixel_format format, const uint8_t *rgb, int w, int h)
{
    static const int bytes_of[] = {0, 3, 3, 1, 1, 1, 4, 4, 2, 2};
    picture p = {.name = name, .frame = SK_FRAME_INIT};
    sk_frame *f = &p.frame;
    const size_t pixels = (size_t)w * (size_t)h;
    const bool planes = format == SK_PIXEL_NV12 || format == SK_PIXEL_I420;
    f->format = format, f->width = w, f->height = h, f->stride = (ptrdiff_t)bytes_of[format] * w;
    p.bytes = planes ? pixels * 3 / 2 : pixels * (size_t)bytes_of[format];
    f->data = calloc(1, p.bytes);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint8_t *from = rgb + 3 * ((size_t)y * (size_t)w + (size_t)x);
            uint8_t *to = f->data + f->stride * y + (ptrdiff_t)bytes_of[format] * x;
            const uint8_t grey = clamp(0.299 * from[0] + 0.587 * from[1] + 0.114 * from[2]);
            double yuv[3];
            luma_chroma(from, yuv);
            for (int c = 0; c < 3; c++) {
                if (format == SK_PIXEL_RGB || format == SK_PIXEL_RGBA)
                    to[c] = from[c];
                if (format == SK_PIXEL_BGR || format == SK_PIXEL_BGRA)
                    to[c] = from[2 - c];
            }
            if (format == SK_PIXEL_GRAY)
                to[0] = grey;
            if (format == SK_PIXEL_GRAY16)
                *(uint16_t *)(void *)to = (uint16_t)(grey << 8 | 17);
            if (planes)
                to[0] = clamp(yuv[0]);
            if (format == SK_PIXEL_NV12 && x % 2 == 0 && y % 2 == 0) {
                uint8_t *uv = f->data + pixels + (size_t)(y / 2) * (size_t)w + (size_t)x;
                uv[0] = clamp(yuv[1]);
                uv[1] = clamp(yuv[2]);
            }
            if (format == SK_PIXEL_I420 && x % 2 == 0 && y % 2 == 0) {
                const size_t at = (size_t)(y / 2) * (size_t)(w / 2) + (size_t)(x / 2);
                f->data[pixels + at] = clamp(yuv[1]);
                f->data[pixels + pixels / 4 + at] = clamp(yuv[2]);
            }
            if (format == SK_PIXEL_YUYV) {
                to[0] = clamp(yuv[0]);
                to[1] = clamp(yuv[x % 2 ? 2 : 1]);
            }
        }
    if (planes) {
        p.chroma_at = pixels;
        p.chroma_v_at = format == SK_PIXEL_I420 ? pixels + pixels / 4 : 0;
        f->chroma_stride = format == SK_PIXEL_I420 ? w / 2 : w;
    }
    return p;
}

static sk_frame placed(const picture *p, uint8_t *at)
{
    sk_frame f = p->frame;
    f.data = at;
    f.chroma = p->chroma_at ? at + p->chroma_at : NULL;
    f.chroma_v = p->chroma_v_at ? at + p->chroma_v_at : NULL;
    return f;
}

/* --- what is found --- */

typedef struct list {
    int32_t count, n_points;
    float values[512][8];
    sk_keypoint points[512][32];
} list;

static bool run(sk_pipeline *pipeline, const sk_frame *frame, list *out, char words[256])
{
    const sk_result *result = NULL;
    sk_error err = {0};
    memset(out, 0, sizeof *out);
    if (sk_pipeline_run(pipeline, frame, &result, &err) != SK_OK) {
        snprintf(words, 256, "%.250s", err.message);
        return false;
    }
    out->count = sk_instances_count(result->instances);
    out->count = out->count > 512 ? 512 : out->count;
    out->n_points = sk_instances_keypoint_count(result->instances);
    out->n_points = out->n_points > 32 ? 32 : out->n_points;
    for (int32_t i = 0; i < out->count; i++) {
        sk_instance one = SK_INSTANCE_INIT;
        sk_instances_get(result->instances, i, &one);
        memcpy(out->values[i], one.box, sizeof one.box);
        out->values[i][4] = one.score;
        const sk_keypoint *points = sk_instances_keypoints(result->instances, i);
        for (int32_t k = 0; points && k < out->n_points; k++)
            out->points[i][k] = points[k];
    }
    sk_pipeline_give_back(pipeline, result);
    return true;
}

/* One row: the same as in ordinary memory? */
static void compare(const char *format, const char *place, const list *want, const list *got)
{
    const bool same = memcmp((const char *)want, (const char *)got, sizeof *want) == 0; /* to the bit */
    printf("%-8s %-16s %3d found, %s\n", format, place, got->count, same ? "the same bits" : "DIFFERENT");
    bad += !same;
}

/* --- every place --- */

static void *large_stream; /* with much to do before the copy: what does not wait for it reads zeros */
static unsigned long long large;
enum { LARGE = 1 << 30 };

static void behind_work(unsigned long long device, const picture *p, const void *pinned)
{
    check(cu.set_async(device, 0, p->bytes, large_stream), "cuMemsetD8Async");
    for (int i = 0; i < 8; i++)
        check(cu.set_async(large, (unsigned char)i, LARGE, large_stream), "cuMemsetD8Async");
    check(cu.copy_async(device, pinned, p->bytes, large_stream), "cuMemcpyHtoDAsync");
}

static void from_tensor(sk_pipeline *pipeline, const picture *p, unsigned long long device, const list *want)
{
    int64_t shape[] = {p->frame.height, p->frame.width, 3};
    sk_dl_managed tensor = {.tensor = {.data = (void *)(uintptr_t)device,
                                       .device = {SK_DL_CUDA, 0},
                                       .ndim = 3,
                                       .dtype = {SK_DL_UINT, 8, 1},
                                       .shape = shape}};
    sk_frame frame = SK_FRAME_INIT;
    sk_error err = {0};
    list got;
    char words[256] = "";
    if (sk_frame_from_dlpack_old(&tensor, SK_PIXEL_RGB, &frame, &err) != SK_OK ||
        !run(pipeline, &frame, &got, words)) {
        printf("%-8s %-16s refused: %s%s\n", p->name, "DLPack, device", err.message, words);
        bad += n_models == 1;
        return;
    }
    compare(p->name, "DLPack, device", want, &got);
}

/* Formats that are taken in a GPU's memory, says skitter/frame.h. */
static bool on_device(sk_pixel_format format)
{
    return format == SK_PIXEL_RGB || format == SK_PIXEL_BGR || format == SK_PIXEL_GRAY ||
           format == SK_PIXEL_NV12;
}

static void every_place(sk_pipeline *pipeline, const picture *p)
{
    list want, got;
    char words[256] = "";
    unsigned long long device = 0;
    void *pinned = NULL, *event = NULL;
    sk_frame frame = placed(p, p->frame.data);
    if (!run(pipeline, &frame, &want, words)) {
        printf("%-8s %-16s refused: %s\n", p->name, "host", words);
        bad++;
        return;
    }
    printf("%-8s %-16s %3d found\n", p->name, "host", want.count);
    bad += want.count == 0;
    check(cu.host_alloc(&pinned, p->bytes, 0), "cuMemHostAlloc");
    check(cu.alloc(&device, p->bytes), "cuMemAlloc");
    check(cu.event_create(&event, 2), "cuEventCreate");
    memcpy(pinned, p->frame.data, p->bytes);
    static const char *const places[] = {"pinned", "device", "device, stream", "device, event"};
    for (int i = 0; i < 4; i++) {
        frame = placed(p, i == 0 ? pinned : (uint8_t *)(uintptr_t)device);
        frame.place = i == 0 ? SK_PLACE_PINNED : SK_PLACE_CUDA;
        frame.release = i == 0 ? NULL : released;
        frame.release_context = &n_released;
        if (i == 1)
            check(cu.copy(device, pinned, p->bytes), "cuMemcpyHtoD");
        if (i >= 2)
            behind_work(device, p, pinned);
        if (i == 2)
            frame.stream = large_stream;
        if (i == 3) {
            check(cu.event_record(event, large_stream), "cuEventRecord");
            frame.event = event;
        }
        if (run(pipeline, &frame, &got, words)) {
            compare(p->name, places[i], &want, &got);
        } else {
            printf("%-8s %-16s refused: %s\n", p->name, places[i], words);
            bad += i == 0 ||
                   (n_models == 1 && on_device(p->frame.format)); /* of two models none is taken there */
        }
        check(cu.synchronize(), "cuCtxSynchronize");
    }
    if (p->frame.format == SK_PIXEL_RGB)
        from_tensor(pipeline, p, device, &want);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: frames_check PICTURE MODEL [SECOND MODEL]\n");
        return 2;
    }
    sk_error err = {0};
    sk_source_settings how = SK_SOURCE_SETTINGS_INIT;
    sk_source *source = NULL;
    const sk_frame *frame = NULL;
    load_driver();
    check(cu.stream_create(&large_stream, 1), "cuStreamCreate");
    check(cu.alloc(&large, LARGE), "cuMemAlloc");
    sk_source_defaults(&how);
    sk_pipeline_settings settings = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&settings);
    n_models = argc - 2;
    settings.runtime = "cuda";
    settings.confidence = 0.05f;
    sk_pipeline *pipeline = NULL;
    if (sk_source_open(argv[1], &how, &source, &err) != SK_OK ||
        sk_source_next(source, &frame, &err) != SK_OK ||
        sk_pipeline_open((const char *const *)argv + 2, argc - 2, &settings, &pipeline, &err) != SK_OK) {
        printf("FAILED: %s\n", err.message);
        return 1;
    }
    const int w = frame->width & ~1, h = frame->height & ~1;
    uint8_t *rgb = malloc((size_t)(3 * w * h));
    for (int y = 0; y < h; y++)
        memcpy(rgb + 3 * (ptrdiff_t)w * y, frame->data + frame->stride * y, (size_t)(3 * w));
    static const struct {
        const char *name;
        sk_pixel_format format;
    } formats[] = {{"RGB", SK_PIXEL_RGB},   {"BGR", SK_PIXEL_BGR},   {"RGBA", SK_PIXEL_RGBA},
                   {"BGRA", SK_PIXEL_BGRA}, {"grey", SK_PIXEL_GRAY}, {"grey 16", SK_PIXEL_GRAY16},
                   {"NV12", SK_PIXEL_NV12}, {"I420", SK_PIXEL_I420}, {"YUYV", SK_PIXEL_YUYV}};
    const sk_pipeline_info *info = sk_pipeline_about(pipeline);
    printf("%s, %s on %s, %dx%d; takes", info->runtime, info->precision, info->device, w, h);
    for (int32_t i = 0; i < info->n_accepts; i++)
        printf(" %d@%d", info->accepts[i].format, info->accepts[i].place);
    printf("\n");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const picture p = picture_of(formats[i].name, formats[i].format, rgb, w, h);
        /* its own pipeline: after frames of many kinds the host fits those in its memory, and rounds in its own order */
        sk_pipeline_close(&pipeline);
        if (sk_pipeline_open((const char *const *)argv + 2, argc - 2, &settings, &pipeline, &err) != SK_OK) {
            printf("FAILED: %s\n", err.message);
            return 1;
        }
        every_place(pipeline, &p);
        free(p.frame.data);
    }
    sk_frame elsewhere = SK_FRAME_INIT;
    list got;
    char words[256] = "";
    elsewhere.format = SK_PIXEL_RGB, elsewhere.width = w, elsewhere.height = h,
    elsewhere.stride = 3 * (ptrdiff_t)w;
    elsewhere.data = (uint8_t *)(uintptr_t)large, elsewhere.place = SK_PLACE_CUDA, elsewhere.device = 12;
    elsewhere.release = released, elsewhere.release_context = &n_released;
    const bool taken = run(pipeline, &elsewhere, &got, words);
    printf("memory of device 12: %s\n", taken ? "TAKEN" : words);
    bad += taken;
    sk_pipeline_close(&pipeline);
    sk_source_close(&source);
    printf("%s\n", bad ? "frames: BAD" : "frames: all the same");
    return bad != 0;
}
