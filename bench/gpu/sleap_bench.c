/* SPDX-License-Identifier: Apache-2.0 */
/* From frames in pinned host memory to SLEAP's instances on the cuda runtime, in turn on the same frames: maps brought back
 * whole and looked at by the CPU ("maps"), peaks found on the GPU ("peaks"), frames fitted in on the GPU as well and crops run
 * eight at once ("all"), and these cut on the GPU from the frame that is there, all runs of a frame in flight ("crops"); and
 * against the cpu runtime. Then the same frames through the runner, many in flight, with crops cut by the host and by the GPU.
 * usage: sleap_bench FRAMES.npy RUNS THRESHOLD MODEL [MODEL]      frames: u8 [n][h][w] or [n][h][w][3]
 * PRECISION=f32|tf32|f16 of the cuda runtime: which differences are its rounding. */
#include "../settings_for.h"
#include "base/clock.h"
#include "engines/offload.h"
#include "formats/npy.h"
#include "models/model.h"
#include "base/instances.h"
#include "runner/runner.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

/* One model with what surrounds it. */
typedef struct part {
    sk_task_stage *stage;
    const sk_task_plan *plan;
    sk_session *session;
    void *input;
    bool frames; /* the frame itself is handed in */
    bool cuts;   /* crops are cut from where it lies */
    int batch;   /* crops at once */
    int whole;   /* images whose maps came back */
} part;

/* What the GPU does besides the network. */
enum { NOTHING = 0, PEAKS, ALL, CROPS, WAYS, SLOTS = 3 };

typedef struct chain {
    part parts[2];
    int n_parts;
    sk_instances found, first;
    double pre, network; /* seconds of the last frame; the network with its transfers */
    sk_session_times device;
} chain;

static void open_part(part *p, const sk_model *m, const sk_task_stage *before, const sk_frame *like,
                      const char *runtime, int gpu, float threshold)
{
    sk_error err = {0};
    sk_task_settings t = sk_task_settings_defaults();
    sk_precision precision = SK_PRECISION_AUTO;
    sk_peak_wish wish;
    t.sleap.peak_threshold = threshold;
    if ((before ? sk_task_stage_open_second(m, before, &t, &p->stage, &err)
                : sk_task_stage_open(m, &t, like->width, like->height, &p->stage, &err)) != SK_OK)
        stop(&err);
    p->plan = sk_task_stage_plan(p->stage);
    const char *word = getenv("PRECISION");
    if (word && strcmp(runtime, "cuda") == 0 && !sk_precision_find(word, &precision)) {
        printf("PRECISION=%s: f32, tf32 or f16\n", word);
        exit(2);
    }
    sk_session_settings s = settings_for(sk_engine_find(runtime), 0, precision, NULL);
    sk_net_pixel_values(m, &s);
    s.fine_outputs = 1;
    s.input = p->plan->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    sk_task_fit way;
    sk_frame_fit fit;
    if (gpu >= PEAKS && !sk_task_stage_peaks(p->stage, &wish)) {
        printf("this model's peaks are for the CPU\n");
        exit(1);
    }
    s.stages.peaks = gpu >= PEAKS ? &wish : NULL;
    p->frames =
        gpu >= ALL && !before && sk_task_stage_fit(p->stage, &way) && sk_offload_fit_stage(&way, like, &fit);
    if (p->frames) {
        s.input = SK_INPUT_FRAMES;
        s.stages.fit = &fit;
        fit.whole = 1;
    }
    sk_crop_wish crops;
    p->cuts = gpu == CROPS && before && sk_offload_crops(sk_task_stage_crop_form(p->stage), like, &crops);
    if (p->cuts) {
        s.input = SK_INPUT_CROPS;
        s.stages.crops = &crops;
        s.slots = SLOTS;
    }
    const sk_engine *engine = sk_engine_find(runtime);
    p->batch = before && gpu >= ALL ? 8 : 1;
    const sk_shape shape = sk_shape_of(4, (int64_t)p->batch, (int64_t)p->plan->channels,
                                       (int64_t)p->plan->height, (int64_t)p->plan->width);
    if (sk_session_open(engine, m->graph, &shape, 1, &s, &p->session, &err) != SK_OK ||
        sk_session_capture(p->session, &err) != SK_OK)
        stop(&err);
    const size_t bytes = (size_t)sk_shape_count(&shape) * (p->plan->u8 ? 1 : sizeof(float));
    p->input = engine->host_alloc ? engine->host_alloc(bytes) : malloc(bytes);
    if (!p->input)
        exit(1);
}

