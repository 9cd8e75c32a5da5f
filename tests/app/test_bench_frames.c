/* SPDX-License-Identifier: Apache-2.0 */
/* From frames to results, as the benchmark times it: what the pipeline is asked for, which frames it is given, how long that took, and what
 * is said of frames that fail. The pipeline and the clock are stand-ins. */
#include "support/fault.h"

#include "app/bench_frames.h"
#include "base/memory.h"
#include "skitter/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static sk_error err;

/* --- stand-ins --- */

static int64_t now_ms;
static bool played;

int clock_gettime(clockid_t id, struct timespec *out)
{
    if (!played)
        return (int)syscall(SYS_clock_gettime, id, out);
    *out = (struct timespec){now_ms / 1000, now_ms % 1000 * 1000000};
    return 0;
}

static sk_pipeline_settings asked;
static sk_frame expected;
static char model[32], precision[16], options[32];
static int opens, closes, submits, takes, given_back, n_models;
static const uint8_t *shown[64];
static uint32_t flags[64];
static sk_result results[64];
static sk_status opened_with, submitted_with;
static int fails_at, ends_at; /* which result; -1: none */

sk_status sk_pipeline_open(const char *const *paths, int32_t n_paths, const sk_pipeline_settings *settings,
                           sk_pipeline **out, sk_error *e)
{
    opens++;
    n_models = n_paths;
    snprintf(model, sizeof model, "%s", paths[0]);
    asked = *settings;
    expected = *settings->expect;
    snprintf(precision, sizeof precision, "%s", settings->precision ? settings->precision : "-");
    snprintf(options, sizeof options, "%s", settings->options ? settings->options : "-");
    *out = NULL;
    if (opened_with != SK_OK)
        return sk_fail(e, opened_with, "no pipeline");
    *out = (sk_pipeline *)&asked;
    return SK_OK;
}

void sk_pipeline_defaults(sk_pipeline_settings *settings)
{
    *settings = (sk_pipeline_settings){.size = sizeof *settings, .confidence = 0.125F};
}

sk_status sk_pipeline_submit(sk_pipeline *pipeline, const sk_frame *frame, void *user, uint32_t how,
                             sk_error *e)
{
    assert_ptr_equal(pipeline, &asked);
    assert_true(user == NULL && submits < 64);
    assert_memory_equal(&frame->format, &expected.format, sizeof frame->format);
    assert_true(frame->width == expected.width && frame->height == expected.height &&
                frame->stride == expected.stride);
    shown[submits] = frame->data;
    flags[submits++] = how;
    now_ms += 3;
    return submitted_with == SK_OK ? SK_OK : sk_fail(e, submitted_with, "not taken");
}

sk_status sk_pipeline_take(sk_pipeline *pipeline, int32_t wait_ms, const sk_result **out, sk_error *e)
{
    (void)e;
    assert_ptr_equal(pipeline, &asked);
    assert_int_equal(wait_ms, -1); /* as long as it takes */
    now_ms += 10;
    results[takes] = (sk_result){.status = takes == fails_at ? SK_ERR_MISMATCH : SK_OK};
    *out = takes == ends_at ? NULL : &results[takes];
    takes++;
    return SK_OK;
}

void sk_pipeline_give_back(sk_pipeline *pipeline, const sk_result *result)
{
    assert_ptr_equal(pipeline, &asked);
    given_back += result != NULL;
}

void sk_pipeline_close(sk_pipeline **pipeline)
{
    closes += *pipeline != NULL;
    *pipeline = NULL;
}

static void begin(void)
{
    opens = closes = submits = takes = given_back = 0;
    opened_with = submitted_with = SK_OK;
    fails_at = ends_at = -1;
}

/* --- tests --- */

static void what_is_asked_for(void **state)
{
    (void)state;
    static uint8_t pictures[2 * 8 * 6 * 3];
    static const struct {
        int32_t channels;
        sk_precision precision;
        const char *name;
        sk_heads heads;
    } rows[] = {{3, SK_PRECISION_AUTO, "-", SK_HEADS_AUTO},
                {3, SK_PRECISION_F16, "f16", SK_HEADS_ONE_TO_ONE},
                {1, SK_PRECISION_F32, "f32", SK_HEADS_AUTO}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_bench_settings s;
        sk_bench_frames *f = NULL;
        begin();
        sk_bench_defaults(&s);
        s.model = "m.pt";
        s.batch = 2;
        s.threads = 5;
        s.precision = rows[i].precision;
        s.heads = rows[i].heads;
        assert_ok(sk_bench_frames_open(&s, "cpu", "tune=off", rows[i].channels, pictures, 8, 6, &f, &err),
                  &err);
        assert_true(opens == 1 && n_models == 1);
        assert_string_equal(model, "m.pt");
        assert_string_equal(asked.runtime, "cpu");
        assert_string_equal(options, "tune=off");
        assert_string_equal(precision, rows[i].name);
        assert_true(asked.threads == 5 && asked.batch == 2 && asked.height == 8 && asked.width == 6);
        assert_true(asked.rect == SK_RECT_OFF && asked.heads == rows[i].heads && asked.confidence == 0.125F);
        assert_true(expected.width == 6 && expected.height == 8 && expected.stride == 6 * rows[i].channels);
        assert_int_equal(expected.format, rows[i].channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB);
        assert_ptr_equal(expected.data, pictures);
        sk_bench_frames_close(&f);
        assert_true(f == NULL && closes == 1);
    }
}

