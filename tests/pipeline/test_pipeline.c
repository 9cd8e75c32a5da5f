/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

/* What skitter/pipeline.h promises: settings, models, frames' fates, results. */

static float first_score(const sk_result *result)
{
    sk_instance animal = SK_INSTANCE_INIT;
    return sk_instances_get(result->instances, 0, &animal) ? animal.score : -1;
}

static void settings_are_copied(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    int32_t *classes = malloc(sizeof *classes);
    sk_sleap_options *sleap = malloc(sizeof *sleap);
    char *texts[4] = {strdup("cpu"), strdup("cpu"), strdup("f32"), strdup("winograd=off")};
    *sleap = (sk_sleap_options)SK_SLEAP_OPTIONS_INIT;
    sk_sleap_options_defaults(sleap);
    classes[0] = 0;
    s.classes = classes;
    s.n_classes = 1;
    s.sleap = sleap;
    s.runtime = texts[0];
    s.devices = texts[1];
    s.precision = texts[2];
    s.options = texts[3];
    lent *expect = make_lent(0, 48, 40);
    s.expect = &expect->frame;
    sk_pipeline *p = open_tiny(&s);
    for (int i = 0; i < 4; i++) {
        memset(texts[i], 'x', strlen(texts[i]));
        free(texts[i]);
    }
    memset(classes, 0x7f, sizeof *classes);
    free(classes);
    memset(sleap, 0x7f, sizeof *sleap);
    free(sleap);
    memset(&s, 0x7f, sizeof s);
    free_lent(expect);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_string_equal(info->runtime_requested, "cpu");
    assert_string_equal(info->precision, "f32");
    lent *other = make_lent(3, 96, 64); /* another size: a new trace, by the copied settings */
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_run(p, &other->frame, &result, &err), &err);
    assert_true(sk_instances_count(result->instances) > 0);
    sk_instance animal = SK_INSTANCE_INIT;
    for (int32_t i = 0; sk_instances_get(result->instances, i, &animal); i++)
        assert_int_equal(animal.class_id, 0);
    sk_pipeline_give_back(p, result);
    sk_pipeline_close(&p);
    assert_int_equal(other->back, 1);
    free_lent(other);
}

/* A program built when the structs ended earlier, and one built when they will end later. */
static void other_sizes_of_structs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline *p = NULL;
    const char *path = tiny_path();
    union {
        sk_pipeline_settings s;
        unsigned char bytes[sizeof(sk_pipeline_settings) + 64];
    } old, later;
    memset(&old, 0x5a, sizeof old);
    old.s.size = offsetof(sk_pipeline_settings, max_det);
    sk_pipeline_defaults(&old.s);
    assert_true(old.s.confidence == 0.25f);
    for (size_t i = offsetof(sk_pipeline_settings, max_det); i < sizeof old; i++)
        assert_int_equal(old.bytes[i], 0x5a); /* not touched */
    old.s.threads = 1;
    assert_ok(sk_pipeline_open(&path, 1, &old.s, &p, &err), &err); /* and not read */
    assert_int_equal(sk_pipeline_about(p)->capacity, 300);         /* max_det: its default */
    sk_pipeline_close(&p);
    memset(&later, 0, sizeof later);
    later.s = tiny_settings();
    later.s.size = sizeof later;
    assert_ok(sk_pipeline_open(&path, 1, &later.s, &p, &err), &err); /* what we do not know is not set */
    union {
        sk_frame f;
        unsigned char bytes[sizeof(sk_frame) + 16];
    } frame;
    memset(&frame, 0, sizeof frame);
    lent *l = make_lent(0, 48, 40);
    frame.f = l->frame;
    frame.f.release = NULL;
    frame.f.size = offsetof(sk_frame, release);
    memset(frame.bytes + offsetof(sk_frame, release), 0x5a, sizeof frame - offsetof(sk_frame, release));
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_run(p, &frame.f, &result, &err), &err);
    sk_pipeline_give_back(p, result);
    frame.f.size = sizeof frame;
    assert_int_equal(sk_pipeline_run(p, &frame.f, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, sk_version_text()));
    frame.f.size = 0;
    assert_int_equal(sk_pipeline_run(p, &frame.f, &result, &err), SK_ERR_ARG);
    sk_stage_stats stage = SK_INIT_BY_SIZE(sk_stage_stats);
    stage.size = offsetof(sk_stage_stats, max);
    stage.max = -7;
    assert_true(sk_pipeline_get_stage(p, SK_STAGE_TOTAL, &stage));
    assert_true(stage.count == 1 && stage.max == -7);
    assert_false(sk_pipeline_get_stage(p, SK_STAGE_COUNT, &stage));
    sk_pipeline_close(&p);
    later.bytes[sizeof later.bytes - 1] = 1;
    assert_int_equal(sk_pipeline_open(&path, 1, &later.s, &p, &err), SK_ERR_ARG);
    assert_null(p);
    assert_non_null(strstr(err.message, "later version"));
    free_lent(l);
}

