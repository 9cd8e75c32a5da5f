/* SPDX-License-Identifier: Apache-2.0 */
#include "app/bench_frames.h"

#include "base/clock.h"
#include "base/memory.h"
#include "skitter/pipeline.h"

#define MOST_FRAMES 64 /* a pipeline's largest batch */

struct sk_bench_frames {
    sk_pipeline *pipeline;
    sk_frame frame; /* the first of the batch */
    size_t frame_bytes;
    int32_t batch;
};

static sk_frame describe(int32_t channels, uint8_t *pictures, int32_t height, int32_t width)
{
    sk_frame frame = SK_FRAME_INIT;
    frame.format = channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB;
    frame.width = width;
    frame.height = height;
    frame.stride = (ptrdiff_t)width * channels;
    frame.data = pictures;
    return frame;
}

sk_status sk_bench_frames_open(const sk_bench_settings *s, const char *runtime, const char *options,
                               int32_t channels, uint8_t *pictures, int32_t height, int32_t width,
                               sk_bench_frames **out, sk_error *err)
{
    *out = NULL;
    if (s->batch > MOST_FRAMES)
        return sk_fail(err, SK_ERR_LIMIT, "a pipeline takes at most %d frames at once", MOST_FRAMES);
    if (channels != 1 && channels != 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "pictures of %d channels are no frames", channels);
    sk_bench_frames *f = sk_calloc(1, sizeof *f);
    if (!f)
        return sk_fail_memory(err, sizeof *f);
    f->batch = s->batch;
    f->frame = describe(channels, pictures, height, width);
    f->frame_bytes = (size_t)height * (size_t)width * (size_t)channels;
    sk_pipeline_settings settings = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&settings);
    settings.runtime = runtime;
    settings.options = options;
    settings.precision = s->precision == SK_PRECISION_AUTO ? NULL : sk_precision_name(s->precision);
    settings.threads = s->threads;
    settings.batch = s->batch;
    settings.height = height;
    settings.width = width;
    settings.rect = SK_RECT_OFF;
    settings.heads = s->heads;
    settings.expect = &f->frame;
    sk_status status = sk_pipeline_open(&s->model, 1, &settings, &f->pipeline, err);
    if (status != SK_OK)
        sk_bench_frames_close(&f);
    *out = f;
    return status;
}

static sk_status take_all(sk_bench_frames *f, sk_error *err)
{
    for (int32_t i = 0; i < f->batch; i++) {
        const sk_result *result = NULL;
        SK_TRY(sk_pipeline_take(f->pipeline, -1, &result, err));
        sk_status status = result ? result->status : SK_ERR_RUNTIME;
        sk_pipeline_give_back(f->pipeline, result);
        if (status != SK_OK)
            return sk_fail(err, status, "a frame failed");
    }
    return SK_OK;
}

sk_status sk_bench_frames_run(sk_bench_frames *f, double *ms, sk_error *err)
{
    const int64_t begin = sk_clock_ns();
    for (int32_t i = 0; i < f->batch; i++) {
        sk_frame frame = f->frame;
        frame.data += (size_t)i * f->frame_bytes;
        SK_TRY(sk_pipeline_submit(f->pipeline, &frame, NULL, i + 1 == f->batch ? SK_SUBMIT_FLUSH : 0, err));
    }
    SK_TRY(take_all(f, err));
    *ms = (double)(sk_clock_ns() - begin) * 1e-6;
    return SK_OK;
}

void sk_bench_frames_close(sk_bench_frames **frames)
{
    sk_bench_frames *f = *frames;
    *frames = NULL;
    if (!f)
        return;
    sk_pipeline_close(&f->pipeline);
    sk_free(f);
}
