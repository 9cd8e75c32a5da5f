/* SPDX-License-Identifier: Apache-2.0 */
#include "app/speed.h"

#include "app/feed.h"
#include "app/runtimes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "media/reader.h"
#include "pipeline/pipeline.h"
#include "runner/network.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISE_FRAMES 8
#define FOREVER      1000000 /* plays of the source */

typedef struct speed {
    const sk_speed_settings *s;
    sk_speed_report *report;
    sk_pipeline *pipeline;
    const sk_pipeline_info *about;
    sk_basic *basic;
    sk_reader *reader; /* basic: decodes when asked */
    sk_slot slot;
    atomic_bool stop;
    sk_source *source; /* the pipeline's: decodes ahead */
    sk_frame noise[NOISE_FRAMES];
    int64_t next_basic, next_runner; /* frames of noise */
    int32_t most;                    /* frames in flight */
} speed;

void sk_speed_defaults(sk_speed_settings *settings)
{
    *settings = (sk_speed_settings){.width = 1920, .height = 1080, .iterations = 200, .decode_threads = 1};
    sk_runner_defaults(&settings->runner);
}

/* --- frames --- */

/* Frames of noise are read where they are, and stay. */
static void keep(void *context, const sk_frame *frame)
{
    (void)context;
    (void)frame;
}

static sk_status make_noise(speed *p, sk_error *err)
{
    uint32_t noise = 1;
    size_t stride = (size_t)p->s->width * 3, bytes = stride * (size_t)p->s->height;
    for (int i = 0; i < NOISE_FRAMES; i++) {
        p->noise[i] = (sk_frame){.format = SK_PIXEL_RGB,
                                 .width = p->s->width,
                                 .height = p->s->height,
                                 .stride = (ptrdiff_t)stride,
                                 .data = sk_malloc(bytes),
                                 .size = sizeof p->noise[i],
                                 .release = keep};
        if (!p->noise[i].data)
            return sk_fail_memory(err, bytes);
        for (size_t k = 0; k < bytes; k++) {
            noise = noise * 1664525u + 1013904223u;
            p->noise[i].data[k] = (uint8_t)(noise >> 24);
        }
    }
    return SK_OK;
}

static sk_status open_reader(speed *p, const sk_source_settings *media, sk_error *err)
{
    if (sk_uri_is_live(p->s->input) || sk_uri_is_once(p->s->input))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: a camera, stream or pipe gives its frames once; both sides need the same ones. Give a file",
            p->s->input);
    SK_TRY(sk_reader_open_file(p->s->input, media, &p->reader, err));
    p->reader->stop = &p->stop;
    p->reader->info.name = p->s->input;
    return SK_OK;
}

/* Basic execution's next frame, into p->slot. */
static sk_status read_frame(speed *p, sk_error *err)
{
    bool end = false;
    SK_TRY(p->reader->read(p->reader, &p->slot, &end, err));
    return end ? sk_fail(err, SK_ERR_IO, "%s: no frame can be read from it", p->s->input) : SK_OK;
}

static sk_status open_frames(speed *p, sk_error *err)
{
    sk_speed_report *r = p->report;
    if (!p->s->input) {
        r->width = p->s->width;
        r->height = p->s->height;
        return make_noise(p, err);
    }
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&media);
    media.threads = p->s->decode_threads;
    media.loop = FOREVER;
    media.colours = p->about->colours;
    SK_TRY(open_reader(p, &media, err));
    r->width = p->reader->info.width;
    r->height = p->reader->info.height;
    if (r->width > 0)
        return SK_OK;
    SK_TRY(read_frame(p, err)); /* pictures tell their size when they are read */
    r->width = p->slot.frame.width;
    r->height = p->slot.frame.height;
    p->reader->close(p->reader); /* and from the first one again */
    p->reader = NULL;
    return open_reader(p, &media, err);
}

static sk_status open_source(speed *p, sk_error *err)
{
    if (!p->s->input)
        return SK_OK;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&media);
    media.threads = p->s->decode_threads;
    media.loop = FOREVER;
    media.colours = p->about->colours;
    media.queue = p->about->depth + 4;
    media.queue = media.queue < 64 ? media.queue : 64;
    sk_frame_kind planes = {0}; /* of all it takes: what comes before RGB on the processor */
    for (const sk_frame_kind *k = p->about->accepts; k->format != SK_PIXEL_RGB && !p->s->rgb; k++)
        if (k->format == SK_PIXEL_I420)
            planes = *k;
    media.accepts = &planes;
    media.n_accepts = planes.format == SK_PIXEL_I420;
    return sk_source_open(p->s->input, &media, &p->source, err);
}

/* --- the two sides --- */