static void about_is_complete(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_int_equal(info->size, sizeof *info);
    assert_int_equal(info->task, SK_TASK_POSE);
    assert_int_equal(info->n_models, 1);
    assert_null(info->models[1]);
    assert_string_equal(info->models[0]->path, tiny_path());
    assert_int_equal(strlen(info->models[0]->sha256), 64);
    assert_int_equal(info->models[0]->width, 32);
    assert_int_equal(info->models[0]->channels, 3);
    assert_true(info->n_classes > 0 && info->class_names[0]);
    assert_true(info->n_keypoints > 0);
    assert_string_equal(info->keypoint_names[0], "kpt0");
    assert_true(info->has & SK_HAS_KEYPOINTS);
    assert_string_equal(info->runtime, "cpu");
    assert_true(info->device[0] && info->depth > 0);
    sk_pipeline_close(&p);
    assert_null(p);
    sk_pipeline_close(&p);
}

/* Where frame `format` in memory stands in the list. */
static int32_t place_of(const sk_pipeline_info *info, sk_pixel_format format)
{
    for (int32_t i = 0; i < info->n_accepts; i++)
        if (info->accepts[i].format == format && info->accepts[i].place == SK_PLACE_HOST)
            return i;
    return -1;
}

static void accepts_the_best_first(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    /* a YOLO on the processor: large frames best as planes, of which it looks at few pixels; else RGB before the others */
    assert_int_equal(place_of(info, SK_PIXEL_I420), 0);
    assert_true(info->accepts[0].above_width >= 32 && info->accepts[0].above_height >= 32);
    assert_int_equal(place_of(info, SK_PIXEL_RGB), 1);
    static const sk_pixel_format others[] = {SK_PIXEL_BGR,    SK_PIXEL_GRAY, SK_PIXEL_RGBA, SK_PIXEL_BGRA,
                                             SK_PIXEL_GRAY16, SK_PIXEL_YUYV, SK_PIXEL_NV12};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(place_of(info, others[i]) > 1);
    for (int32_t i = 0; i < info->n_accepts; i++)
        assert_int_equal(info->accepts[i].place, SK_PLACE_HOST);
    sk_pipeline_close(&p);
    s.runtime = "reference"; /* another engine: no planes before RGB */
    p = open_tiny(&s);
    assert_int_equal(place_of(sk_pipeline_about(p), SK_PIXEL_RGB) <= 1, true);
    sk_pipeline_close(&p);
    const char *twice[] = {tiny_path(), tiny_path()};
    assert_int_equal(sk_pipeline_open(twice, 3, &s, &p, &err), SK_ERR_ARG);
}

/* --- models --- */

