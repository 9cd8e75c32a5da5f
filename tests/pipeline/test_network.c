/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include "engines/engine.h"

#include <math.h>
#include <stddef.h>

/* What skitter/network.h promises. */

static sk_network *open_network(int32_t slots, const char *runtime)
{
    sk_error err = {0};
    sk_model *model = NULL;
    sk_network *n = NULL;
    sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
    sk_network_defaults(&s);
    char *name = strdup(runtime);
    s.runtime = name;
    s.threads = 1;
    s.height = s.width = 32;
    s.batch = 2;
    s.slots = slots;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    assert_ok(sk_network_open(model, &s, &n, &err), &err);
    sk_model_close(&model); /* the network holds it */
    memset(name, 'x', strlen(name));
    free(name);
    return n;
}

static float numbers[3][2 * 3 * 32 * 32];

static sk_tensor_view input_of(const sk_network *n, int which)
{
    sk_tensor_view in = sk_network_about(n)->inputs[0];
    for (size_t i = 0; i < sizeof numbers[0] / sizeof(float); i++)
        numbers[which][i] = (float)((i * 7919 + (size_t)which * 131) % 251) / 251.0f;
    in.data = numbers[which];
    return in;
}

static void tells_and_runs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_network *n = open_network(2, "cpu"), *plain = open_network(1, "reference");
    const sk_network_info *info = sk_network_about(n);
    assert_int_equal(info->n_inputs, 1);
    assert_int_equal(info->inputs[0].rank, 4);
    assert_int_equal(info->inputs[0].dim[0], 2);
    assert_int_equal(info->inputs[0].dim[2], 32);
    assert_null(info->inputs[0].data);
    assert_true(info->n_outputs >= 1 && info->outputs[0].name[0] && info->bytes > 0);
    assert_string_equal(info->runtime, "cpu");
    assert_string_equal(info->precision, "f32");
    const sk_tensor_view in = input_of(n, 0), *ours = NULL, *theirs = NULL;
    assert_ok(sk_network_run(n, &in, 1, &ours, &err), &err);
    assert_ok(sk_network_run(plain, &in, 1, &theirs, &err), &err);
    int64_t count = 1;
    for (int32_t k = 0; k < ours[0].rank; k++)
        count *= ours[0].dim[k];
    for (int64_t i = 0; i < count; i++) {
        const float a = ((const float *)ours[0].data)[i], b = ((const float *)theirs[0].data)[i];
        assert_true(a - b < 1e-3f && b - a < 1e-3f);
    }
    static sk_check check;
    assert_ok(sk_network_check(n, &in, 1, &check, &err), &err);
    assert_true(check.ran && check.passed && check.n_outputs >= 1 && check.pcc > 0.99999);
    sk_network_close(&n);
    sk_network_close(&plain);
    assert_null(n);
    sk_network_close(&n);
}

static void several_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_network *n = open_network(2, "cpu");
    const sk_tensor_view a = input_of(n, 0), b = input_of(n, 1), *out = NULL;
    assert_int_equal(sk_network_wait(n, &out, &err), SK_ERR_NOT_FOUND);
    assert_ok(sk_network_run(n, &a, 1, &out, &err), &err);
    const float alone = ((const float *)out[0].data)[0];
    assert_ok(sk_network_submit(n, &a, 1, &err), &err);
    assert_ok(sk_network_submit(n, &b, 1, &err), &err);
    assert_int_equal(sk_network_submit(n, &b, 1, &err), SK_ERR_BUSY);
    assert_int_equal(sk_network_run(n, &b, 1, &out, &err), SK_ERR_BUSY);
    assert_ok(sk_network_wait(n, &out, &err), &err);
    assert_true(((const float *)out[0].data)[0] == alone); /* the oldest first */
    assert_ok(sk_network_wait(n, &out, &err), &err);
    sk_network_close(&n);
}

