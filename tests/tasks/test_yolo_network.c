/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoint in, rows out: reader, engine and stages together against Ultralytics' recorded rows, with the
 * decode tail in the network and without it. */
#include "support/test.h"

#include "engines/engine.h"
#include "skitter/source.h"
#include "npy_test.h"
#include "old_rules.h"
#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    int size;
} models[] = {{"yolo11n-pose", 640},
              {"yolov8t-pose", 320},
              {"yolo11t-detect", 320},
              {"yolo11t-obb", 640},
              {"yolov8t-obb", 320}};

/* Columns of an instance as the recorded rows have them. */
static int row_of(const sk_model *m, const sk_instances *found, const sk_found *item, float *row)
{
    int n = 0;
    if (item->has & SK_HAS_OBB) {
        for (int k = 0; k < 5; k++)
            row[n++] = item->obb[k];
    } else {
        for (int k = 0; k < 4; k++)
            row[n++] = item->box[k];
    }
    row[n++] = item->score;
    row[n++] = (float)item->class_id;
    for (int k = 0; k < m->n_keypoints && item->has & SK_HAS_KEYPOINTS; k++) {
        const sk_keypoint *p = &found->keypoints[item->first_keypoint + k];
        row[n++] = p->x;
        row[n++] = p->y;
        row[n++] = p->score;
    }
    return n;
}

/* Largest differences of one found row from one wanted row. */
static void row_distance(const sk_model *m, const sk_instances *found, int at, const float *want,
                         int64_t width, double *px, double *score)
{
    float row[64];
    int n = row_of(m, found, &found->items[at], row), obb = found->items[at].has & SK_HAS_OBB ? 1 : 0;
    assert_int_equal(n, width);
    *px = *score = 0;
    for (int k = 0; k < n; k++) {
        int is_score = k == 4 || k == 5 || (obb && k == 6) || (k > 6 && k % 3 == 2);
        double d = fabs((double)row[k] - want[k]);
        if (is_score)
            *score = fmax(*score, d);
        else
            *px = fmax(*px, d);
    }
}

/* Rows stand in the order of their scores. Two that differ by less than rounding may stand either way, so
 * each wanted row is looked for among its neighbours; none may be found twice. */
static void compare(const sk_model *m, const sk_instances *found, const npy *rows, const char *what)
{
    double px = 0, score = 0;
    char taken[400] = {0};
    assert_int_equal(found->count, rows->dim[0]);
    assert_true(found->count <= (int)sizeof taken);
    for (int i = 0; i < found->count; i++) {
        const float *want = (float *)rows->data + i * rows->dim[1];
        double best_px = INFINITY, best_score = INFINITY;
        int best = -1;
        for (int j = i > 2 ? i - 2 : 0; j < found->count && j <= i + 2; j++) {
            double p, s;
            row_distance(m, found, j, want, rows->dim[1], &p, &s);
            if (!taken[j] && p < best_px) {
                best = j;
                best_px = p;
                best_score = s;
            }
        }
        assert_true(best >= 0);
        taken[best] = 1;
        px = fmax(px, best_px);
        score = fmax(score, best_score);
    }
    print_message("%s: %d rows, at most %.2g px, %.2g in score\n", what, (int)found->count, px, score);
    assert_true(px < 0.05 && score < 1e-3);
}

static void open_session(const sk_model *m, const sk_task_plan *p, int cut_tail, sk_session **session)
{
    sk_error err;
    sk_shape shape = sk_shape_of(4, 1, p->channels, p->height, p->width);
    sk_session_settings s = sk_session_defaults();
    s.threads = 1;
    strcpy(s.options, "tune=off");
    s.cache_dir = "";
    s.tail = cut_tail;
    s.input = SK_INPUT_U8_HWC;
    s.scale = p->scale;
    assert_ok(sk_session_open(sk_engine_find("cpu"), m->graph, &shape, 1, &s, session, &err), &err);
}

