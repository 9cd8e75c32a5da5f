/* SPDX-License-Identifier: Apache-2.0 */
/* From frames in host memory to detections on the cuda runtime: one at a time, and with several in flight; then the same
 * frame on the cpu runtime, and every detection that differs explained.
 * usage: [SQUARE=1] [ONLY=WORD] cuda_bench MODEL WIDTH HEIGHT RUNS [frame.npy]
 *   SQUARE=1: the network's whole square, not only what the frame's shape needs
 *   ONLY=WORD: only the rows with this word in their names, and nothing is compared */
#include "../settings_for.h"
#include "edges.h"

#include "base/clock.h"
#include "engines/offload.h"
#include "formats/npy.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4 };

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

/* What of the stage is the engine's. */
typedef enum share {
    NETWORK = 0, /* pictures in, whole heads out */
    SPARSE,      /* frames in, places that can pass out */
    FOUND        /* frames in, what is found out */
} share;

typedef struct chain {
    sk_task_stage *stage;
    const sk_task_plan *plan;
    sk_session *session;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    sk_instances found;
} chain;

/* How a frame lies in the network's input, whose shape the task has chosen. */
static sk_letterbox_geometry geometry_of(const sk_task_plan *plan, int w, int h)
{
    sk_letterbox_geometry g;
    sk_error err = {0};
    if (sk_letterbox_fit(w, h, plan->width, plan->height, 0, &g, &err) != SK_OK)
        stop(&err);
    return g;
}

static sk_task_stage *open_stage(const sk_model *m, int w, int h)
{
    sk_task_stage *stage = NULL;
    sk_error err = {0};
    sk_task_settings how = sk_task_settings_defaults();
    how.rect = getenv("SQUARE") ? 0 : 1;
    if (sk_task_stage_open(m, &how, w, h, &stage, &err) != SK_OK)
        stop(&err);
    return stage;
}

static chain open_chain(const sk_model *m, const char *runtime, int w, int h, sk_pixel_format format,
                        int slots, share engines)
{
    chain c = {0};
    sk_error err = {0};
    sk_frame_fit fit;
    sk_sparse_outputs sparse;
    sk_found_outputs found;
    const sk_yolo_settings rules = sk_yolo_settings_defaults();
    const sk_engine *engine = sk_engine_find(runtime);
    sk_session_settings s = settings_for(engine, 0, SK_PRECISION_AUTO, NULL);
    sk_net_pixel_values(m, &s);
    c.stage = open_stage(m, w, h);
    c.plan = sk_task_stage_plan(c.stage);
    const sk_letterbox_geometry g = geometry_of(c.plan, w, h);
    s.tail = 1;
    s.slots = slots;
    s.input = engines == NETWORK ? SK_INPUT_U8_HWC : SK_INPUT_FRAMES;
    if (engines != NETWORK) {
        if (!sk_offload_fit(&g, &(sk_frame){.format = format}, &fit) ||
            !sk_offload_sparse(m, rules.confidence, &sparse) || !sk_offload_found(m, &rules, &found)) {
            printf("this model cannot be offloaded\n");
            exit(1);
        }
        s.stages.fit = &fit;
        s.stages.sparse = engines == SPARSE ? &sparse : NULL;
        s.stages.found = engines == FOUND ? &found : NULL;
    }
    sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)c.plan->height, (int64_t)c.plan->width);
    if (sk_session_open(engine, m->graph, &shape, 1, &s, &c.session, &err) != SK_OK ||
        sk_session_capture(c.session, &err) != SK_OK)
        stop(&err);
    if (sk_instances_alloc(c.plan->capacity, c.plan->n_keypoints, &c.found, &err) != SK_OK)
        stop(&err);
    return c;
}

static void close_chain(chain *c)
{
    sk_session_close(&c->session);
    sk_task_stage_close(&c->stage);
    sk_instances_free(&c->found);
}

static void submit(chain *c, const uint8_t *data)
{
    sk_error err = {0};
    sk_session_input in = {.data = data};
    if (sk_session_submit(c->session, &in, 1, &err) != SK_OK)
        stop(&err);
}