static chain open_chain(sk_model *const *models, int n, const sk_frame *like, const char *runtime, int gpu,
                        float threshold)
{
    chain c = {.n_parts = n};
    sk_error err = {0};
    for (int i = 0; i < n; i++)
        open_part(&c.parts[i], models[i], i ? c.parts[0].stage : NULL, like, runtime, gpu, threshold);
    const sk_task_plan *last = c.parts[n - 1].plan, *first = c.parts[0].plan;
    if (sk_instances_alloc(last->capacity, last->n_keypoints, &c.found, &err) != SK_OK ||
        sk_instances_alloc(first->capacity, first->n_keypoints, &c.first, &err) != SK_OK)
        stop(&err);
    return c;
}

static void close_chain(chain *c, const char *runtime)
{
    for (int i = 0; i < c->n_parts; i++) {
        const sk_engine *engine = sk_engine_find(runtime);
        sk_session_close(&c->parts[i].session);
        sk_task_stage_close(&c->parts[i].stage);
        if (engine->host_free)
            engine->host_free(c->parts[i].input);
        else
            free(c->parts[i].input);
    }
    sk_instances_free(&c->found);
    sk_instances_free(&c->first);
}

static double seconds(int64_t since)
{
    return (double)(sk_clock_ns() - since) * 1e-9;
}

/* After a wait. */
static void note_device(chain *c, part *p)
{
    sk_error err = {0};
    sk_session_times t;
    if (sk_session_get_times(p->session, &t, &err) != SK_OK)
        stop(&err);
    c->device.upload += t.upload;
    c->device.network += t.network;
    c->device.download += t.download;
}