/* One picture through decoder, letterbox, network and stages. */
static void picture_to_rows(const sk_model *m, sk_session *session, int size, const char *picture,
                            const npy *input, const npy *rows, const char *what)
{
    sk_error err;
    char path[64];
    snprintf(path, sizeof path, "yolo/%s.jpg", picture);
    sk_source *source;
    sk_source_settings reading = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&reading);
    assert_ok(sk_source_open(test_data(path), &reading, &source, &err), &err);
    const sk_frame *frame;
    assert_ok(sk_source_next(source, &frame, &err), &err);
    sk_task_settings s = sk_task_settings_defaults();
    s.net_height = s.net_width = size;
    s.rect = 0; /* the recorded rows are of squares */
    sk_task_stage *stage;
    assert_ok(sk_task_stage_open(m, &s, frame->width, frame->height, &stage, &err), &err);
    const sk_task_plan *p = sk_task_stage_plan(stage);
    size_t bytes = (size_t)(p->width * p->height * 3);
    uint8_t *pixels = malloc(bytes);
    assert_ok(sk_task_stage_input(stage, frame, SK_TASK_INPUT_U8, pixels, &err), &err);
    if (input) {
        /* Decoders of JPEG may differ by a rounding; the recorded input is what the recorded rows belong
         * to. */
        int differ = 0;
        for (size_t i = 0; i < bytes; i++)
            differ = abs(pixels[i] - ((uint8_t *)input->data)[i]) > differ
                         ? abs(pixels[i] - ((uint8_t *)input->data)[i])
                         : differ;
        print_message("%s: letterboxed picture differs by at most %d\n", what, differ);
        assert_true(differ <= 2);
        memcpy(pixels, input->data, bytes);
    }
    sk_instances found;
    assert_ok(sk_instances_alloc(p->capacity, p->n_keypoints, &found, &err), &err);
    sk_session_input in = {.data = pixels};
    sk_tensor outputs[32];
    const sk_session_info *about = sk_session_about(session);
    assert_ok(sk_session_run(session, &in, 1, outputs, about->n_outputs, &err), &err);
    assert_ok(sk_task_stage_result(stage, outputs, about->n_outputs, 0, about->outputs_form, &found, &err),
              &err);
    for (int i = 0; i < found.count && m->task == SK_TASK_OBB; i++)
        clip_as_before(found.items[i].obb, frame->width, frame->height);
    compare(m, &found, rows, what);
    free(pixels);
    sk_instances_free(&found);
    sk_task_stage_close(&stage);
    sk_source_release(source, frame);
    sk_source_close(&source);
}

static void rows_equal_the_original(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err;
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[128], what[128];
        snprintf(path, sizeof path, "yolo/%s/%s.pt", models[i].name, models[i].name);
        sk_model *m;
        assert_ok(sk_model_open(test_data(path), &m, &err), &err);
        snprintf(path, sizeof path, "yolo/%s/bus_input_u8.npy", models[i].name);
        npy input = npy_load(test_data(path));
        snprintf(path, sizeof path, "yolo/%s/bus_detections.npy", models[i].name);
        npy bus = npy_load(test_data(path));
        snprintf(path, sizeof path, "yolo/%s/zidane_detections.npy", models[i].name);
        npy zidane = npy_load(test_data(path));
        sk_task_plan plan = {
            .width = models[i].size, .height = models[i].size, .channels = 3, .scale = 1.0f / 255};
        for (int cut = 0; cut < 2; cut++) {
            sk_session *session;
            open_session(m, &plan, cut, &session);
            snprintf(what, sizeof what, "%s %s bus", models[i].name, cut ? "heads" : "dense");
            picture_to_rows(m, session, models[i].size, "bus", &input, &bus, what);
            snprintf(what, sizeof what, "%s %s zidane", models[i].name, cut ? "heads" : "dense");
            if (cut)
                picture_to_rows(m, session, models[i].size, "zidane", NULL, &zidane, what);
            sk_session_close(&session);
        }
        free(input.data);
        free(bus.data);
        free(zidane.data);
        sk_model_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_equal_the_original)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
