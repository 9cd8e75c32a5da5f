/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/clock.h"
#include "runner/trace.h"

#include <math.h>

/* What a trace is made of: keys that tell apart, a picture to try it on, runs that must agree; on an engine of a few lines. */

typedef struct toy_session {
    sk_session base;
    float *outputs[SK_SESSION_MAX_OUTPUTS];
} toy_session;

/* What the engine does wrong, and what it has seen. */
static struct {
    int unsteady, ints, moves, fails; /* outputs by number, or the run that fails; -1 none */
    int runs, captures, closed;
    sk_session_settings settings;
    int32_t cores[4];
    double first, last, least, most; /* of the input: means of its first and last quarter, bounds */
} toy;

static sk_status toy_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph, (void)settings, (void)err;
    return SK_OK;
}

static sk_status toy_open(const sk_graph *graph, const sk_session_settings *settings, sk_session **out,
                          sk_error *err)
{
    toy_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    for (int32_t i = 0; i < graph->n_outputs; i++)
        s->outputs[i] =
            sk_calloc((size_t)sk_shape_count(&graph->values[graph->outputs[i]].shape), sizeof(float));
    toy.settings = *settings;
    for (int32_t i = 0; settings->cores && i < settings->core_count && i < 4; i++)
        toy.cores[i] = settings->cores[i];
    *out = &s->base;
    return SK_OK;
}

static sk_status toy_submit(sk_session *session, int32_t slot, const sk_session_input *inputs, sk_error *err)
{
    (void)slot;
    const sk_session_info *info = &session->info;
    const int64_t count = sk_shape_count(&info->inputs[0].shape);
    if (toy.runs == toy.fails)
        return sk_fail(err, SK_ERR_RUNTIME, "the toy is broken");
    toy.first = toy.last = 0;
    toy.least = INFINITY, toy.most = -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        const double v = info->input == SK_INPUT_U8_HWC ? ((const uint8_t *)inputs[0].data)[i]
                                                        : (double)((const float *)inputs[0].data)[i];
        toy.first += i < count / 4 ? v / (double)(count / 4) : 0;
        toy.last += i >= count - count / 4 ? v / (double)(count / 4) : 0;
        toy.least = fmin(toy.least, v);
        toy.most = fmax(toy.most, v);
    }
    return SK_OK;
}

static sk_status toy_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    (void)slot, (void)err;
    toy_session *s = (toy_session *)session;
    for (int32_t i = 0; i < session->info.n_outputs; i++) {
        const int64_t count = sk_shape_count(&session->info.outputs[i].shape);
        uint32_t noise = i == toy.unsteady ? (uint32_t)toy.runs + 1 : 0;
        for (int64_t k = 0; k < count; k++) {
            noise = noise * 1664525u + 1013904223u;
            s->outputs[i][k] = (float)(noise >> 8);
        }
        if (i == toy.ints)
            session->info.outputs[i].dtype = SK_DTYPE_I32;
        outputs[i] = s->outputs[i] + (i == toy.moves && toy.runs > 0);
    }
    toy.runs++;
    return SK_OK;
}

static void toy_close(sk_session *session)
{
    toy_session *s = (toy_session *)session;
    for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
        sk_free(s->outputs[i]);
    sk_free(s);
    toy.closed++;
}

static sk_status toy_capture(sk_session *session, sk_error *err)
{
    (void)session, (void)err;
    toy.captures++;
    return SK_OK;
}

static sk_engine engine = {.name = "toy",
                           .title = "the toy",
                           .can = {.precisions = 1u << SK_PRECISION_F32, .usual = SK_PRECISION_F32},
                           .supports = toy_supports,
                           .open = toy_open,
                           .submit = toy_submit,
                           .wait = toy_wait,
                           .close = toy_close,
                           .capture = toy_capture};

static sk_trace_key plain_key(void)
{
    sk_trace_key key = {
        .engine = &engine, .batch = 2, .height = 32, .width = 64, .channels = 3, .u8 = 1, .cut_tail = 1};
    memcpy(key.model, model->content_hash, sizeof key.model);
    return key;
}

static sk_status capture(sk_trace *t, const sk_trace_key *key, bool quick, sk_error *err)
{
    sk_detector_settings d;
    sk_detector_defaults(&d);
    d.precision = "f32";
    const sk_device device = {.engine = &engine, .index = 3, .n_cores = 2, .cores = {5, 9}};
    toy.runs = toy.captures = toy.closed = 0;
    return sk_trace_capture(t, model, &device, key, &d, 2, quick, NULL, err);
}

static int fresh(void **state)
{
    (void)state;
    memset(&toy, 0, sizeof toy);
    toy.unsteady = toy.ints = toy.moves = toy.fails = -1;
    engine.can.replay = SK_REPLAY_CAPTURED;
    return 0;
}

