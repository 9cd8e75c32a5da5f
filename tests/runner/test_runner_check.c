/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "engines/tolerance.h"
#include "runner/check.h"

#include <math.h>

/* The checker by itself: outputs that are right, wrong in one number, of another picture, of no picture of a batch. */

enum { BATCH = 3, IMAGE = 1 };

typedef struct fixture {
    sk_runner *runner;
    sk_frame frame;
    plain p;
    sk_checker checker;
    sk_trace trace;
    sk_tensor ours[SK_SESSION_MAX_OUTPUTS]; /* three pictures, of which the middle one is the frame's */
    size_t count[SK_SESSION_MAX_OUTPUTS];
    sk_check check;
    sk_checker_call call;
} fixture;

static void begin(fixture *f)
{
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.detector.batch = BATCH;
    f->runner = open_runner(model, &s);
    f->trace = f->runner->lanes[0].trace;
    f->frame = make_frame(48, 40, 21);
    plain_open(&f->p, model, &s, 48, 40);
    plain_run(&f->p, &f->frame);
    assert_int_equal(sk_session_about(f->p.session)->n_outputs, f->trace.n_outputs);
    for (int32_t i = 0; i < f->trace.n_outputs; i++) {
        const sk_tensor *one = &f->p.outputs[i];
        f->count[i] = (size_t)sk_shape_count(&one->shape);
        f->ours[i] = *one;
        f->ours[i].shape.dim[0] = BATCH;
        float *all = calloc(BATCH * f->count[i], sizeof *all);
        for (size_t k = 0; k < BATCH * f->count[i]; k++)
            all[k] = NAN;
        memcpy(all + IMAGE * f->count[i], one->data, f->count[i] * sizeof *all);
        f->ours[i].data = all;
    }
    sk_checker_init(&f->checker);
    f->call = (sk_checker_call){.models = (const sk_model *const *)&model,
                                .settings = &f->runner->task,
                                .frame = &f->frame,
                                .out = &f->check};
    f->check = (sk_check){.pcc = 1};
}

static void end(fixture *f)
{
    sk_checker_close(&f->checker);
    for (int32_t i = 0; i < f->trace.n_outputs; i++)
        free(f->ours[i].data);
    plain_close(&f->p);
    sk_runner_close(&f->runner);
    free(f->frame.data);
}

static float *number(const fixture *f, int32_t output, size_t at)
{
    return (float *)f->ours[output].data + IMAGE * f->count[output] + at;
}

static void every_output_is_compared(void **state)
{
    (void)state;
    static fixture f;
    sk_error err = {0};
    begin(&f);
    const sk_session_info *info = sk_session_about(f.trace.session);
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_int_equal(f.check.n_outputs, f.trace.n_outputs);
    for (int32_t i = 0; i < f.check.n_outputs; i++) {
        const sk_output_check *e = &f.check.outputs[i];
        assert_true(e->model == 0 && e->output == i && e->pcc > 0.99999 && e->max_diff < 1e-3);
        assert_true(e->pcc_min == sk_tolerance_of(f.trace.precision)->pcc);
        assert_string_equal(e->name, info->output_names[i]);
    }
    assert_true(f.check.pcc > 0.99999 && f.check.max_diff < 1e-3 && f.check.mean_diff < 1e-4);
    assert_ok(sk_checker_verdict(&f.call, 1, &err), &err);
    const double before = f.check.outputs[0].mean_diff;
    for (int32_t i = 0; i < f.trace.n_outputs;
         i++) { /* one number of each in turn; what was seen stays on record */
        const float was = *number(&f, i, f.count[i] / 2);
        *number(&f, i, f.count[i] / 2) = was + 2;
        f.call.pcc_min = 0.25;
        assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
        assert_int_equal(f.check.n_outputs, f.trace.n_outputs);
        for (int32_t k = 0; k < f.check.n_outputs; k++) {
            const sk_output_check *e = &f.check.outputs[k];
            assert_true(k <= i ? fabs(e->max_diff - 2) < 1e-3 : e->max_diff < 1e-3);
        }
        assert_true(f.check.outputs[i].mean_diff > before && f.check.outputs[i].pcc < 1);
        assert_true(fabs(f.check.max_diff - 2) < 1e-3);
        *number(&f, i, f.count[i] / 2) = was;
    }
    assert_true(f.check.outputs[0].pcc_min > 0.9); /* as it was when the entry was made */
    f.check = (sk_check){.pcc = 1};
    static const char *const names[] = {"boxes", "a name of forty letters and more is cut there"};
    for (int i = 0; i < 2; i++)
        f.checker.parts[0].reference->info.output_names[i] = names[i];
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_true(f.check.outputs[0].pcc_min == 0.25);
    assert_string_equal(f.check.outputs[0].name, "boxes");
    assert_string_equal(f.check.outputs[1].name, "a name of forty letters and more is cut");
    end(&f);
}