static void a_model_may_be_closed_and_shared(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    sk_pipeline *p[2] = {NULL, NULL};
    sk_pipeline_settings s = tiny_settings();
    s.rect = SK_RECT_OFF; /* one network fits all: weights could be given back */
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    const sk_model *list = model;
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p[0], &err), &err);
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p[1], &err), &err); /* its weights are still there */
    sk_model_close(&model);
    assert_null(model);
    lent *l = make_lent(2, 48, 40);
    float scores[2];
    for (int i = 0; i < 2; i++) {
        const sk_result *result = NULL;
        assert_ok(sk_pipeline_run(p[i], &l->frame, &result, &err), &err);
        scores[i] = first_score(result);
        sk_pipeline_give_back(p[i], result);
        sk_pipeline_close(&p[i]);
    }
    assert_true(scores[0] > 0 && scores[0] == scores[1]);
    free_lent(l);
}

static void *run_some(void *context)
{
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = NULL;
    sk_error err = {0};
    const sk_model *model = context;
    lent *l = make_lent(1, 48, 40);
    float *score = malloc(sizeof *score);
    *score = -2;
    if (sk_pipeline_open_models(&model, 1, &s, &p, &err) == SK_OK)
        for (int i = 0; i < 5; i++) {
            const sk_result *result = NULL;
            if (sk_pipeline_run(p, &l->frame, &result, &err) == SK_OK)
                *score = first_score(result);
            sk_pipeline_give_back(p, result);
        }
    sk_pipeline_close(&p);
    free_lent(l);
    return score;
}

static void two_threads_share_a_model(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    pthread_t threads[2];
    float *scores[2];
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, model), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], (void **)&scores[i]);
    assert_true(*scores[0] > 0 && *scores[0] == *scores[1]);
    free(scores[0]);
    free(scores[1]);
    sk_model_close(&model);
}