static sk_bench_frames *open_of(int32_t batch, uint8_t *pictures)
{
    sk_bench_settings s;
    sk_bench_frames *f = NULL;
    sk_bench_defaults(&s);
    s.model = "m.pt";
    s.batch = batch;
    assert_ok(sk_bench_frames_open(&s, "cpu", NULL, 3, pictures, 8, 6, &f, &err), &err);
    return f;
}

/* A batch is frames one behind the other; the last of them says that no more come. */
static void a_batch(void **state)
{
    (void)state;
    static uint8_t pictures[4 * 8 * 6 * 3];
    for (int32_t batch = 1; batch <= 4; batch += 3) {
        double ms = -1;
        begin();
        sk_bench_frames *f = open_of(batch, pictures);
        played = true;
        now_ms = 12345;
        const sk_status status = sk_bench_frames_run(f, &ms, &err);
        played = false;
        assert_ok(status, &err);
        assert_true(submits == batch && takes == batch && given_back == batch);
        assert_true(fabs(ms - 13 * batch) < 1e-6);
        for (int32_t i = 0; i < batch; i++) {
            assert_ptr_equal(shown[i], pictures + (size_t)i * 8 * 6 * 3);
            assert_int_equal(flags[i], i == batch - 1 ? SK_SUBMIT_FLUSH : 0);
        }
        sk_bench_frames_close(&f);
    }
}

/* A pipeline takes 64 frames at once, of one channel or of three. */
static void what_is_refused(void **state)
{
    (void)state;
    static const struct {
        int32_t batch, channels;
        sk_status status;
    } rows[] = {{64, 3, SK_OK},
                {65, 3, SK_ERR_LIMIT},
                {1, 1, SK_OK},
                {1, 2, SK_ERR_UNSUPPORTED},
                {1, 4, SK_ERR_UNSUPPORTED},
                {1, 0, SK_ERR_UNSUPPORTED}};
    static uint8_t pictures[8];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_bench_settings s;
        sk_bench_frames *f = NULL;
        begin();
        sk_bench_defaults(&s);
        s.model = "m.pt";
        s.batch = rows[i].batch;
        assert_int_equal(sk_bench_frames_open(&s, "cpu", NULL, rows[i].channels, pictures, 8, 6, &f, &err),
                         rows[i].status);
        assert_true((f != NULL) == (rows[i].status == SK_OK) && opens == (rows[i].status == SK_OK));
        sk_bench_frames_close(&f);
    }
}

static void frames_that_fail(void **state)
{
    (void)state;
    static uint8_t pictures[3 * 8 * 6 * 3];
    double ms = -1;
    begin();
    sk_bench_frames *f = open_of(3, pictures);
    fails_at = 1;
    assert_int_equal(sk_bench_frames_run(f, &ms, &err), SK_ERR_MISMATCH);
    assert_string_equal(err.message, "a frame failed");
    assert_true(ms == -1 && takes == 2 && given_back == 2); /* the one that failed, too */
    fails_at = -1;
    ends_at = 4;
    takes = 3;
    submits = 0;
    assert_int_equal(sk_bench_frames_run(f, &ms, &err),
                     SK_ERR_RUNTIME); /* there is none, where one should come */
    assert_string_equal(err.message, "a frame failed");
    ends_at = -1;
    submitted_with = SK_ERR_IO;
    takes = submits = 0;
    assert_int_equal(sk_bench_frames_run(f, &ms, &err), SK_ERR_IO);
    assert_true(submits == 1 && takes == 0 && ms == -1);
    sk_bench_frames_close(&f);
    assert_int_equal(closes, 1);
    /* none is opened */
    sk_bench_settings s;
    sk_bench_defaults(&s);
    s.model = "m.pt";
    begin();
    opened_with = SK_ERR_NOT_FOUND;
    f = (sk_bench_frames *)&s; /* anything but null */
    assert_int_equal(sk_bench_frames_open(&s, "cpu", NULL, 3, pictures, 8, 6, &f, &err), SK_ERR_NOT_FOUND);
    assert_true(f == NULL && closes == 0);
}

static sk_status open_and_close(void *context, sk_error *why)
{
    sk_bench_settings s;
    sk_bench_frames *f = context; /* anything but null */
    sk_bench_defaults(&s);
    s.model = "m.pt";
    const sk_status status = sk_bench_frames_open(&s, "cpu", NULL, 3, NULL, 8, 6, &f, why);
    if ((status == SK_OK) != (f != NULL))
        return SK_ERR_INTERNAL;
    sk_bench_frames_close(&f);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    begin();
    assert_int_equal(test_every_allocation(open_and_close, &err), 1);
    assert_int_equal(opens, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for), cmocka_unit_test(a_batch),
        cmocka_unit_test(what_is_refused),   cmocka_unit_test(frames_that_fail),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