/* Two runs and one of what was captured; none where somebody is in a hurry, no third where nothing is captured. */
static void as_many_runs_as_needed(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_trace t = {0};
    const sk_trace_key key = plain_key();
    static const struct {
        sk_replay replay;
        bool quick;
        int runs, captures;
    } cases[] = {{SK_REPLAY_CAPTURED, false, 3, 1},
                 {SK_REPLAY_CAPTURED, true, 0, 1},
                 {SK_REPLAY_FROM_OPEN, false, 2, 0},
                 {SK_REPLAY_NEVER, true, 0, 0}};
    for (size_t i = 0; i < 4; i++) {
        engine.can.replay = cases[i].replay;
        const int64_t begin = sk_clock_ns();
        assert_ok(capture(&t, &key, cases[i].quick, &err), &err);
        const double ms = (double)(sk_clock_ns() - begin) * 1e-6;
        assert_int_equal(toy.runs, cases[i].runs);
        assert_int_equal(toy.captures, cases[i].captures);
        assert_int_equal(toy.closed, i > 0); /* the one before */
        assert_int_equal(t.generation, i + 1);
        assert_true(sk_trace_fits(&t, &key));
        assert_int_equal(t.from_open, !cases[i].captures);
        assert_true(t.warm_up_ms > 0 && t.optimised_ms >= 0 && t.capture_ms >= 0);
        assert_true(t.warm_up_ms + t.optimised_ms + t.capture_ms <= ms);
        assert_true(t.warm_up_ms > 1e-6 * ms && (cases[i].captures || t.capture_ms == 0));
        assert_int_equal(t.n_outputs, sk_session_about(t.session)->n_outputs);
        assert_int_equal(t.precision, SK_PRECISION_F32);
    }
    assert_int_equal(toy.settings.slots, 2);
    assert_int_equal(toy.settings.device, 3);
    assert_int_equal(toy.settings.core_count, 2);
    assert_int_equal(toy.settings.threads, 2);
    assert_true(toy.cores[0] == 5 && toy.cores[1] == 9);
    sk_trace_release(&t);
    assert_true(!t.session && t.n_outputs == 0 && !t.key.engine && toy.closed == 2);
}

/* Every output that is a float must be the same twice; one that is not is left alone, and those after it are looked at. */
static void runs_must_agree(void **state)
{
    (void)state;
    const sk_trace_key key = plain_key();
    int outputs = 2;
    for (int ints = -1; ints < 1; ints++)
        for (int u = 0; u < outputs; u++) {
            sk_error err = {0};
            sk_trace t = {0};
            fresh(NULL);
            toy.unsteady = u;
            toy.ints = ints;
            const sk_status status = capture(&t, &key, false, &err);
            assert_int_equal(status, u == ints ? SK_OK : SK_ERR_MISMATCH);
            if (status != SK_OK) {
                assert_non_null(strstr(err.message, "toy: two runs on the same picture differ (output "));
                assert_true(!t.session && t.generation == 0 && toy.closed == 1);
                assert_false(sk_trace_fits(&t, &key));
            } else {
                outputs = t.n_outputs;
                assert_true(outputs > 1);
            }
            sk_trace_release(&t);
        }
    for (int run = 0; run < 3; run++) {
        sk_error err = {0};
        sk_trace t = {.generation = 5};
        fresh(NULL);
        toy.fails = run;
        assert_int_equal(capture(&t, &key, false, &err), SK_ERR_RUNTIME);
        assert_true(!t.session && t.generation == 0);
    }
    sk_trace t = {0};
    sk_error err = {0};
    sk_trace_key crops = key;
    crops.crops = 1;
    assert_int_equal(capture(&t, &crops, false, &err), SK_ERR_ARG); /* cut from what? */
}

/* Noise on a slope: neither flat nor without edges, and in the range of a picture. */
static void the_picture_has_something_in_it(void **state)
{
    (void)state;
    for (int u8 = 0; u8 < 2; u8++) {
        sk_error err = {0};
        sk_trace t = {0};
        sk_trace_key key = plain_key();
        key.u8 = u8;
        fresh(NULL);
        assert_ok(capture(&t, &key, false, &err), &err);
        const double unit = u8 ? 1 : 1.0 / 255;
        assert_true(fabs(toy.last - toy.first - 191 * 0.75 * unit) < 4 * unit);
        assert_true(fabs(toy.first - (191 * 0.125 + 31.5) * unit) < 4 * unit);
        assert_true(toy.least >= 0 && toy.least < 12 * unit);
        assert_true(toy.most < 253.01 * unit && toy.most > 240 * unit);
        assert_int_equal(toy.settings.input, u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR);
        sk_trace_release(&t);
    }
}