static sk_status basic_round(speed *p, int32_t frames, double *fps, sk_error *err)
{
    int64_t begin = sk_clock_ns();
    for (int32_t i = 0; i < frames; i++) {
        const sk_frame *frame = &p->noise[p->next_basic++ % NOISE_FRAMES];
        int32_t found = 0;
        if (p->reader) {
            int64_t mark = sk_clock_ns();
            SK_TRY(read_frame(p, err));
            p->report->basic_decode += (double)(sk_clock_ns() - mark) * 1e-9;
            frame = &p->slot.frame;
            if (frame->width != p->report->width || frame->height != p->report->height)
                return sk_fail(err, SK_ERR_UNSUPPORTED,
                               "%s: pictures of different sizes (%dx%d, then %dx%d); basic execution is "
                               "measured with one",
                               p->s->input, p->report->width, p->report->height, frame->width, frame->height);
        }
        SK_TRY(sk_basic_run(p->basic, frame, &found, err));
        p->report->basic_instances += found;
    }
    *fps = frames / ((double)(sk_clock_ns() - begin) * 1e-9);
    return SK_OK;
}

/* Frames of noise; a feed's `next`. */
static sk_status next_noise(void *context, const sk_frame **frame, sk_error *err)
{
    speed *p = context;
    (void)err;
    *frame = &p->noise[p->next_runner++ % NOISE_FRAMES];
    return SK_OK;
}

/* So many frames through the runner; decoding goes on ahead of them. */
static sk_status feed(speed *p, int32_t frames, bool check, sk_feed_report *fed, sk_error *err)
{
    const sk_feed how = {.source = p->source,
                         .next = next_noise,
                         .context = p,
                         .pipeline = p->pipeline,
                         .frames = frames,
                         .in_flight = p->most,
                         .check = check};
    SK_TRY(sk_feed_run(&how, fed, err));
    return fed->frames == frames ? SK_OK
                                 : sk_fail(err, SK_ERR_IO, "%s: no frame can be read from it", p->s->input);
}

/* The decoder had its queue full when the round began, and must have when it ends: so as many frames are decoded in the
 * round's time as are looked at. */
static void refill(speed *p, int64_t decoded_before, int32_t frames)
{
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    while (p->source) {
        sk_source_get_status(p->source, &status);
        if (status.decoded - decoded_before >= frames)
            return;
        sk_clock_sleep_ns(100000);
    }
}

static int64_t decoded_so_far(speed *p)
{
    sk_source_status status = SK_SOURCE_STATUS_INIT;
    if (p->source)
        sk_source_get_status(p->source, &status);
    p->report->runner_decode = status.decode_seconds;
    return status.decoded;
}

static sk_status runner_round(speed *p, int32_t frames, double *fps, sk_error *err)
{
    int64_t before = decoded_so_far(p), begin = sk_clock_ns();
    sk_feed_report fed;
    SK_TRY(feed(p, frames, false, &fed, err));
    p->report->runner_instances += fed.instances;
    refill(p, before, frames);
    *fps = frames / ((double)(sk_clock_ns() - begin) * 1e-9);
    decoded_so_far(p);
    return SK_OK;
}

/* The runner goes on with the next frame of its source, checked. */
static sk_status check(speed *p, sk_error *err)
{
    sk_feed_report fed;
    p->next_basic++; /* the other side leaves this frame out, so that both see the same ones */
    if (p->basic && p->reader)
        SK_TRY(read_frame(p, err));
    sk_status status = feed(p, 1, true, &fed, err);
    if (fed.checked && (!p->report->checked || fed.check.pcc < p->report->check.pcc))
        p->report->check = fed.check;
    p->report->checked |= fed.checked;
    return status;
}

/* --- the whole --- */

static sk_status open_all(speed *p, sk_error *err)
{
    const sk_speed_settings *s = p->s;
    sk_runner_settings how = s->runner;
    const sk_engine *engine = NULL;
    SK_TRY(sk_pipeline_prepare(s->models, s->n_models, &how.detector, NULL, &p->pipeline, err));
    p->about = sk_pipeline_about(p->pipeline);
    SK_TRY(open_frames(p, err));
    SK_TRY(sk_net_engine(how.detector.runtime, &engine, err));
    how.frames = SK_RUNNER_BORROW;
    if (s->check_pcc && (engine->can.offers & SK_OFFERS_SPARSE))
        how.keep_outputs = true;   /* whole outputs, or there is nothing to compare */
    how.when_full = SK_FULL_BLOCK; /* every frame is measured */
    how.max_age_ms = 0;
    how.frame_width = p->report->width;
    how.frame_height = p->report->height;
    how.timeline = s->trace_out ? 65536 : 0;
    SK_TRY(sk_pipeline_start(p->pipeline, &how, err));
    /* For latency nothing waits behind anything: one frame for each device. */
    sk_runner_get_stats(sk_pipeline_runner(p->pipeline), &p->report->stats);
    p->most = how.mode == SK_PIPELINE_LATENCY ? p->report->stats.n_devices : p->about->depth;
    if (!s->no_basic)
        SK_TRY(sk_basic_open(sk_pipeline_models(p->pipeline), p->about->n_models, engine, &how.detector,
                             p->report->width, p->report->height, &p->basic, err));
    return open_source(p, err);
}