static void a_model_from_bytes(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *file = fopen(tiny_path(), "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 20];
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    sk_model *model = NULL;
    assert_ok(sk_model_open_bytes(bytes, length, NULL, SK_HEADS_AUTO, &model, &err), &err);
    memset(bytes, 0x5a, sizeof bytes); /* they are ours again */
    sk_pipeline_settings s = tiny_settings();
    s.rect = SK_RECT_OFF;
    sk_pipeline *p = NULL, *q = open_tiny(&s);
    const sk_model *list = model;
    assert_ok(sk_pipeline_open_models(&list, 1, &s, &p, &err), &err);
    sk_model_close(&model);
    assert_string_equal(sk_pipeline_about(p)->models[0]->sha256, sk_pipeline_about(q)->models[0]->sha256);
    lent *l = make_lent(2, 64, 20);
    const sk_result *a = NULL, *b = NULL;
    assert_ok(sk_pipeline_run(p, &l->frame, &a, &err), &err);
    assert_ok(sk_pipeline_run(q, &l->frame, &b, &err), &err);
    assert_true(first_score(a) > 0 && first_score(a) == first_score(b));
    sk_pipeline_close(&p);
    sk_pipeline_close(&q);
    assert_int_equal(l->back, 2);
    free_lent(l);
    assert_int_equal(sk_model_open_bytes("nothing", 7, "a name", SK_HEADS_AUTO, &model, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a name"));
}

/* --- what becomes of frames --- */

#define MANY 12

static void make_many(lent *l[MANY])
{
    for (int i = 0; i < MANY; i++)
        l[i] = make_lent(i, 48, 40);
}

/* Each that was taken came back once, the others not at all. */
static void all_back_once(lent *l[MANY], int taken)
{
    for (int i = 0; i < MANY; i++) {
        if (l[i]->back != (i < taken))
            fail_msg("frame %d was given back %d times", i, (int)l[i]->back);
        free_lent(l[i]);
    }
}

/* A batch that never fills up by itself: frames wait until they are flushed. */
static sk_pipeline_settings waiting_settings(void)
{
    sk_pipeline_settings s = tiny_settings();
    s.batch = 16;
    s.batch_wait_ms = 3600000;
    s.depth = 16;
    return s;
}

static void delivered_with_its_user_pointer(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.keep_frames = true;
    s.depth = MANY;
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *out[MANY];
    int n = 0;
    for (int i = 0; i < MANY; i++) {
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, l[i], 0, &err), &err);
        if (i % 4 == 3) /* several are out at a time */
            while (n <= i - 2) {
                assert_ok(sk_pipeline_take(p, -1, &out[n], &err), &err);
                n++;
            }
    }
    sk_pipeline_finish(p);
    while (n < MANY) {
        assert_ok(sk_pipeline_take(p, -1, &out[n], &err), &err);
        n++;
    }
    const sk_result *end = out[0];
    assert_ok(sk_pipeline_take(p, -1, &end, &err), &err);
    assert_null(end);
    for (int i = MANY - 1; i >= 0; i--) { /* in any order */
        assert_int_equal(out[i]->ticket, i);
        assert_int_equal(out[i]->index, i);
        assert_int_equal(out[i]->time_ns, i * 40000000);
        assert_ptr_equal(out[i]->user, l[i]);
        assert_ptr_equal(out[i]->frame, &l[i]->frame);
        assert_int_equal(out[i]->status, SK_OK);
        assert_string_equal(out[i]->problem, "");
        assert_int_equal(l[i]->back, 0);
        sk_pipeline_give_back(p, out[i]);
        assert_int_equal(l[i]->back, 1);
    }
    sk_pipeline_stats stats = SK_INIT_BY_SIZE(sk_pipeline_stats);
    sk_pipeline_get_stats(p, &stats);
    assert_true(stats.submitted == MANY && stats.delivered == MANY && stats.open_seconds > 0);
    sk_pipeline_close(&p);
    all_back_once(l, MANY);
}

static void a_copied_frame_is_free_at_once(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    s.keep_frames = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(4, 48, 40), *lent_one = make_lent(4, 48, 40);
    sk_frame local = l->frame;
    local.release = NULL;
    assert_ok(sk_pipeline_submit(p, &local, NULL, 0, &err), &err);
    memset(&local, 0x7f, sizeof local);
    memset(l->frame.data, 0x11, 48 * 40 * 3);
    assert_ok(sk_pipeline_submit(p, &lent_one->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    const sk_result *a = NULL, *b = NULL;
    assert_ok(sk_pipeline_take(p, -1, &a, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &b, &err), &err);
    assert_null(a->frame);
    assert_true(first_score(a) > 0 && first_score(a) == first_score(b));
    sk_pipeline_close(&p);
    assert_int_equal(l->back, 0);
    assert_int_equal(lent_one->back, 1);
    free_lent(l);
    free_lent(lent_one);
}

static void cancelled(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    for (int i = 0; i < 5; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_in_flight(p), 5);
    sk_pipeline_cancel(p);
    assert_int_equal(sk_pipeline_in_flight(p), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(l[i]->back, 1);
    const sk_result *result = NULL; /* used on */
    assert_ok(sk_pipeline_run(p, &l[5]->frame, &result, &err), &err);
    assert_int_equal(result->index, 5);
    sk_pipeline_close(&p); /* also ends the result */
    all_back_once(l, 6);
}

static void dropped_and_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int refuse = 0; refuse < 2; refuse++) {
        sk_pipeline_settings s = waiting_settings();
        s.when_full = refuse ? SK_FULL_REFUSE : SK_FULL_DROP_OLDEST;
        s.batch = s.depth = 4; /* full, and beginning, at the fourth */
        sk_pipeline *p = open_tiny(&s);
        lent *l[MANY];
        make_many(l);
        sk_pipeline_stats stats = SK_INIT_BY_SIZE(sk_pipeline_stats);
        int taken = 0;
        for (int i = 0; i < MANY; i++) {
            sk_status status = sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err);
            assert_true(status == SK_OK || (refuse && status == SK_ERR_BUSY));
            taken += status == SK_OK;
            if (status != SK_OK)
                assert_int_equal(l[i]->back, 0);
            if (status != SK_OK)
                break;
        }
        assert_ok(sk_pipeline_drain(p, &err), &err);
        sk_pipeline_get_stats(p, &stats);
        assert_true(stats.refused == (refuse && taken < MANY));
        assert_int_equal(stats.dropped + sk_pipeline_in_flight(p), taken);
        assert_true(refuse ? stats.dropped == 0 : stats.dropped > 0 && taken == MANY);
        sk_pipeline_close(&p);
        all_back_once(l, taken);
    }
}

static void failed(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *result = NULL;
    l[0]->frame.stride = 5; /* not taken: not released */
    assert_int_equal(sk_pipeline_submit(p, &l[0]->frame, NULL, 0, &err), SK_ERR_ARG);
    assert_int_equal(l[0]->back, 0);
    l[0]->frame.stride = 48 * 3;
    l[0]->frame.place = SK_PLACE_CUDA; /* taken by nobody here */
    assert_int_equal(sk_pipeline_submit(p, &l[0]->frame, NULL, 0, &err) == SK_OK, true);
    sk_pipeline_flush(p);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err); /* a result like others */
    assert_int_equal(result->status, SK_ERR_UNSUPPORTED);
    assert_true(result->problem[0] && !result->instances);
    sk_pipeline_give_back(p, result);
    l[1]->frame.place = SK_PLACE_CUDA;
    assert_int_equal(sk_pipeline_run(p, &l[1]->frame, &result, &err), SK_ERR_UNSUPPORTED);
    assert_null(result);
    sk_frame copied = l[2]->frame;
    copied.release = NULL;
    copied.place = SK_PLACE_CUDA;
    assert_int_equal(sk_pipeline_submit(p, &copied, NULL, 0, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "release"));
    sk_pipeline_close(&p);
    all_back_once(l, 2);
}