static int32_t run_part(chain *c, part *p, const sk_frame *frame, sk_tensor *outputs)
{
    sk_error err = {0};
    sk_session_input in = {.data = p->frames ? frame->data : p->input};
    const int32_t n = sk_session_about(p->session)->n_outputs;
    const int64_t begin = sk_clock_ns();
    if (sk_session_run(p->session, &in, 1, outputs, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
        stop(&err);
    c->network += seconds(begin);
    note_device(c, p);
    p->whole += sk_task_outputs_whole(outputs, n, 0);
    return n;
}

/* Crops cut on the device, all runs in flight that find a slot. */
static void run_crops(chain *c, const sk_frame *frame)
{
    sk_error err = {0};
    part *p = &c->parts[1];
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    const int32_t n = sk_session_about(p->session)->n_outputs;
    sk_frame resident;
    sk_crop_list list;
    if (sk_session_resident(c->parts[0].session, 0, &resident, &err) != SK_OK ||
        sk_task_stage_find_crops(p->stage, &c->first, &c->found, &list, &err) != SK_OK)
        stop(&err);
    resident.format = frame->format;
    const sk_frame *const frames[] = {&resident};
    int32_t begun = 0;
    const int64_t begin = sk_clock_ns();
    for (int32_t done = 0; done < list.count; done += p->batch) {
        for (; begun < list.count && begun - done < SLOTS * p->batch; begun += p->batch) {
            const sk_crop_list run = {.items = list.items + begun,
                                      .count = list.count - begun < p->batch ? list.count - begun : p->batch};
            const sk_session_input in = {.frames = frames, .crops = &run};
            if (sk_session_submit(p->session, &in, 1, &err) != SK_OK)
                stop(&err);
        }
        if (sk_session_wait(p->session, outputs, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
            stop(&err);
        note_device(c, p);
        p->whole += sk_task_outputs_whole(outputs, n, 0);
        for (int32_t k = 0; k < p->batch && done + k < list.count; k++)
            if (sk_task_stage_crop_result(p->stage, done + k, outputs, n, k, 0, &c->found, &err) != SK_OK)
                stop(&err);
    }
    c->network += seconds(begin);
    if (sk_task_stage_crops_end(p->stage, &c->found, &err) != SK_OK)
        stop(&err);
}

static void run_frame(chain *c, const sk_frame *frame)
{
    sk_error err = {0};
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    part *p = &c->parts[0];
    sk_instances *found = c->n_parts > 1 ? &c->first : &c->found;
    c->pre = c->network = 0;
    c->device = (sk_session_times){0};
    int64_t begin = sk_clock_ns();
    if (!p->frames && sk_task_stage_input(p->stage, frame, p->plan->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                          p->input, &err) != SK_OK)
        stop(&err);
    c->pre = seconds(begin);
    int32_t n = run_part(c, p, frame, outputs), n_crops = 0;
    if (sk_task_stage_result(p->stage, outputs, n, 0, SK_OUTPUTS_WHOLE, found, &err) != SK_OK)
        stop(&err);
    if (c->n_parts == 1)
        return;
    p = &c->parts[1];
    if (p->cuts) {
        run_crops(c, frame);
        return;
    }
    if (sk_task_stage_crops(p->stage, frame, &c->first, &c->found, &n_crops, &err) != SK_OK)
        stop(&err);
    const size_t bytes =
        (size_t)(p->plan->width * p->plan->height * p->plan->channels) * (p->plan->u8 ? 1 : sizeof(float));
    for (int32_t i = 0; i < n_crops; i += p->batch) {
        const int32_t count = n_crops - i < p->batch ? n_crops - i : p->batch;
        begin = sk_clock_ns();
        for (int32_t k = 0; k < count; k++)
            if (sk_task_stage_crop_input(p->stage, i + k, p->plan->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                         (uint8_t *)p->input + (size_t)k * bytes, &err) != SK_OK)
                stop(&err);
        c->pre += seconds(begin);
        n = run_part(c, p, frame, outputs);
        for (int32_t k = 0; k < count; k++)
            if (sk_task_stage_crop_result(p->stage, i + k, outputs, n, k, SK_OUTPUTS_WHOLE, &c->found,
                                          &err) != SK_OK)
                stop(&err);
    }
    if (sk_task_stage_crops_end(p->stage, &c->found, &err) != SK_OK)
        stop(&err);
}

/* --- comparing --- */

typedef struct agreement {
    int frames, instances[2], points, alone, differ, beyond;
    double pixels, score;
} agreement;

static double distance(const sk_instances *a, int32_t i, const sk_instances *b, int32_t k)
{
    double sum = 0;
    int n = 0;
    for (int32_t j = 0; j < a->n_keypoints; j++) {
        const sk_keypoint *p = &a->keypoints[a->items[i].first_keypoint + j],
                          *q = &b->keypoints[b->items[k].first_keypoint + j];
        if (!isfinite(p->x) || !isfinite(q->x))
            continue;
        sum += hypot((double)p->x - (double)q->x, (double)p->y - (double)q->y);
        n++;
    }
    return n ? sum / n : INFINITY;
}

/* A point one has and the other has not: by how much does it lie above the threshold? */
static void tell_alone(agreement *a, const char *who, int frame, int32_t node, const sk_keypoint *p,
                       float threshold)
{
    if (a->alone++ < 12)
        printf("    frame %d, node %d: only %s has (%.2f, %.2f), %.4f above the threshold\n", frame, node,
               who, (double)p->x, (double)p->y, (double)(p->score - threshold));
}

static void compare_pair(agreement *a, int frame, const sk_instances *x, int32_t i, const sk_instances *y,
                         int32_t k, float threshold)
{
    for (int32_t j = 0; j < x->n_keypoints; j++) {
        const sk_keypoint *p = &x->keypoints[x->items[i].first_keypoint + j],
                          *q = &y->keypoints[y->items[k].first_keypoint + j];
        if (isfinite(p->x) != isfinite(q->x)) {
            tell_alone(a, isfinite(p->x) ? "cuda" : "cpu", frame, j, isfinite(p->x) ? p : q, threshold);
            continue;
        }
        if (!isfinite(p->x))
            continue;
        const double d = hypot((double)p->x - (double)q->x, (double)p->y - (double)q->y),
                     s = fabs((double)p->score - (double)q->score);
        a->points++;
        if (d > 0.5 || s > 0.01) {
            if (a->beyond++ < 12)
                printf("    frame %d, node %d: %.3f px, %.4f in score apart; score %.4f, %.4f above the "
                       "threshold\n",
                       frame, j, d, s, (double)q->score, (double)(q->score - threshold));
            continue;
        }
        a->pixels = fmax(a->pixels, d);
        a->score = fmax(a->score, s);
    }
}

static void compare(agreement *a, int frame, const sk_instances *x, const sk_instances *y, float threshold)
{
    char taken[1024] = {0};
    a->frames++;
    a->instances[0] += x->count;
    a->instances[1] += y->count;
    for (int32_t k = 0; k < y->count; k++) {
        int32_t best = -1;
        for (int32_t i = 0; i < x->count; i++)
            if (!taken[i] && (best < 0 || distance(x, i, y, k) < distance(x, best, y, k)))
                best = i;
        const bool near = best >= 0 && distance(x, best, y, k) < 8;
        for (int32_t j = 0; !near && j < y->n_keypoints; j++) {
            const sk_keypoint *q = &y->keypoints[y->items[k].first_keypoint + j];
            if (isfinite(q->x))
                tell_alone(a, "cpu", frame, j, q, threshold);
        }
        if (!near)
            continue;
        taken[best] = 1;
        compare_pair(a, frame, x, best, y, k, threshold);
    }
    for (int32_t i = 0; i < x->count; i++)
        for (int32_t j = 0; !taken[i] && j < x->n_keypoints; j++) {
            const sk_keypoint *p = &x->keypoints[x->items[i].first_keypoint + j];
            if (isfinite(p->x))
                tell_alone(a, "cuda", frame, j, p, threshold);
        }
}

static bool same(const sk_instances *a, const sk_instances *b)
{
    if (a->count != b->count ||
        memcmp(a->keypoints, b->keypoints, (size_t)(a->count * a->n_keypoints) * sizeof *a->keypoints) != 0)
        return false;
    for (int32_t i = 0; i < a->count; i++)
        if (a->items[i].score != b->items[i].score)
            return false;
    return true;
}

/* --- timing --- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void tell_times(const char *name, double *ms, int runs, const chain *c)
{
    qsort(ms, (size_t)runs, sizeof *ms, by_size);
    printf("  %-6s median %.3f ms, p99 %.3f (last frame: pre-processing %.3f, submit to wait %.3f; device: "
           "upload %.3f, "
           "network %.3f, download %.3f)\n",
           name, ms[runs / 2], ms[runs * 99 / 100], c->pre * 1e3, c->network * 1e3, c->device.upload * 1e3,
           c->device.network * 1e3, c->device.download * 1e3);
}

/* Through the runner, frames held in pinned memory, as many in flight as it takes. Milliseconds a frame. */
static double stream(sk_model *const *models, int n_models, const sk_frame *like, uint8_t *pinned, int n,
                     int runs, float threshold, const char *without)
{
    sk_error err = {0};
    sk_runner_settings s;
    sk_runner *r = NULL;
    sk_runner_defaults(&s);
    s.detector.runtime = "cuda";
    s.detector.precision = getenv("PRECISION");
    s.detector.peak_threshold = threshold;
    s.frame_width = like->width;
    s.frame_height = like->height;
    s.frames = SK_RUNNER_BORROW;
    s.like = like;
    setenv("SKITTER_CUDA_WITHOUT", without, 1);
    if (sk_runner_open((const sk_model *const *)models, n_models, &s, &r, &err) != SK_OK)
        stop(&err);
    sk_frame *frames = calloc((size_t)n, sizeof *frames);
    for (int i = 0; i < n; i++) {
        frames[i] = *like;
        frames[i].data = pinned + (size_t)i * (size_t)like->stride * (size_t)like->height;
        frames[i].index = i;
    }
    sk_runner_result result;
    int64_t begin = 0;
    for (int i = -n; i < runs; i++) {
        if (i == 0) {
            sk_runner_reset_stats(r);
            begin = sk_clock_ns();
        }
        if (sk_runner_in_flight(r) == sk_runner_depth(r) && sk_runner_wait(r, &result, &err) != SK_OK)
            stop(&err);
        if (sk_runner_submit(r, &frames[(i + n) % n], NULL, NULL, &err) != SK_OK)
            stop(&err);
    }
    while (sk_runner_in_flight(r) > 0)
        if (sk_runner_wait(r, &result, &err) != SK_OK)
            stop(&err);
    const double ms = seconds(begin) * 1e3 / runs;
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        if (stats.stages[i].count)
            printf("    %-14s median %.3f ms\n", sk_stage_name((sk_stage)i), stats.stages[i].p50);
    sk_runner_close(&r);
    free(frames);
    unsetenv("SKITTER_CUDA_WITHOUT");
    return ms;
}

/* Both ways in turn, twice: a machine's mood shows. */
static void stream_both(sk_model *const *models, int n_models, const sk_frame *like, uint8_t *pinned, int n,
                        int runs, float threshold)
{
    static const char *const ways[] = {"crops", ""}, *const names[] = {"cut by the host", "cut by the GPU"};
    for (int i = 0; i < 4; i++) {
        const double ms = stream(models, n_models, like, pinned, n, runs, threshold, ways[i % 2]);
        printf("  runner, crops %s: %.3f ms a frame, %.0f frames/s\n", names[i % 2], ms, 1000 / ms);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    sk_error err = {0};
    sk_tensor frames = {0};
    sk_model *models[2] = {NULL, NULL};
    const int runs = atoi(argv[2]), n_models = argc > 5 ? 2 : 1;
    const float threshold = (float)atof(argv[3]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (sk_npy_read(argv[1], (size_t)1 << 30, &frames, &err) != SK_OK)
        stop(&err);
    for (int i = 0; i < n_models; i++)
        if (sk_model_open(argv[4 + i], &models[i], &err) != SK_OK)
            stop(&err);
    const int n = (int)frames.shape.dim[0], h = (int)frames.shape.dim[1], w = (int)frames.shape.dim[2];
    const int channels = frames.shape.rank == 4 ? 3 : 1;
    const sk_engine *engine = sk_engine_find("cuda");
    const size_t bytes = (size_t)(w * h * channels);
    uint8_t *pinned = engine->host_alloc ? engine->host_alloc(bytes * (size_t)n) : NULL;
    if (!pinned) {
        printf("no pinned memory: is the runtime there?\n");
        return 1;
    }
    memcpy(pinned, frames.data, bytes * (size_t)n);
    sk_frame frame = {.format = channels == 3 ? SK_PIXEL_RGB : SK_PIXEL_GRAY,
                      .width = w,
                      .height = h,
                      .stride = (ptrdiff_t)w * channels,
                      .data = pinned};
    chain ways[WAYS], cpu = open_chain(models, n_models, &frame, "cpu", NOTHING, threshold);
    const int n_ways = n_models > 1 ? WAYS : CROPS;
    double *ms[WAYS];
    for (int k = 0; k < n_ways; k++) {
        ways[k] = open_chain(models, n_models, &frame, "cuda", k, threshold);
        ms[k] = malloc((size_t)runs * sizeof(double));
    }
    printf("%s%s%s: %d frames of %dx%dx%d, %s\n", argv[4], n_models > 1 ? " + " : "",
           n_models > 1 ? argv[5] : "", n, w, h, channels, cpu.parts[0].plan->steps);
    agreement a = {0};
    for (int i = -n; i < runs; i++) {
        const int k = (i + n) % n;
        frame.data = pinned + (size_t)k * bytes;
        frame.index = k;
        for (int which = 0; which < n_ways; which++) {
            const int64_t begin = sk_clock_ns();
            run_frame(&ways[which], &frame);
            if (i >= 0)
                ms[which][i] = seconds(begin) * 1e3;
        }
        if (i >= 0)
            continue;
        run_frame(&cpu, &frame);
        /* eight crops at once may be summed up by other tiles */
        a.differ += !same(&ways[0].found, &ways[1].found) ||
                    (n_models == 1 && !same(&ways[0].found, &ways[2].found)) ||
                    (n_models > 1 && !same(&ways[ALL].found, &ways[CROPS].found));
        compare(&a, k, &ways[n_ways - 1].found, &cpu.found, threshold);
    }
    printf("  cuda %d, cpu %d instances in %d frames; %d points in both, at most %.3f px and %.4f in score "
           "apart, %d beyond "
           "0.5 px or 0.01; %d points in one only; the ways differ in %d frames; %d came whole\n",
           a.instances[0], a.instances[1], a.frames, a.points, a.pixels, a.score, a.beyond, a.alone, a.differ,
           ways[n_ways - 1].parts[0].whole + ways[n_ways - 1].parts[1].whole);
    static const char *const names[] = {"maps", "peaks", "all", "crops"};
    for (int k = 0; k < n_ways; k++) {
        tell_times(names[k], ms[k], runs, &ways[k]);
        close_chain(&ways[k], "cuda");
        free(ms[k]);
    }
    close_chain(&cpu, "cpu");
    frame.data = pinned;
    if (n_models > 1)
        stream_both(models, n_models, &frame, pinned, n, runs, threshold);
    for (int i = 0; i < 2; i++)
        sk_model_close(&models[i]);
    engine->host_free(pinned);
    sk_free(frames.data);
    return a.differ != 0;
}