static void wait_for(chain *c)
{
    sk_error err = {0};
    if (sk_session_wait(c->session, c->outputs, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK)
        stop(&err);
}

static void finish(chain *c)
{
    sk_error err = {0};
    const sk_session_info *about = sk_session_about(c->session);
    if (sk_task_stage_result(c->stage, c->outputs, about->n_outputs, 0, about->outputs_form, &c->found,
                             &err) != SK_OK)
        stop(&err);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Milliseconds of one kind of step, run by run. */
typedef struct series {
    double *total, *submit, *post;
} series;

static double median(double *ms, int runs)
{
    qsort(ms, (size_t)runs, sizeof *ms, by_size);
    return ms[runs / 2];
}

/* One at a time; frames a second. */
static double time_serial(const sk_model *m, int w, int h, sk_pixel_format format, share engines,
                          const char *what, uint8_t *const *frames, int n_frames, series *ms, int runs)
{
    const char *only = getenv("ONLY");
    if (only && !strstr(what, only))
        return 0;
    chain c = open_chain(m, "cuda", w, h, format, 1, engines);
    sk_error err = {0};
    sk_session_times t = {0};
    double sum = 0;
    for (int i = -20; i < runs; i++) {
        const int64_t begin = sk_clock_ns();
        submit(&c, frames[(i + 20) % n_frames]);
        const int64_t submitted = sk_clock_ns();
        wait_for(&c);
        const int64_t waited = sk_clock_ns();
        finish(&c);
        const int64_t end = sk_clock_ns();
        if (i < 0)
            continue;
        ms->total[i] = (double)(end - begin) * 1e-6;
        ms->submit[i] = (double)(submitted - begin) * 1e-6;
        ms->post[i] = (double)(end - waited) * 1e-6;
        sum += ms->total[i];
    }
    (void)!sk_session_get_times(c.session, &t, &err);
    const double middle = median(ms->total, runs);
    printf("  %-32s %3d instances: median %.3f ms, p99 %.3f (host: submit %.3f, after the wait %.3f; device: "
           "upload "
           "%.3f, network %.3f, download %.3f)\n",
           what, c.found.count, middle, ms->total[runs * 99 / 100], median(ms->submit, runs),
           median(ms->post, runs), t.upload * 1e3, t.network * 1e3, t.download * 1e3);
    close_chain(&c);
    return 1000.0 * runs / sum;
}

static void time_pipelined(const sk_model *m, int w, int h, uint8_t *const *frames, int runs, double serial)
{
    for (int slots = 2; slots <= 4; slots++) {
        chain c = open_chain(m, "cuda", w, h, SK_PIXEL_RGB, slots, FOUND);
        int64_t begin = 0;
        for (int i = -20, out = -20; out < runs;) {
            if (out == 0 && !begin)
                begin = sk_clock_ns();
            if (i < runs && i - out < slots) {
                submit(&c, frames[(i + 20) % FRAMES]);
                i++;
            } else {
                wait_for(&c);
                finish(&c);
                out++;
            }
        }
        const double rate = 1e9 * runs / (double)(sk_clock_ns() - begin);
        printf("  %d in flight: %.0f frames/s, %.2fx submit-and-wait (%.0f)\n", slots, rate, rate / serial,
               serial);
        close_chain(&c);
    }
}

/* What the engine finds against the tasks' code on the same heads: only rounding may differ. */
static int compare_found(const sk_instances *ours, const sk_instances *tasks)
{
    double pixels = 0, points = 0, score = 0;
    int different = abs(ours->count - tasks->count);
    for (int32_t i = 0; i < ours->count && i < tasks->count; i++) {
        const sk_found *a = &ours->items[i], *b = &tasks->items[i];
        double d = 0;
        for (int j = 0; j < 4; j++)
            d = fmax(d, fabs((double)a->box[j] - (double)b->box[j]));
        if (a->class_id != b->class_id || !(d < 0.01)) {
            different++;
            continue;
        }
        pixels = fmax(pixels, d);
        score = fmax(score, fabs((double)a->score - (double)b->score));
        for (int32_t j = 0; j < ours->n_keypoints; j++) {
            const sk_keypoint *x = &ours->keypoints[a->first_keypoint + j],
                              *y = &tasks->keypoints[b->first_keypoint + j];
            points = fmax(points, fmax(fabs((double)x->x - (double)y->x), fabs((double)x->y - (double)y->y)));
        }
    }
    printf("  the GPU found %d, the CPU's from the same heads %d: %d different; the others within %.5f px "
           "(boxes), %.5f px "
           "(keypoints), %.7f (scores)\n",
           ours->count, tasks->count, different, pixels, points, score);
    return different;
}

static int compare_runtimes(const sk_model *m, int w, int h, uint8_t *pixels)
{
    sk_error err = {0};
    chain whole = open_chain(m, "cuda", w, h, SK_PIXEL_RGB, 1, FOUND);
    chain side[2] = {open_chain(m, "cuda", w, h, SK_PIXEL_RGB, 1, NETWORK),
                     open_chain(m, "cpu", w, h, SK_PIXEL_RGB, 1, NETWORK)};
    const char *const names[2] = {"cuda", "cpu"};
    const sk_tensor *const heads[2] = {side[0].outputs, side[1].outputs};
    const sk_letterbox_geometry g = geometry_of(side[0].plan, w, h);
    const sk_yolo_settings rules = sk_yolo_settings_defaults();
    uint8_t *input = malloc((size_t)side[0].plan->width * (size_t)side[0].plan->height * 3);
    sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = w, .height = h, .stride = (ptrdiff_t)w * 3, .data = pixels};
    submit(&whole, pixels);
    wait_for(&whole);
    finish(&whole);
    for (int k = 0; k < 2; k++) {
        if (sk_task_stage_input(side[k].stage, &frame, SK_TASK_INPUT_U8, input, &err) != SK_OK)
            stop(&err);
        submit(&side[k], input);
        wait_for(&side[k]);
        finish(&side[k]);
    }
    int bad = compare_found(&whole.found, &side[0].found);
    bad += edges_explain(m, &rules, names, heads, side[0].plan->width, side[0].plan->height, 1 / g.gain);
    close_chain(&whole);
    close_chain(&side[0]);
    close_chain(&side[1]);
    free(input);
    return bad;
}

/* Noise, or the picture's pixels repeated to the frame's size. */
static void paint(uint8_t *frame, int w, int h, const sk_tensor *picture, uint32_t noise)
{
    for (size_t i = 0; i < (size_t)w * (size_t)h * 3; i++) {
        noise = noise * 1664525u + 1013904223u;
        frame[i] = (uint8_t)(noise >> 24);
    }
    if (!picture->data)
        return;
    const int ph = (int)picture->shape.dim[0], pw = (int)picture->shape.dim[1];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            memcpy(frame + ((size_t)y * (size_t)w + (size_t)x) * 3,
                   (const uint8_t *)picture->data +
                       ((size_t)(y * ph / h) * (size_t)pw + (size_t)(x * pw / w)) * 3,
                   3);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    const int w = atoi(argv[2]), h = atoi(argv[3]), runs = atoi(argv[4]);
    sk_error err = {0};
    sk_model *m = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (sk_model_open(argv[1], &m, &err) != SK_OK)
        stop(&err);
    const sk_engine *engine = sk_engine_find("cuda");
    const size_t bytes = (size_t)w * (size_t)h * 3;
    uint8_t *pinned[FRAMES], *plain = malloc(bytes);
    sk_tensor picture = {0};
    if (argc > 5 && sk_npy_read(argv[5], (size_t)1 << 30, &picture, &err) != SK_OK)
        stop(&err);
    for (int k = 0; k < FRAMES; k++) {
        pinned[k] = engine->host_alloc ? engine->host_alloc(bytes) : NULL;
        if (!pinned[k]) {
            printf("no pinned memory: is the runtime there?\n");
            return 1;
        }
        paint(pinned[k], w, h, &picture, 7u + (uint32_t)k);
    }
    memcpy(plain, pinned[0], bytes);
    double *values = malloc((size_t)runs * 3 * sizeof *values);
    series ms = {values, values + runs, values + 2 * runs};
    sk_task_stage *stage = open_stage(m, w, h);
    const sk_task_plan *plan = sk_task_stage_plan(stage);
    printf("  %dx%d frames to detections, network %dx%d, %d runs:\n", w, h, plan->width, plan->height, runs);
    sk_task_stage_close(&stage);
    const double serial = time_serial(m, w, h, SK_PIXEL_RGB, FOUND, "pinned RGB", pinned, FRAMES, &ms, runs);
    time_serial(m, w, h, SK_PIXEL_RGB, FOUND, "ordinary memory, RGB", &plain, 1, &ms, runs);
    time_serial(m, w, h, SK_PIXEL_GRAY, FOUND, "pinned grey", pinned, FRAMES, &ms, runs);
    if (w % 2 == 0 && h % 2 == 0) /* any bytes are a picture */
        time_serial(m, w, h, SK_PIXEL_NV12, FOUND, "pinned NV12", pinned, FRAMES, &ms, runs);
    time_serial(m, w, h, SK_PIXEL_RGB, SPARSE, "pinned RGB, decoded by the CPU", pinned, FRAMES, &ms, runs);
    int bad = 0;
    if (!getenv("ONLY")) {
        time_pipelined(m, w, h, pinned, runs, serial);
        bad = compare_runtimes(m, w, h, pinned[0]);
    }
    for (int k = 0; k < FRAMES; k++)
        engine->host_free(pinned[k]);
    free(plain);
    free(values);
    sk_free(picture.data);
    sk_model_close(&m);
    return bad != 0;
}