static void released_with_results_out(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    s.keep_frames = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l[MANY];
    make_many(l);
    const sk_result *out = NULL, *none = NULL;
    assert_ok(sk_pipeline_submit(p, &l[0]->frame, l[0], SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &out, &err), &err);
    for (int i = 1; i < 4; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    sk_pipeline_release(p);
    sk_pipeline_release(p);
    for (int i = 1; i < 4; i++)
        assert_int_equal(l[i]->back, 1);
    assert_int_equal(l[0]->back, 0);
    assert_true(out->user == l[0] && out->frame == &l[0]->frame && first_score(out) > 0); /* stays */
    assert_int_equal(sk_pipeline_submit(p, &l[5]->frame, NULL, 0, &err), SK_ERR_CANCELLED);
    assert_int_equal(sk_pipeline_take(p, -1, &none, &err), SK_ERR_CANCELLED);
    assert_int_equal(sk_pipeline_drain(p, &err), SK_ERR_CANCELLED);
    sk_pipeline_stats stats = SK_INIT_BY_SIZE(sk_pipeline_stats);
    sk_pipeline_get_stats(p, &stats);
    assert_int_equal(stats.submitted, 4);
    sk_pipeline_give_back(p, out);
    assert_int_equal(l[0]->back, 1);
    sk_pipeline_close(&p);
    all_back_once(l, 4);
}

static void closed_while_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int round = 0; round < 8; round++) {
        sk_pipeline_settings s = tiny_settings();
        s.depth = MANY;
        sk_pipeline *p = open_tiny(&s);
        lent *l[MANY];
        make_many(l);
        for (int i = 0; i < MANY; i++)
            assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
        if (round & 1)
            nanosleep(&(struct timespec){0, round * 200000}, NULL);
        sk_pipeline_close(&p);
        all_back_once(l, MANY);
    }
}

/* --- waiting --- */

static void take_waits_as_long_as_it_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_result *result = NULL;
    assert_int_equal(sk_pipeline_take(p, 0, &result, &err), SK_ERR_TIMEOUT);
    assert_int_equal(sk_pipeline_take(p, 10, &result, &err), SK_ERR_TIMEOUT);
    lent *l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_take(p, 10, &result, &err), SK_ERR_TIMEOUT);
    assert_null(result);
    assert_ok(sk_pipeline_drain(p, &err), &err);
    assert_int_equal(sk_pipeline_in_flight(p), 1);
    assert_ok(sk_pipeline_take(p, 0, &result, &err), &err);
    assert_non_null(result);
    sk_pipeline_close(&p);
    free_lent(l);
    s.timeout_ms = 20; /* the pipeline's own: it names the stage */
    p = open_tiny(&s);
    l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
    assert_int_equal(sk_pipeline_take(p, -1, &result, &err), SK_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "queue"));
    sk_pipeline_close(&p);
    free_lent(l);
}