static int smaller(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int32_t count)
{
    double sorted[SK_SPEED_MAX_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, smaller);
    return sk_samples_percentile(sorted, (size_t)count, 50);
}

static sk_status measure(speed *p, sk_speed_watch watch, void *context, sk_error *err)
{
    sk_speed_report *r = p->report;
    double warm;
    int32_t wanted = p->s->rounds ? p->s->rounds : (p->s->iterations + 24) / 25;
    wanted = wanted < 1 ? 1 : wanted > SK_SPEED_MAX_ROUNDS ? SK_SPEED_MAX_ROUNDS : wanted;
    r->frames_a_round = (p->s->iterations + wanted - 1) / wanted;
    /* Once each without counting: the source's first frames, the file in memory. */
    if (p->basic)
        SK_TRY(basic_round(p, 4, &warm, err));
    SK_TRY(runner_round(p, 4, &warm, err));
    r->basic_instances = r->runner_instances = 0;
    r->basic_decode = 0;
    double decoded_before = r->runner_decode;
    if (p->basic)
        sk_basic_reset_times(p->basic);
    sk_pipeline_reset_stats(p->pipeline);
    for (int32_t i = 0; i < wanted; i++) {
        if (p->basic)
            SK_TRY(basic_round(p, r->frames_a_round, &r->basic_round[i], err));
        SK_TRY(runner_round(p, r->frames_a_round, &r->runner_round[i], err));
        double ratio = p->basic ? r->runner_round[i] / r->basic_round[i] : 0;
        r->speedup_least = i == 0 || ratio < r->speedup_least ? ratio : r->speedup_least;
        r->speedup_most = ratio > r->speedup_most ? ratio : r->speedup_most;
        r->rounds = i + 1;
        if (watch && watch(context, i + 1, wanted))
            break;
    }
    r->runner_decode -= decoded_before;
    r->runner_fps = median(r->runner_round, r->rounds);
    r->basic_fps = p->basic ? median(r->basic_round, r->rounds) : 0;
    r->speedup = p->basic ? r->runner_fps / r->basic_fps : 0; /* what the two lines say */
    return SK_OK;
}

static void describe(speed *p)
{
    sk_speed_report *r = p->report;
    if (p->basic)
        sk_basic_get_times(p->basic, &r->basic);
    sk_runner_get_stats(sk_pipeline_runner(p->pipeline), &r->stats);
    r->depth = p->most;
    r->n_models = p->about->n_models;
    for (int32_t i = 0; i < r->n_models; i++)
        snprintf(r->models[i], sizeof r->models[i], "%.255s", p->about->models[i]->path);
    snprintf(r->runtime, sizeof r->runtime, "%s", p->about->runtime);
    snprintf(r->device, sizeof r->device, "%s", p->about->device);
    snprintf(r->precision, sizeof r->precision, "%s", p->about->precision);
}

static void close_all(speed *p)
{
    sk_basic_close(&p->basic);       /* on the pipeline's models */
    sk_pipeline_close(&p->pipeline); /* gives frames back to the source */
    sk_source_close(&p->source);
    if (p->reader)
        p->reader->close(p->reader);
    sk_free(p->slot.frame.data);
    sk_free(p->slot.name);
    for (int i = 0; i < NOISE_FRAMES; i++)
        sk_free(p->noise[i].data);
}

sk_status sk_speed_measure(const sk_speed_settings *settings, sk_speed_watch watch, void *context,
                           sk_speed_report *report, sk_error *err)
{
    speed p = {.s = settings, .report = report};
    sk_run_lock *lock = NULL;
    sk_status status;
    memset(report, 0, sizeof *report);
    SK_CHECK_ARG(settings->n_models >= 1 && settings->iterations >= 1, err);
    SK_TRY(sk_runtimes_hold("skitter run", &lock, report->notice, err));
    SK_TRY_GOTO(open_all(&p, err));
    if (settings->check_pcc)
        SK_TRY_GOTO(check(&p, err));
    SK_TRY_GOTO(measure(&p, watch, context, err));
    if (settings->trace_out)
        SK_TRY_GOTO(sk_pipeline_write_timeline(p.pipeline, settings->trace_out, err));
    describe(&p);
    if (settings->check_pcc)
        SK_TRY_GOTO(check(&p, err));
done:
    if (p.pipeline && sk_pipeline_runner(p.pipeline) && report->rounds == 0)
        describe(&p);
    close_all(&p);
    sk_run_lock_close(&lock);
    return status;
}
