/* SPDX-License-Identifier: Apache-2.0 */
/* From frames in host memory to detections: one at a time, and with several in flight, on the cuda runtime; and the same
 * frames on the cpu runtime, for the results to be compared.
 * usage: cuda_bench MODEL WIDTH HEIGHT RUNS [frame.npy] */
#include "base/clock.h"
#include "engines/offload.h"
#include "formats/npy.h"
#include "models/model.h"
#include "tasks/instances.h"
#include "tasks/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop(const sk_error *err)
{
    printf("FAILED: %s\n", err->message);
    exit(1);
}

typedef struct chain {
    sk_task_stage *stage;
    const sk_task_plan *plan;
    sk_session *session;
    sk_instances found;
} chain;

static sk_letterbox_geometry geometry_of(const sk_model *m, int w, int h)
{
    sk_letterbox_geometry g;
    sk_error err = {0};
    if (sk_letterbox_plan(w, h, m->input.width ? m->input.width : 640,
                          m->input.height ? m->input.height : 640, 0, &g, &err) != SK_OK)
        stop(&err);
    return g;
}

static chain open_chain(const sk_model *m, const char *runtime, int w, int h, int slots, bool offload)
{
    chain c = {0};
    sk_error err = {0};
    sk_session_settings s = sk_session_defaults();
    sk_frame_fit fit;
    sk_sparse_outputs sparse;
    const sk_engine *engine = sk_engine_find(runtime);
    if (sk_task_stage_open(m, NULL, w, h, &c.stage, &err) != SK_OK)
        stop(&err);
    c.plan = sk_task_stage_plan(c.stage);
    const sk_letterbox_geometry g = geometry_of(m, w, h);
    s.cut_tail = 1;
    s.slots = slots;
    s.scale = m->input.scale;
    s.input = SK_INPUT_U8_HWC;
    if (offload) {
        if (!sk_offload_fit(&g, &(sk_frame){.format = SK_PIXEL_RGB}, &fit) ||
            !sk_offload_sparse(m, 0.25f, &sparse)) {
            printf("this model cannot be offloaded\n");
            exit(1);
        }
        s.input = SK_INPUT_FRAMES;
        s.fit = &fit;
        s.sparse = &sparse;
    }
    sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)c.plan->height, (int64_t)c.plan->width);
    if (sk_session_open(engine, m->graph, &shape, 1, &s, &c.session, &err) != SK_OK)
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