static bool readable(int fd)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    return poll(&watched, 1, 0) == 1;
}

static void descriptor_says_what_is(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = waiting_settings();
    sk_pipeline *p = open_tiny(&s);
    const int fd = sk_pipeline_fd(p);
    assert_true(fd >= 0 && sk_pipeline_fd(p) == fd);
    lent *l[MANY];
    make_many(l);
    const sk_result *result = NULL;
    assert_false(readable(fd));
    for (int i = 0; i < 3; i++)
        assert_ok(sk_pipeline_submit(p, &l[i]->frame, NULL, 0, &err), &err);
    assert_false(readable(fd));
    sk_pipeline_flush(p);
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&watched, 1, 20000), 1);
    assert_ok(sk_pipeline_drain(p, &err), &err);
    for (int i = 0; i < 3; i++) {
        assert_true(readable(fd));
        assert_ok(sk_pipeline_take(p, 0, &result, &err), &err);
        sk_pipeline_give_back(p, result);
    }
    assert_false(readable(fd));
    sk_pipeline_finish(p); /* the end can be taken */
    assert_true(readable(fd));
    assert_ok(sk_pipeline_submit(p, &l[3]->frame, NULL, 0, &err), &err);
    assert_false(readable(fd));
    sk_pipeline_cancel(p);
    assert_false(readable(fd));
    sk_pipeline_release(p);
    assert_true(readable(fd));
    sk_pipeline_close(&p);
    all_back_once(l, 4);
}

/* --- calling back --- */

typedef struct calling {
    sk_pipeline *pipeline;
    lent *frames[MANY];
    atomic_int next, back, ready, taken;
} calling;

static void release_and_submit(void *context, const sk_frame *frame)
{
    calling *c = context;
    sk_error err;
    (void)frame;
    atomic_fetch_add(&c->back, 1);
    (void)sk_pipeline_in_flight(c->pipeline);
    const int next = atomic_fetch_add(&c->next, 1);
    if (next < MANY && sk_pipeline_submit(c->pipeline, &c->frames[next]->frame, NULL, SK_SUBMIT_FLUSH, &err))
        abort();
}

static void take_when_ready(void *context)
{
    calling *c = context;
    sk_error err;
    const sk_result *result = NULL;
    atomic_fetch_add(&c->ready, 1);
    while (c->pipeline && sk_pipeline_take(c->pipeline, 0, &result, &err) == SK_OK && result) {
        sk_pipeline_give_back(c->pipeline, result);
        atomic_fetch_add(&c->taken, 1);
    }
}

