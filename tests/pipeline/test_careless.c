/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* Callers who do not look: what they get wrong is refused or does no harm, and nobody waits for ever. */

static void settings_out_of_range(void **state)
{
    (void)state;
    sk_pipeline_settings s[17];
    sk_sleap_options refinement = SK_SLEAP_OPTIONS_INIT, overlap = SK_SLEAP_OPTIONS_INIT,
                     number = SK_SLEAP_OPTIONS_INIT, line = SK_SLEAP_OPTIONS_INIT,
                     few = SK_SLEAP_OPTIONS_INIT, many = SK_SLEAP_OPTIONS_INIT;
    sk_frame format = SK_FRAME_INIT, place = SK_FRAME_INIT, matrix = SK_FRAME_INIT;
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        s[i] = tiny_settings();
    sk_sleap_options_defaults(&refinement);
    sk_sleap_options_defaults(&overlap);
    refinement.refinement = 9;
    overlap.overlap = -1;
    sk_sleap_options_defaults(&number);
    sk_sleap_options_defaults(&line);
    sk_sleap_options_defaults(&few);
    sk_sleap_options_defaults(&many);
    few.n_points = 0;
    many.n_points = 1001;
    number.dist_penalty_weight = NAN;
    line.min_line_scores = 5;
    format.format = (sk_pixel_format)77;
    place.place = (sk_place)99;
    matrix.format = SK_PIXEL_NV12;
    matrix.matrix = (sk_colour_matrix)-1;
    s[0].height = INT_MAX;
    s[1].width = INT_MAX - 5;
    s[2].sleap = &refinement;
    s[3].sleap = &overlap;
    s[4].expect = &format;
    s[5].expect = &place;
    s[6].expect = &matrix;
    s[7].runtime = "cpu:99999999999999999999";
    s[8].devices = "cpu*2x";
    s[9].devices = "cpu:x1y";
    s[10].devices = "cpu:4294967296";
    s[11].sleap = &number;
    s[12].sleap = &line;
    s[13].peak_threshold = NAN;
    s[14].sleap = &few;
    s[15].sleap = &many;
    s[16].max_instances = -1;
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        sk_error err = {0};
        sk_pipeline *p = (sk_pipeline *)&err;
        const char *path = tiny_path();
        if (sk_pipeline_open(&path, 1, &s[i], &p, &err) != SK_ERR_ARG || p || !err.message[0])
            fail_msg("settings %zu were taken", i);
        if (strstr(err.message, ": needs ")) /* names of our insides help nobody */
            fail_msg("settings %zu: %s", i, err.message);
        if ((i == 14 && !strstr(err.message, "n_points is 0: an edge has 2 to 1000 samples")) ||
            (i == 16 && !strstr(err.message, "max_instances is -1: give how many")))
            fail_msg("settings %zu: %s", i, err.message);
    }
}

static void negative_settings_are_named(void **state)
{
    (void)state;
    const char *path = tiny_path();
    sk_error err = {0};
    sk_pipeline *p = NULL;
    sk_pipeline_settings s = tiny_settings();
    s.max_age_ms = -4;
    assert_int_equal(sk_pipeline_open(&path, 1, &s, &p, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "max_age_ms is -4; it cannot be negative");
    s = tiny_settings();
    s.threads = -1;
    assert_int_equal(sk_pipeline_open(&path, 1, &s, &p, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "threads -1"));
}

static void frames_of_no_kind(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_frame expect = SK_FRAME_INIT; /* a size, and RGB */
    expect.width = 48;
    expect.height = 40;
    s.expect = &expect;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(0, 48, 40);
    const sk_result *result = NULL;
    l->frame.place = (sk_place)99;
    assert_int_equal(sk_pipeline_run(p, &l->frame, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "place"));
    l->frame.place = SK_PLACE_HOST;
    l->frame.format = SK_PIXEL_YUYV;
    l->frame.matrix = (sk_colour_matrix)5;
    assert_int_equal(sk_pipeline_run(p, &l->frame, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "matrix"));
    l->frame.format = SK_PIXEL_RGB; /* which has no such numbers */
    assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
    sk_frame bad = l->frame;
    bad.stride = 3 * 48 - 1;
    assert_int_equal(sk_pipeline_run(p, &bad, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "143 bytes from row to row (sk_frame.stride); 48 pixels"));
    bad = l->frame;
    bad.width = 70000;
    assert_int_equal(sk_pipeline_run(p, &bad, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "70000x40 pixels; allowed are 1 to 65535 a side"));
    bad = l->frame;
    bad.data = NULL;
    assert_int_equal(sk_pipeline_run(p, &bad, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "frame 0: it has no pixels"));
    sk_pipeline_release(p);
    assert_int_equal(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "the pipeline was released");
    sk_pipeline_close(&p);
    assert_int_equal(l->back, 1);
    free_lent(l);
}

static void null_does_no_harm(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s), *none = p;
    sk_stage_stats stage = SK_STAGE_STATS_INIT;
    sk_pipeline_flush(NULL);
    sk_pipeline_finish(NULL);
    sk_pipeline_cancel(NULL);
    sk_pipeline_release(NULL);
    sk_pipeline_reset_stats(NULL);
    sk_pipeline_give_back(NULL, NULL);
    sk_pipeline_mark(NULL, "step", 0, 0, 1);
    sk_pipeline_mark(p, NULL, 0, 0, 1);
    sk_pipeline_get_stats(NULL, NULL);
    sk_pipeline_get_stats(p, NULL);
    assert_int_equal(sk_pipeline_fd(NULL), -1);
    assert_int_equal(sk_pipeline_in_flight(NULL), 0);
    assert_false(sk_pipeline_get_stage(NULL, SK_STAGE_PRE, &stage));
    assert_false(sk_pipeline_get_stage(p, SK_STAGE_PRE, NULL));
    assert_false(sk_pipeline_get_device(NULL, 0, NULL));
    assert_false(sk_pipeline_get_device(p, 0, NULL));
    assert_false(sk_pipeline_get_file(NULL, 0, NULL));
    assert_null(sk_pipeline_about(NULL));
    assert_int_equal(sk_pipeline_submit(NULL, NULL, NULL, 0, NULL), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_submit(p, NULL, NULL, 0, NULL), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_take(p, 0, NULL, NULL), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_drain(NULL, NULL), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_write_timeline(p, NULL, NULL), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_open_models(NULL, 1, NULL, &none, NULL), SK_ERR_ARG);
    assert_null(none);
    sk_pipeline_close(&p);
}