static void other_pictures_and_shapes_are_no_match(void **state)
{
    (void)state;
    static fixture f;
    sk_error err = {0};
    begin(&f);
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE + 1, &err), &err);
    assert_true(!(f.check.pcc > 0.5)); /* no numbers */
    assert_int_equal(sk_checker_verdict(&f.call, 1, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "frame 21: output "));
    f.check = (sk_check){.pcc = 1};
    sk_trace other = f.trace;
    other.key.batch = BATCH - 1;
    assert_int_equal(sk_checker_frame(&f.checker, &f.call, &other, f.ours, IMAGE, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "has no place for each picture of a batch: check with batch 1"));
    other = f.trace;
    other.n_outputs++;
    assert_int_equal(sk_checker_frame(&f.checker, &f.call, &other, f.ours, IMAGE, &err), SK_ERR_MISMATCH);
    char words[80];
    snprintf(words, sizeof words, "the network has %d outputs, the reference %d", f.trace.n_outputs + 1,
             f.trace.n_outputs);
    assert_string_equal(err.message, words);
    f.check = (sk_check){.pcc = 1};
    f.ours[0].dtype = SK_DTYPE_I32; /* which nobody correlates */
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_int_equal(f.check.n_outputs, f.trace.n_outputs - 1);
    f.ours[0].dtype = SK_DTYPE_F32;
    assert_true(f.checker.width == 48 && f.checker.height == 40);
    sk_task_stage *const stage = f.checker.parts[0].stage;
    sk_session *const reference = f.checker.parts[0].reference;
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_ptr_equal(f.checker.parts[0].stage, stage); /* kept for frames of this size */
    assert_ptr_equal(f.checker.parts[0].reference, reference);
    sk_frame wide = make_frame(64, 16, 5);
    f.call.frame = &wide;
    (void)!sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err);
    assert_true(f.checker.width == 64 && f.checker.height == 16);
    free(wide.data);
    end(&f);
    assert_null(f.checker.parts[0].stage);
    assert_null(f.checker.parts[0].reference);
    assert_true(f.checker.width == 0 && f.checker.height == 0);
}

/* Below the limit of eight bits it is asked what nothing rounds gives, unless the caller has a limit of his own; what roundings do not
 * explain stays below. */
static void eight_bits_are_excused_by_roundings_alone(void **state)
{
    (void)state;
    static fixture f;
    sk_error err = {0};
    begin(&f);
    f.trace.precision = SK_PRECISION_I8;
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_null(f.checker.parts[0].unrounded); /* nothing to be excused */
    assert_ok(sk_checker_verdict(&f.call, 1, &err), &err);
    for (size_t i = 0; i < f.count[0]; i++)
        *number(&f, 0, i) *= -1;
    f.call.pcc_min = 0.5;
    f.check = (sk_check){.pcc = 1};
    assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
    assert_null(f.checker.parts[0].unrounded);
    assert_true(f.check.outputs[0].pcc_min == 0.5 && f.check.outputs[0].pcc < 0.5);
    f.call.pcc_min = 0;
    for (int twice = 0; twice < 2; twice++) {
        const sk_session *kept = f.checker.parts[0].unrounded;
        f.check = (sk_check){.pcc = 1};
        assert_ok(sk_checker_frame(&f.checker, &f.call, &f.trace, f.ours, IMAGE, &err), &err);
        assert_non_null(f.checker.parts[0].unrounded);
        assert_true(!kept || kept == f.checker.parts[0].unrounded);
        assert_true(f.check.outputs[0].pcc_min == sk_tolerance_of(SK_PRECISION_I8)->pcc);
        assert_int_equal(sk_checker_verdict(&f.call, 1, &err), SK_ERR_MISMATCH);
    }
    end(&f);
    assert_null(f.checker.parts[0].unrounded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_output_is_compared),
        cmocka_unit_test(other_pictures_and_shapes_are_no_match),
        cmocka_unit_test(eight_bits_are_excused_by_roundings_alone),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