static void refuses(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_network *n = open_network(1, "cpu");
    const sk_tensor_view good = input_of(n, 0), *out = NULL;
    sk_tensor_view bad = good;
    bad.dim[3] = 31;
    assert_int_equal(sk_network_run(n, &bad, 1, &out, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "is float 2x3x32x31; the network takes float 2x3x32x32"));
    bad = good;
    bad.element = SK_ELEMENT_U8;
    assert_int_equal(sk_network_run(n, &bad, 1, &out, &err), SK_ERR_MISMATCH);
    bad = good;
    bad.data = NULL;
    assert_int_equal(sk_network_run(n, &bad, 1, &out, &err), SK_ERR_MISMATCH);
    assert_int_equal(sk_network_run(n, &good, 2, &out, &err), SK_ERR_ARG);
    assert_ok(sk_network_run(n, &good, 1, &out, &err), &err);
    sk_network_release(n);
    assert_int_equal(sk_network_run(n, &good, 1, &out, &err), SK_ERR_CANCELLED);
    assert_string_equal(sk_network_about(n)->runtime, "cpu"); /* stays */
    sk_network_close(&n);
    sk_model *model = NULL;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
    sk_network_defaults(&s);
    s.slots = 99;
    assert_int_equal(sk_network_open(model, &s, &n, &err), SK_ERR_ARG);
    s.size = offsetof(sk_network_settings, slots); /* an older program: it does not know of slots */
    s.height = s.width = 32;
    assert_ok(sk_network_open(model, &s, &n, &err), &err);
    sk_network_close(&n);
    s.options = "no_such=1";
    assert_int_equal(sk_network_open(model, &s, &n, &err), SK_ERR_ARG);
    s = (sk_network_settings)SK_NETWORK_SETTINGS_INIT;
    sk_network_defaults(&s);
    static const char *const several[] = {"cpu,cpu", "cpu:x2", "cpu*3"}; /* one device, or none */
    for (int i = 0; i < 3; i++) {
        s.runtime = several[i];
        assert_int_equal(sk_network_open(model, &s, &n, &err), SK_ERR_ARG);
        assert_null(n);
    }
    assert_non_null(strstr(err.message, "a network runs on one device, and 'cpu*3' is 3"));
    assert_null(n);
    sk_model_close(&model);
}

/* ONNX without a task: Relu of a 1x4, and the sum of two pictures. */
static const char relu_of_a_row[] =
    "\010\010:;"
    "\012\014\012\001a\022\001y\042\004Relu\022\001gZ\023\012\001a\022\016\012\014\010\001\022\010\012\002"
    "\010\001\012\002\010\004b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004B"
    "\004\012\000\020\015";
static const char sum_of_two[] =
    "\010\010:"
    "j\012\016\012\001a\012\001b\022\001y\042\003Add\022\001gZ\033\012\001a\022\026\012\024\010\001\022\020"
    "\012\002\010\001\012\002\010\003\012\002\010\010\012\002\010\010Z\033\012\001b\022\026\012\024\010\001"
    "\022\020\012\002\010\001\012\002\010\003\012\002\010\010\012\002\010\010b\033\012\001y\022\026\012\024"
    "\010\001\022\020\012\002\010\001\012\002\010\003\012\002\010\010\012\002\010\010B\004\012\000\020\015";

static void says_which_networks_run(void **state)
{
    (void)state;
    const struct {
        const char *bytes, *says;
        size_t length;
    } cases[] = {
        {relu_of_a_row, "row.onnx: the input 'a' is 1x4; networks of pictures", sizeof relu_of_a_row - 1},
        {sum_of_two, "row.onnx: has 2 inputs; networks with one", sizeof sum_of_two - 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        sk_network *n = NULL;
        assert_ok(
            sk_model_open_bytes(cases[i].bytes, cases[i].length, "row.onnx", SK_HEADS_AUTO, &model, &err),
            &err);
        assert_int_equal(sk_network_open(model, NULL, &n, &err), SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, cases[i].says));
        assert_null(n);
        sk_model_close(&model);
    }
}

