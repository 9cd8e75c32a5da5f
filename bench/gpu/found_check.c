/* SPDX-License-Identifier: Apache-2.0 */
#include "found_check.h"

#include "../../tests/engines/found_cases.h"
#include "../settings_for.h"

#include "engines/cuda/session.h"

#include <string.h>

extern const sk_engine gpu_engine;

typedef struct totals {
    int cases, want, got, different;
    double pixels, score;
} totals;

static void run_case(const found_case *c, uint64_t seed, totals *t, int *failed)
{
    found_result r;
    sk_error err = {0};
    t->cases++;
    if (found_case_run(c, seed, &gpu_engine, &r, &err) != SK_OK) {
        printf("BAD found, case %d: %s\n", (int)seed, err.message);
        (*failed)++;
        return;
    }
    t->want += r.want;
    t->got += r.got;
    t->different += r.different + abs(r.want - r.got);
    t->pixels = fmax(t->pixels, r.worst);
    t->score = fmax(t->score, r.score);
    if (r.different || r.want != r.got) {
        (*failed)++;
        printf("BAD found, case %d (task %d, %d candidates wanted): %d found for %d, %d differ\n", (int)seed,
               (int)c->task, r.want, r.got, r.want, r.different);
    }
}

static found_case many(sk_task task, int side)
{
    found_case c = {.task = task, .side = side, .levels = 1, .classes = 1, .reg = 1, .batch = 1};
    c.settings = sk_yolo_settings_defaults();
    c.settings.confidence = 0.02f;
    c.settings.max_det = 1000;
    c.density = 1;
    c.precision = SK_PRECISION_F16;
    return c;
}

void check_found(int *checked, int *failed, bool small)
{
    static const int sides[] = {20, 48, 64, 100, 176};
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_OBB};
    totals t = {0};
    for (uint64_t seed = 0; seed < (small ? 6u : 120u); seed++) {
        const found_case c = found_case_random(seed);
        run_case(&c, seed, &t, failed);
    }
    for (uint64_t seed = 0; seed < (small ? 6u : 90u); seed++) {
        const found_case c = found_case_one_to_one(seed);
        run_case(&c, seed, &t, failed);
    }
    for (int i = 0; i < 4; i++) { /* more than are settled together */
        found_case c = many(tasks[i % 2], i < 2 ? 64 : 176);
        c.settings.iou = 0.9;
        c.settings.max_det = i < 2 ? 3000 : 40000;
        run_case(&c, (uint64_t)i + 40, &t, failed);
    }
    for (int i = 0; i < (small ? 2 : 5); i++)
        for (int k = 0; k < 3; k++) { /* the third: nearly all are suppressed */
            found_case c = many(tasks[k % 2], sides[i]);
            c.settings.iou = k == 2 ? 0.05 : c.settings.iou;
            run_case(&c, (uint64_t)i + 7, &t, failed);
        }
    *checked += t.cases;
    printf("found: %d cases, %d instances by the CPU, %d by the GPU, %d differ; the others within %.1e px, "
           "%.1e in score\n",
           t.cases, t.want, t.got, t.different, t.pixels, t.score);
}

/* Every step of finding alone, on what one run has left; microseconds. */
static void time_case(sk_task task, int side, float density, int end2end)
{
    found_case c = many(task, side);
    c.density = density;
    c.end2end = end2end;
    c.reg = side <= 100 ? 16 : 1;
    c.keypoints = task == SK_TASK_POSE ? 17 : 0;
    c.dims = 3;
    c.settings.max_det = 300;
    c.settings.confidence = 0.1f;
    sk_model model = {.task = task};
    sk_graph *g = found_graph(&c, &model.yolo);
    float *x = found_input(&c, 3);
    sk_session_settings s = settings_for(&gpu_engine, 0, SK_PRECISION_AUTO, "tune=off");
    sk_found_outputs wish;
    sk_session *session = NULL;
    sk_session_input in = {.data = x};
    sk_tensor out;
    sk_error err = {0};
    const sk_shape shape =
        sk_shape_of(4, 1, 4 * c.reg + c.classes + found_extra(&c), (int64_t)c.side, (int64_t)c.side);
    s.tail = SK_TAIL_CUT;
    s.cache_dir = "";
    s.stages.found = &wish;
    if (!sk_offload_found(&model, &c.settings, &wish) ||
        sk_session_open(&gpu_engine, g, &shape, 1, &s, &session, &err) != SK_OK ||
        sk_session_capture(session, &err) != SK_OK ||
        sk_session_run(session, &in, 1, &out, 1, &err) != SK_OK) {
        printf("BAD found: %s\n", err.message);
    } else {
        const gpu_session *gpu = (const gpu_session *)session;
        int32_t count = 0, found = 0;
        const float *one = out.data;
        for (int32_t i = 0; i < 300; i++)
            found += one[(int64_t)i * out.shape.dim[2] + 4] > 0;
        for (size_t i = 0; i < gpu->plan.n_steps; i++)
            if (gpu->plan.steps[i].kind == GPU_FINAL)
                (void)gpu_copy_down(&count, gpu_address(gpu, &gpu->plan.steps[i].refs[1], 0), 4,
                                    gpu->compute);
        (void)gpu_stream_wait(gpu->compute);
        printf("  task %d, %5d places, %5d candidates, %3d found:", (int)task, side * side, count, found);
        /* the last first: candidates are counted again and again */
        for (size_t i = gpu->plan.n_steps; i-- > 0;) {
            const gpu_step *step = &gpu->plan.steps[i];
            float us = 0;
            if (step->kind != GPU_SCAN && step->kind != GPU_RANKING && step->kind != GPU_OVERLAPS &&
                step->kind != GPU_PAIRS && step->kind != GPU_SUPPRESS && step->kind != GPU_FINAL)
                continue;
            if (gpu_time_step((gpu_session *)session, step, 20, &us, &err) == SK_OK)
                printf(" %s %.1f", step->kernel, (double)us);
        }
        printf(" us\n");
    }
    sk_session_close(&session);
    sk_graph_close(&g);
    free(x);
}

void time_found(void)
{
    printf("steps of finding, each alone:\n");
    static const float densities[] = {0.002f, 0.02f, 0.06f, 0.12f, 0.3f, 1};
    for (int i = 0; i < 6; i++)
        time_case(SK_TASK_POSE, 92, densities[i], 0);
    for (int i = 0; i < 6; i++)
        time_case(SK_TASK_OBB, 92, densities[i], 0);
    for (int i = 0; i < 6; i++) /* one-to-one heads */
        time_case(SK_TASK_POSE, 92, densities[i], 300);
    time_case(SK_TASK_DETECT, 176, 1, 0);
    time_case(SK_TASK_OBB, 176, 1, 0);
}