/* A replay is for what the trace was made of, and gives results where they lay. */
static void replays_are_guarded(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_trace t = {0};
    const sk_trace_key key = plain_key();
    sk_trace_key other = key;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    uint8_t *picture = calloc(2, 32 * 64 * 3);
    const sk_session_input in = {.data = picture};
    assert_ok(capture(&t, &key, false, &err), &err);
    other.width = 96;
    assert_int_equal(sk_trace_submit(&t, &other, &in, &err), SK_ERR_INTERNAL);
    assert_string_equal(err.message, "a trace of 64x32 was to be replayed for an input of 96x32");
    for (int i = 0; i < 3; i++) {
        assert_ok(sk_trace_submit(&t, &key, &in, &err), &err);
        assert_ok(sk_trace_wait(&t, outputs, &err), &err);
        for (int32_t k = 0; k < t.n_outputs; k++)
            assert_ptr_equal(t.outputs[(i + 1) % 2][k], outputs[k].data);
    }
    toy.moves = t.n_outputs - 1;
    assert_ok(sk_trace_submit(&t, &key, &in, &err), &err);
    assert_int_equal(sk_trace_wait(&t, outputs, &err), SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "moved since the trace was captured"));
    sk_trace_release(&t);
    free(picture);
}

/* Two keys are the same when everything in them is. */
static void keys_tell_apart(void **state)
{
    (void)state;
    sk_trace_key key = plain_key();
    key.device = 1, key.peaks = 1, key.wish.capacity = 4, key.wish.n_points = 2;
    sk_trace_key same = key;
    assert_true(sk_trace_key_equal(&key, &same));
#define DIFFERS(change)                                                                                      \
    do {                                                                                                     \
        same = key;                                                                                          \
        same.change;                                                                                         \
        if (sk_trace_key_equal(&key, &same) || sk_trace_key_equal(&same, &key))                              \
            fail_msg("%s", #change);                                                                         \
    } while (0)
    DIFFERS(model[3] ^= 1);
    DIFFERS(engine = &sk_engine_cpu);
    DIFFERS(device = 0);
    DIFFERS(batch++);
    DIFFERS(height++);
    DIFFERS(width++);
    DIFFERS(channels--);
    DIFFERS(u8 = 0);
    DIFFERS(cut_tail = 0);
    DIFFERS(frames = 1);
    DIFFERS(sparse = 1);
    DIFFERS(found = 1);
    DIFFERS(peaks = 0);
    DIFFERS(crops = 1);
    DIFFERS(fit.left = 1);
    DIFFERS(fit.whole = 1);
    DIFFERS(cut.form.width = 1);
    DIFFERS(wish.capacity++);
    key.peaks = 0; /* a wish that nobody has is none */
    same = key;
    same.wish.capacity++;
    assert_true(sk_trace_key_equal(&key, &same));
    sk_trace t = {.key = key};
    assert_false(sk_trace_fits(&t, &key)); /* it never was made */
    t.generation = 1;
    assert_true(sk_trace_fits(&t, &key));
    assert_false(sk_trace_key_is_partial(&key));
    DIFFERS(peaks = 1);
    assert_true(sk_trace_key_is_partial(&same));
    DIFFERS(found = 1);
    assert_true(sk_trace_key_is_partial(&same));
    DIFFERS(sparse = 1);
    assert_true(sk_trace_key_is_partial(&same));
    const sk_task_plan plan = {.height = 48, .width = 80, .channels = 1, .u8 = 1, .cut_tail = 1};
    const sk_device device = {.engine = &engine, .index = 6};
    const sk_trace_key made = sk_trace_key_of(model, &device, 7, &plan);
    assert_string_equal(made.model, model->content_hash);
    assert_true(made.engine == &engine && made.device == 6 && made.batch == 7 && made.height == 48 &&
                made.width == 80 && made.channels == 1 && made.u8 == 1 && made.cut_tail == 1);
    assert_false(made.frames || made.sparse || made.found || made.peaks || made.crops);
    assert_int_equal(sk_trace_picture_bytes(&made), 48 * 80);
    key = made;
    key.u8 = 0, key.channels = 3;
    assert_int_equal(sk_trace_picture_bytes(&key), 48 * 80 * 3 * 4);
    key.crops = 1;
    assert_int_equal(sk_trace_picture_bytes(&key), 0);
    key.frames = 1;
    key.fit = (sk_frame_fit){.frame_width = 10, .frame_height = 6, .channels = 3};
    assert_int_equal(sk_trace_picture_bytes(&key), 180);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(as_many_runs_as_needed, fresh),
        cmocka_unit_test_setup(runs_must_agree, fresh),
        cmocka_unit_test_setup(the_picture_has_something_in_it, fresh),
        cmocka_unit_test_setup(replays_are_guarded, fresh),
        cmocka_unit_test_setup(keys_tell_apart, fresh),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