static void finish(chain *c)
{
    sk_error err = {0};
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    if (sk_session_wait(c->session, outputs, SK_SESSION_MAX_OUTPUTS, &err) != SK_OK ||
        sk_task_stage_result(c->stage, outputs, sk_session_about(c->session)->n_outputs, 0, 1, &c->found,
                             &err) != SK_OK)
        stop(&err);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double box_distance(const sk_instance *a, const sk_instance *b)
{
    double d = 0;
    for (int j = 0; j < 4; j++)
        d = fmax(d, fabs((double)a->box[j] - (double)b->box[j]));
    return d;
}

/* Every instance of one list against the nearest of the other. Where scores lie at the confidence or two boxes overlap by
 * just the limit, the smallest difference decides who stays: such instances have no partner and are counted. */
static void compare(const sk_instances *a, const sk_instances *b)
{
    double pixels = 0, score = 0, points = 0;
    int alone = 0;
    for (int32_t i = 0; i < b->count; i++) {
        const sk_instance *want = &b->items[i], *got = NULL;
        for (int32_t k = 0; k < a->count; k++)
            if (a->items[k].class_id == want->class_id &&
                (!got || box_distance(&a->items[k], want) < box_distance(got, want)))
                got = &a->items[k];
        if (!got || box_distance(got, want) > 4) {
            alone++;
            continue;
        }
        pixels = fmax(pixels, box_distance(got, want));
        score = fmax(score, fabs((double)got->score - (double)want->score));
        for (int32_t j = 0; j < b->n_keypoints; j++) {
            const sk_keypoint *x = &a->keypoints[got->first_keypoint + j],
                              *y = &b->keypoints[want->first_keypoint + j];
            points = fmax(points, fmax(fabs((double)x->x - (double)y->x), fabs((double)x->y - (double)y->y)));
        }
    }
    printf("  cuda %d, cpu %d instances, %d of the cpu's without a partner; the others differ by at most "
           "%.3f px (boxes), "
           "%.3f px (keypoints), %.4f (scores)\n",
           a->count, b->count, alone, pixels, points, score);
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
    enum { FRAMES = 4 };
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
        uint32_t noise = 7u + (uint32_t)k;
        for (size_t i = 0; i < bytes; i++) {
            noise = noise * 1664525u + 1013904223u;
            pinned[k][i] = (uint8_t)(noise >> 24);
        }
        if (picture.data) { /* the picture's pixels, repeated to the frame's size */
            const int ph = (int)picture.shape.dim[0], pw = (int)picture.shape.dim[1];
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    memcpy(pinned[k] + ((size_t)y * (size_t)w + (size_t)x) * 3,
                           (const uint8_t *)picture.data +
                               ((size_t)(y * ph / h) * (size_t)pw + (size_t)(x * pw / w)) * 3,
                           3);
        }
    }
    memcpy(plain, pinned[0], bytes);
    double *ms = malloc((size_t)runs * sizeof *ms);
    double serial = 0;
    for (int kind = 0; kind < 2; kind++) { /* pinned frames, then any memory */
        chain c = open_chain(m, "cuda", w, h, 1, true);
        for (int i = -20; i < runs; i++) {
            const int64_t begin = sk_clock_ns();
            submit(&c, kind ? plain : pinned[(i + 20) % FRAMES]);
            finish(&c);
            if (i >= 0)
                ms[i] = (double)(sk_clock_ns() - begin) * 1e-6;
        }
        double sum = 0;
        for (int i = 0; i < runs; i++)
            sum += ms[i];
        qsort(ms, (size_t)runs, sizeof *ms, by_size);
        sk_session_times t = {0};
        (void)!sk_session_get_times(c.session, &t, &err);
        printf("  %dx%d frame in %s memory to %d instances: median %.3f ms, p99 %.3f (device: upload %.3f, "
               "network %.3f, "
               "download %.3f)\n",
               w, h, kind ? "ordinary" : "pinned", c.found.count, ms[runs / 2], ms[runs * 99 / 100],
               t.upload * 1e3, t.network * 1e3, t.download * 1e3);
        if (!kind)
            serial = 1000.0 * runs / sum;
        close_chain(&c);
    }
    for (int slots = 2; slots <= 4; slots++) {
        chain c = open_chain(m, "cuda", w, h, slots, true);
        int64_t begin = 0;
        for (int i = -20, out = -20; out < runs;) {
            if (out == 0 && !begin)
                begin = sk_clock_ns();
            if (i < runs && i - out < slots) {
                submit(&c, pinned[(i + 20) % FRAMES]);
                i++;
            } else {
                finish(&c);
                out++;
            }
        }
        const double rate = 1e9 * runs / (double)(sk_clock_ns() - begin);
        printf("  %d in flight: %.0f frames/s, %.2fx submit-and-wait (%.0f)\n", slots, rate, rate / serial,
               serial);
        close_chain(&c);
    }
    chain fast = open_chain(m, "cuda", w, h, 1, true), slow = open_chain(m, "cpu", w, h, 1, false);
    uint8_t *input = malloc((size_t)slow.plan->width * (size_t)slow.plan->height * 3);
    sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = w, .height = h, .stride = (ptrdiff_t)w * 3, .data = pinned[0]};
    submit(&fast, pinned[0]);
    finish(&fast);
    if (sk_task_stage_input(slow.stage, &frame, SK_TASK_INPUT_U8, input, &err) != SK_OK)
        stop(&err);
    submit(&slow, input);
    finish(&slow);
    compare(&fast.found, &slow.found);
    close_chain(&fast);
    close_chain(&slow);
    for (int k = 0; k < FRAMES; k++)
        engine->host_free(pinned[k]);
    free(input);
    free(plain);
    free(ms);
    sk_free(picture.data);
    sk_model_close(&m);
    return 0;
}