/* --- models --- */

static void a_model_that_is_cut_off(void **state)
{
    (void)state;
    sk_error err = {0};
    FILE *file = fopen(tiny_path(), "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 20];
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    sk_model *model = NULL; /* can be looked at, which skitter info does */
    assert_ok(sk_model_open_bytes(bytes, length / 3 * 2, "half a file", SK_HEADS_AUTO, &model, &err), &err);
    const sk_model *list = model;
    sk_pipeline *p = NULL;
    assert_int_equal(sk_pipeline_open_models(&list, 1, NULL, &p, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "half a file: the file is cut off"));
    sk_model_close(&model);
    model = (sk_model *)&err;
    assert_int_equal(sk_model_open_bytes(NULL, 7, NULL, SK_HEADS_AUTO, &model, &err), SK_ERR_ARG);
    assert_null(model);
    model = (sk_model *)&err;
    assert_int_equal(sk_model_open(NULL, &model, &err), SK_ERR_ARG);
    assert_null(model);
}

/* --- frames that are written over while they are lent --- */

static void wrong_release(void *context, const sk_frame *frame)
{
    (void)context;
    (void)frame;
    abort();
}

static void release_is_as_it_was_at_submit(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.batch = s.depth = 4;
    s.batch_wait_ms = 3600000;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(0, 48, 40);
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
    l->frame.release = wrong_release;
    l->frame.release_context = NULL;
    sk_pipeline_close(&p);
    assert_int_equal(l->back, 1);
    free_lent(l);
}

/* --- frames that are given up --- */

static atomic_int next_is_in;

/* Holds up the thread that brings frames into the network's form until a while after the next one is in, seconds at most. */
static void slow_release(void *context, const sk_frame *frame)
{
    for (int i = 0; i < 3000 && !next_is_in; i++)
        usleep(1000);
    usleep(80000);
    count_back(context, frame);
}

/* A pipeline whose next frame will be too old once it could be begun. */
static sk_pipeline *open_held_up(lent *first)
{
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.mode = SK_PIPELINE_LATENCY;
    s.max_age_ms = 5;
    sk_pipeline *p = open_tiny(&s);
    const sk_result *result = NULL;
    next_is_in = 0;
    first->frame.release = slow_release;
    sk_status status = SK_ERR_TIMEOUT;
    for (int i = 0; i < 100 && status == SK_ERR_TIMEOUT;
         i++) { /* on a busy machine the first may grow too old, too */
        atomic_store(&first->back, 0);
        assert_ok(sk_pipeline_submit(p, &first->frame, NULL, 0, &err), &err);
        while ((status = sk_pipeline_take(p, 10, &result, &err)) == SK_ERR_TIMEOUT && !first->back)
            ;
    }
    assert_ok(status, &err); /* it is in its release */
    sk_pipeline_give_back(p, result);
    return p;
}

static void run_of_a_frame_that_grew_too_old(void **state)
{
    (void)state;
    sk_error err = {0};
    lent *l[2] = {make_lent(0, 48, 40), make_lent(1, 48, 40)};
    sk_pipeline *p = open_held_up(l[0]);
    const sk_result *result = NULL;
    next_is_in = 1;
    assert_int_equal(sk_pipeline_run(p, &l[1]->frame, &result, &err), SK_ERR_CANCELLED);
    assert_null(result);
    assert_non_null(strstr(err.message, "max_age_ms"));
    sk_pipeline_close(&p);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(l[i]->back, 1);
        free_lent(l[i]);
    }
}