/* Every setting at its bounds, every pointer that must be there. */
static void settings_have_bounds(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        int32_t value;
        const char *why; /* null: taken */
    } whole[] = {{offsetof(sk_network_settings, batch), 0, "batch is 0; allowed are 1 to 64"},
                 {offsetof(sk_network_settings, batch), 65, "batch is 65"},
                 {offsetof(sk_network_settings, batch), 64, NULL},
                 {offsetof(sk_network_settings, slots), 0, "slots is 0"},
                 {offsetof(sk_network_settings, slots), 1, NULL},
                 {offsetof(sk_network_settings, slots), SK_SESSION_MAX_SLOTS, NULL},
                 {offsetof(sk_network_settings, slots), SK_SESSION_MAX_SLOTS + 1, "slots is"},
                 {offsetof(sk_network_settings, height), -1, "height -1"},
                 {offsetof(sk_network_settings, width), -1, "width -1"},
                 {offsetof(sk_network_settings, threads), -1, "threads -1"}};
    static const struct {
        double value;
        bool good;
    } least[] = {{0, true}, {1, true}, {1.001, false}, {-0.001, false}, {(double)NAN, false}};
    sk_error err = {0};
    sk_model *model = NULL;
    sk_network *n = NULL;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    for (size_t i = 0; i < sizeof whole / sizeof *whole + sizeof least / sizeof *least; i++) {
        const size_t k = i - sizeof whole / sizeof *whole;
        const bool real = i >= sizeof whole / sizeof *whole;
        sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
        sk_network_defaults(&s);
        s.height = s.width = 32, s.threads = 1;
        if (real)
            s.pcc_min = least[k].value;
        else
            memcpy((char *)&s + whole[i].offset, &whole[i].value, sizeof whole[i].value);
        const bool good = real ? least[k].good : !whole[i].why;
        err = (sk_error){0};
        assert_int_equal(sk_network_open(model, &s, &n, &err), good ? SK_OK : SK_ERR_ARG);
        if (!good)
            assert_non_null(strstr(err.message, real ? "pcc_min" : whole[i].why));
        sk_network_close(&n);
    }
    sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
    sk_network_defaults(&s);
    assert_true(s.batch == 1 && s.slots == 2 && strcmp(s.runtime, "cpu") == 0 && s.pcc_min == 0);
    sk_network_defaults(NULL);
    s.runtime = "", s.height = s.width = 32;
    assert_ok(sk_network_open(model, &s, &n, &err), &err);
    assert_string_equal(sk_network_about(n)->runtime, "cpu");
    assert_true(sk_network_about(n)->device[0] && sk_network_about(n)->warm_up_ms > 0);
    const sk_tensor_view *out = NULL;
    sk_check check;
    sk_tensor_view in = sk_network_about(n)->inputs[0];
    in.data = numbers[0];
    sk_network_close(&n);
    assert_int_equal(sk_network_open(NULL, NULL, &n, &err), SK_ERR_ARG);
    assert_ok(sk_network_open(model, &s, &n, &err), &err);
    assert_int_equal(sk_network_open(model, &s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_submit(NULL, &in, 1, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_submit(n, NULL, 1, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_wait(NULL, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_wait(n, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_run(NULL, &in, 1, &out, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_run(n, &in, 1, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_check(NULL, &in, 1, &check, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_check(n, NULL, 1, &check, &err), SK_ERR_ARG);
    assert_int_equal(sk_network_check(n, &in, 1, NULL, &err), SK_ERR_ARG);
    assert_null(sk_network_about(NULL));
    sk_network_release(NULL);
    /* each kind of element is called by its name, others by none */
    static const char *const elements[] = {
        "no known element 1x3x32x32", "float 1x3x32x32;", "int32 1x3", "int64 1x3", "uint8 1x3",
        "no known element 1x3"};
    for (int e = 0; e < 6; e++) {
        sk_tensor_view bad = in;
        bad.element = (sk_element)e;
        bad.dim[3] = e == SK_ELEMENT_F32 ? 33 : 32;
        assert_int_equal(sk_network_run(n, &bad, 1, &out, &err), SK_ERR_MISMATCH);
        if (e != SK_ELEMENT_F32)
            assert_non_null(strstr(err.message, elements[e]));
    }
    sk_tensor_view bad = in;
    bad.rank = 3;
    assert_int_equal(sk_network_run(n, &bad, 1, &out, &err), SK_ERR_MISMATCH);
    sk_network_close(&n);
    sk_model_close(&model);
}

/* A network that is held to more than it can give fails its check, with its figures; released, it takes nothing. */
static void checks_tell_their_figures(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_network *n = open_network(1, "cpu");
    const sk_tensor_view in = input_of(n, 1), *out = NULL;
    static sk_check check;
    assert_ok(sk_network_check(n, &in, 1, &check, &err), &err);
    assert_int_equal(check.n_outputs, sk_network_about(n)->n_outputs);
    assert_true(check.pcc_min > 0.9 && check.pcc <= 1 && check.max_diff >= check.mean_diff &&
                check.mean_diff >= 0);
    for (int32_t i = 0; i < check.n_outputs; i++) {
        assert_int_equal(check.outputs[i].output, i);
        assert_string_equal(check.outputs[i].name, sk_network_about(n)->outputs[i].name);
        assert_true(check.outputs[i].pcc >= check.pcc && check.outputs[i].pcc_min == check.pcc_min &&
                    check.outputs[i].max_diff <= check.max_diff &&
                    check.outputs[i].mean_diff <= check.mean_diff);
    }
    assert_ok(sk_network_submit(n, &in, 1, &err), &err);
    sk_network_release(n);
    sk_network_release(n);
    assert_int_equal(sk_network_wait(n, &out, &err), SK_ERR_CANCELLED);
    assert_int_equal(sk_network_submit(n, &in, 1, &err), SK_ERR_CANCELLED);
    sk_network_close(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_and_runs),
                                       cmocka_unit_test(several_in_flight),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(says_which_networks_run),
                                       cmocka_unit_test(settings_have_bounds),
                                       cmocka_unit_test(checks_tell_their_figures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