/* The frame's release hands the next one in, `ready` takes results: all from inside the pipeline's own calls. */
static void callbacks_may_call_back(void **state)
{
    (void)state;
    sk_error err = {0};
    calling c = {.pipeline = NULL};
    sk_pipeline_settings s = tiny_settings();
    s.depth = MANY + 1;
    s.ready = take_when_ready;
    s.ready_context = &c;
    c.pipeline = open_tiny(&s);
    for (int i = 0; i < MANY; i++) {
        c.frames[i] = make_lent(i, 48, 40);
        c.frames[i]->frame.release = release_and_submit;
        c.frames[i]->frame.release_context = &c;
    }
    atomic_store(&c.next, 1);
    assert_ok(sk_pipeline_submit(c.pipeline, &c.frames[0]->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    for (int i = 0; i < 20000 && atomic_load(&c.taken) < MANY; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(atomic_load(&c.taken), MANY);
    assert_int_equal(atomic_load(&c.back), MANY);
    assert_true(atomic_load(&c.ready) > 0);
    sk_pipeline *p = c.pipeline; /* a late call may still look at the other pointer */
    sk_pipeline_close(&p);
    for (int i = 0; i < MANY; i++)
        free_lent(c.frames[i]);
}

#define EACH 40

typedef struct submitting {
    sk_pipeline *pipeline;
    int first;
    bool good;
} submitting;

static void *submit_some(void *context)
{
    submitting *s = context;
    sk_error err;
    s->good = true;
    for (int i = 0; i < EACH; i++) {
        lent *l = make_lent(s->first + i, 48, 40);
        sk_frame copied = l->frame;
        copied.release = NULL;
        s->good = s->good && sk_pipeline_submit(s->pipeline, &copied, s, 0, &err) == SK_OK;
        free_lent(l);
    }
    return NULL;
}

static void two_submit_and_one_takes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.devices = "cpu*2";
    sk_pipeline *p = open_tiny(&s);
    submitting who[2] = {{.pipeline = p, .first = 0}, {.pipeline = p, .first = 1000}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, submit_some, &who[i]), 0);
    int64_t next[2] = {0, 1000};
    for (int64_t ticket = 0; ticket < 2 * EACH; ticket++) {
        const sk_result *result = NULL;
        assert_ok(sk_pipeline_take(p, 60000, &result, &err), &err);
        assert_int_equal(result->ticket, ticket);
        const int whose = result->user == &who[1];
        assert_int_equal(result->index, next[whose]++); /* each thread's in its own order */
        sk_pipeline_give_back(p, result);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_true(who[i].good);
    }
    sk_pipeline_close(&p);
}

static void *wait_in_take(void *context)
{
    sk_error err = {0};
    const sk_result *result = NULL;
    static sk_status status;
    status = sk_pipeline_take(context, -1, &result, &err);
    return &status;
}

static void whoever_waits_is_told(void **state)
{
    (void)state;
    for (int release = 0; release < 2; release++) {
        sk_pipeline_settings s = waiting_settings();
        sk_pipeline *p = open_tiny(&s);
        pthread_t thread;
        sk_status *status = NULL;
        assert_int_equal(pthread_create(&thread, NULL, wait_in_take, p), 0);
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (release)
            sk_pipeline_release(p);
        else
            sk_pipeline_cancel(p);
        pthread_join(thread, (void **)&status);
        assert_int_equal(*status, SK_ERR_CANCELLED);
        sk_pipeline_close(&p);
    }
}

static void checks_and_outputs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.keep_outputs = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(0, 48, 40);
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, SK_SUBMIT_CHECK | SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err);
    assert_non_null(result->check);
    assert_true(result->check->ran && result->check->passed && result->check->pcc > 0.9999);
    assert_true(result->n_outputs > 0 && result->outputs[0].data);
    assert_int_equal(result->outputs[0].element, SK_ELEMENT_F32);
    sk_pipeline_give_back(p, result);
    assert_int_equal(sk_pipeline_submit(p, &l->frame, NULL, 64, &err), SK_ERR_ARG);
    sk_pipeline_close(&p);
    free_lent(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_are_copied),
                                       cmocka_unit_test(other_sizes_of_structs),
                                       cmocka_unit_test(about_is_complete),
                                       cmocka_unit_test(accepts_the_best_first),
                                       cmocka_unit_test(a_model_may_be_closed_and_shared),
                                       cmocka_unit_test(two_threads_share_a_model),
                                       cmocka_unit_test(a_model_from_bytes),
                                       cmocka_unit_test(delivered_with_its_user_pointer),
                                       cmocka_unit_test(a_copied_frame_is_free_at_once),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(dropped_and_refused),
                                       cmocka_unit_test(failed),
                                       cmocka_unit_test(released_with_results_out),
                                       cmocka_unit_test(closed_while_in_flight),
                                       cmocka_unit_test(take_waits_as_long_as_it_is_told),
                                       cmocka_unit_test(descriptor_says_what_is),
                                       cmocka_unit_test(callbacks_may_call_back),
                                       cmocka_unit_test(two_submit_and_one_takes),
                                       cmocka_unit_test(whoever_waits_is_told),
                                       cmocka_unit_test(checks_and_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