static void the_end_is_told_when_the_last_frame_grew_too_old(void **state)
{
    (void)state;
    sk_error err = {0};
    lent *l[2] = {make_lent(0, 48, 40), make_lent(1, 48, 40)};
    sk_pipeline *p = open_held_up(l[0]);
    struct pollfd wait = {.fd = sk_pipeline_fd(p), .events = POLLIN};
    if (wait.fd < 0)
        skip();
    assert_ok(sk_pipeline_submit(p, &l[1]->frame, NULL, 0, &err), &err);
    next_is_in = 1;
    sk_pipeline_finish(p);
    assert_int_equal(poll(&wait, 1, 10000), 1);
    const sk_result *result = (const sk_result *)&wait;
    assert_ok(sk_pipeline_take(p, 0, &result, &err), &err);
    assert_null(result);
    sk_pipeline_close(&p);
    for (int i = 0; i < 2; i++)
        free_lent(l[i]);
}

/* --- one thread for everything --- */

/* The loop that skitter/pipeline.h begins with: the network is slower than the frames come. */
static void one_thread_submits_and_takes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.depth = 1;
    s.height = s.width = 160;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(0, 160, 160);
    l->frame.release = NULL;
    const sk_result *result = NULL;
    int taken = 0;
    for (int i = 0; i < 20; i++) {
        assert_ok(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), &err);
        assert_in_range(sk_pipeline_in_flight(p), 1, 2);
        for (; sk_pipeline_take(p, 0, &result, &err) == SK_OK; taken++)
            sk_pipeline_give_back(p, result);
    }
    sk_pipeline_finish(p);
    for (; sk_pipeline_take(p, -1, &result, &err) == SK_OK && result; taken++)
        sk_pipeline_give_back(p, result);
    assert_int_equal(taken, 20);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* --- several at once --- */

typedef struct crowd {
    sk_pipeline *p;
    atomic_int wrong, done;
} crowd;

static void *take_what_comes(void *context)
{
    crowd *c = context;
    while (!c->done) {
        const sk_result *result = NULL;
        if (sk_pipeline_take(c->p, 5, &result, NULL) == SK_OK && result)
            atomic_fetch_add(&c->wrong, 1); /* all there are belong to who runs */
        sk_pipeline_give_back(c->p, result);
    }
    return NULL;
}

static void *run_many(void *context)
{
    crowd *c = context;
    lent *l = make_lent((int64_t)((uintptr_t)&l >> 12), 48, 40); /* a number of this thread's own */
    l->frame.release = NULL;
    for (int ran = 0; ran < 60;) {
        const sk_result *result = NULL;
        sk_error err = {0};
        const sk_status status = sk_pipeline_run(c->p, &l->frame, &result, &err);
        ran += status == SK_OK;
        if (status != SK_OK && status != SK_ERR_BUSY)
            break;
        if (status == SK_OK && result->index != l->frame.index)
            atomic_fetch_add(&c->wrong, 1);
        sk_pipeline_give_back(c->p, result);
    }
    free_lent(l);
    return NULL;
}

static void each_run_gets_its_own_result(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    s.timeline = 8;
    char path[512];
    snprintf(path, sizeof path, "%s/timeline.json", test_folder());
    crowd c = {.p = open_tiny(&s)};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i ? run_many : take_what_comes, &c), 0);
    for (int i = 0; i < 5; i++) { /* while they work */
        sk_error err = {0};
        assert_ok(sk_pipeline_write_timeline(c.p, path, &err), &err);
        sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
        sk_pipeline_get_stats(c.p, &stats);
    }
    for (int i = 1; i < 4; i++)
        pthread_join(threads[i], NULL);
    c.done = 1;
    pthread_join(threads[0], NULL);
    assert_int_equal(c.wrong, 0);
    sk_pipeline_close(&c.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(settings_out_of_range),
                                       cmocka_unit_test(negative_settings_are_named),
                                       cmocka_unit_test(frames_of_no_kind),
                                       cmocka_unit_test(null_does_no_harm),
                                       cmocka_unit_test(a_model_that_is_cut_off),
                                       cmocka_unit_test(release_is_as_it_was_at_submit),
                                       cmocka_unit_test(run_of_a_frame_that_grew_too_old),
                                       cmocka_unit_test(the_end_is_told_when_the_last_frame_grew_too_old),
                                       cmocka_unit_test(one_thread_submits_and_takes),
                                       cmocka_unit_test(each_run_gets_its_own_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
