/* SPDX-License-Identifier: Apache-2.0 */
/* What sk_network_check says where the network and the reference executor differ. The network's weights are packed when it is opened
 * and the reference reads the model's at the first check: a weight that is changed between the two is a fault of a known size. */
#include "support/test.h"

#include "engines/engine.h"
#include "graph/builder.h"
#include "models/model.h"
#include "skitter/network.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 8, OUT = 2, PIXELS = SIDE * SIDE };

static const sk_shape picture = {.rank = 4, .dim = {1, 3, SIDE, SIDE}};
static float numbers[3 * PIXELS];
static sk_model model;
static sk_value weights;

static void open_graph(sk_builder *b)
{
    sk_error err = {0};
    model = (sk_model){.path = "made.pt",
                       .self = &model,
                       .input = {.channels = 3, .width = SIDE, .height = SIDE, .dtype = SK_DTYPE_F32}};
    atomic_init(&model.holders, 1);
    assert_ok(sk_graph_open(&model.graph, &err), &err);
    sk_builder_init(b, model.graph);
    for (size_t i = 0; i < 3 * PIXELS; i++)
        numbers[i] = (float)(i * 7919 % 251) / 251.0f;
}

/* Three outputs of a convolution over all channels: as it is, ten times as large under a name that is too long to keep, and in
 * which channel the larger one is, a whole number. */
static void build_floats(void)
{
    static const float w[OUT * 3] = {0.5f, -0.25f, 1, -1, 0.75f, 0.125f};
    const sk_shape kernel = {.rank = 4, .dim = {OUT, 3, 1, 1}};
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    char name[81];
    sk_builder b;
    open_graph(&b);
    sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &picture);
    weights = sk_b_constant(&b, "w", SK_DTYPE_F32, &kernel, w);
    sk_value y = sk_b_conv(&b, x, weights, SK_VALUE_NONE, &window, 1, "conv");
    memset(name, 'n', 80);
    name[80] = '\0';
    sk_b_output(&b, y, "plain");
    sk_b_output(&b, sk_b_mul(&b, y, sk_b_f32(&b, 10)), name);
    sk_b_output(&b, sk_b_node(&b, SK_OP_ARG_MAX, &(sk_attrs){.arg = {.axis = 1}}, &y, 1, "which"), "which");
    assert_ok(b.status, &b.error);
}

/* A convolution in eight bits whose input is rounded to halves, which takes its output far from what nothing rounds. */
static void build_bytes(void)
{
    static const int8_t w[OUT * 3] = {32, -16, 64, -64, 48, 8};
    const sk_shape one = {.rank = 0}, kernel = {.rank = 4, .dim = {OUT, 3, 1, 1}};
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    const sk_attrs attrs = {.quantise.axis = 1};
    sk_builder b;
    open_graph(&b);
    sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &picture);
    sk_value scale = sk_b_f32(&b, 0.5f), zero = sk_b_constant(&b, "", SK_DTYPE_U8, &one, "\x10");
    sk_value q = sk_b_node(&b, SK_OP_QUANTIZE, &attrs, (sk_value[]){x, scale, zero}, 3, "q");
    sk_value dq = sk_b_node(&b, SK_OP_DEQUANTIZE, &attrs, (sk_value[]){q, scale, zero}, 3, "dq");
    weights = sk_b_constant(&b, "w", SK_DTYPE_I8, &kernel, w);
    sk_value dw =
        sk_b_node(&b, SK_OP_DEQUANTIZE, &attrs, (sk_value[]){weights, sk_b_f32(&b, 1.0f / 64)}, 2, "dw");
    sk_b_output(&b, sk_b_conv(&b, dq, dw, SK_VALUE_NONE, &window, 1, "conv"), "bytes");
    assert_ok(b.status, &b.error);
}

static void *weights_of_the_model(void)
{
    const sk_value_info *info = &model.graph->values[weights];
    return (char *)sk_blob_data(info->blob) + info->offset;
}

static sk_network *open_network(double pcc_min)
{
    sk_error err = {0};
    sk_network *n = NULL;
    sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
    sk_network_defaults(&s);
    s.threads = 1;
    s.pcc_min = pcc_min;
    assert_ok(sk_network_open(&model, &s, &n, &err), &err);
    return n;
}

static sk_status check_of(sk_network *n, sk_check *check, sk_error *err)
{
    sk_tensor_view in = sk_network_about(n)->inputs[0];
    in.data = numbers;
    *err = (sk_error){0};
    return sk_network_check(n, &in, 1, check, err);
}

/* What goes in and comes out, by name, kind and size: not more of a name than there is room for. */
static void ends_are_told(void **state)
{
    (void)state;
    build_floats();
    sk_network *n = open_network(0);
    const sk_network_info *info = sk_network_about(n);
    assert_int_equal(info->n_inputs, 1);
    assert_string_equal(info->inputs[0].name, "images");
    assert_int_equal(info->n_outputs, 3);
    assert_string_equal(info->outputs[0].name, "plain");
    assert_int_equal(strlen(info->outputs[1].name), 63);
    assert_int_equal(strspn(info->outputs[1].name, "n"), 63);
    assert_string_equal(info->outputs[2].name, "which");
    assert_int_equal(info->outputs[0].element, SK_ELEMENT_F32);
    assert_int_equal(info->outputs[1].element, SK_ELEMENT_F32);
    assert_int_equal(info->outputs[2].element, SK_ELEMENT_I64);
    assert_int_equal(info->outputs[0].rank, 4);
    assert_int_equal(info->outputs[2].rank, 3);
    static const int64_t sizes[] = {1, OUT, SIDE, SIDE};
    assert_memory_equal(info->outputs[0].dim, sizes, sizeof sizes);
    sk_tensor_view in = info->inputs[0];
    const sk_tensor_view *out = NULL;
    sk_error err = {0};
    in.data = numbers;
    assert_ok(sk_network_run(n, &in, 1, &out, &err), &err);
    for (int i = 0; i < PIXELS; i++) {
        const float a = numbers[i], b = numbers[PIXELS + i], c = numbers[2 * PIXELS + i];
        const float first = 0.5f * a - 0.25f * b + c, second = -a + 0.75f * b + 0.125f * c;
        assert_float_equal(((const float *)out[0].data)[i], first, 1e-5f);
        assert_float_equal(((const float *)out[1].data)[PIXELS + i], 10 * second, 1e-4f);
        assert_int_equal(((const int64_t *)out[2].data)[i], second > first);
    }
    sk_network_close(&n);
    sk_graph_close(&model.graph);
}

/* As many as there may be, each by its own name. */
static void many_outputs_keep_their_names(void **state)
{
    (void)state;
    sk_builder b;
    open_graph(&b);
    sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &picture);
    char name[16];
    for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++) {
        snprintf(name, sizeof name, "out%d", i);
        sk_b_output(&b, sk_b_add(&b, x, sk_b_f32(&b, (float)i)), name);
    }
    assert_ok(b.status, &b.error);
    sk_network *n = open_network(0);
    const sk_network_info *info = sk_network_about(n);
    const sk_tensor_view *out = NULL;
    sk_tensor_view in = info->inputs[0];
    sk_error err = {0};
    in.data = numbers;
    assert_ok(sk_network_run(n, &in, 1, &out, &err), &err);
    assert_int_equal(info->n_outputs, SK_SESSION_MAX_OUTPUTS);
    assert_string_equal(info->inputs[0].name, "images");
    for (int i = 0; i < info->n_outputs; i++) {
        snprintf(name, sizeof name, "out%d", i);
        assert_string_equal(info->outputs[i].name, name);
        assert_string_equal(out[i].name, name);
        assert_float_equal(((const float *)out[i].data)[5], numbers[5] + (float)i, 1e-5f);
    }
    sk_network_close(&n);
    sk_graph_close(&model.graph);
}

/* Whole numbers are left out; of the others each has its figures, and the worst count for all. */
static void differences_are_measured(void **state)
{
    (void)state;
    sk_error err = {0};
    static sk_check check;
    build_floats();
    sk_network *strict = open_network(0), *lax = open_network(0.5), *exact = open_network(1);
    assert_ok(check_of(strict, &check, &err), &err);
    assert_true(check.ran && check.passed && check.pcc_min == 0.99999);
    sk_network_close(&strict);
    strict = open_network(0);
    ((float *)weights_of_the_model())[0] += 0.25f;
    assert_int_equal(check_of(strict, &check, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "made.pt on cpu: correlation 0.9"));
    assert_non_null(strstr(err.message, "with the reference executor, below 0.99999"));
    assert_true(check.ran && !check.passed && check.pcc < 0.999 && check.pcc > 0.5);
    assert_int_equal(check.n_outputs, 2);
    assert_int_equal(check.outputs[0].output, 0);
    assert_int_equal(check.outputs[1].output, 1);
    assert_string_equal(check.outputs[0].name, "plain");
    assert_int_equal(strlen(check.outputs[1].name), 39);
    /* a quarter of the first channel in half of the numbers; ten times that in the second output */
    float largest = 0, sum = 0;
    for (int i = 0; i < PIXELS; i++) {
        largest = fmaxf(largest, 0.25f * numbers[i]);
        sum += 0.25f * numbers[i];
    }
    assert_float_equal(check.outputs[0].max_diff, largest, 1e-5f);
    assert_float_equal(check.outputs[0].mean_diff, sum / (OUT * PIXELS), 1e-5f);
    assert_float_equal(check.max_diff, 10 * largest, 1e-4f);
    assert_float_equal(check.mean_diff, 10 * sum / (OUT * PIXELS), 1e-4f);
    assert_true(check.outputs[0].pcc_min == 0.99999 && fabs(check.outputs[0].pcc - check.pcc) < 1e-6);
    /* held to less it passes, to more it does not, and the limit is said */
    assert_ok(check_of(lax, &check, &err), &err);
    assert_true(check.passed && check.pcc_min == 0.5 && check.outputs[1].pcc_min == 0.5);
    assert_int_equal(check_of(exact, &check, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "below 1"));
    /* what is no number is the worst there is */
    sk_network_close(&lax);
    lax = open_network(0.5);
    ((float *)weights_of_the_model())[0] = NAN;
    assert_int_equal(check_of(lax, &check, &err), SK_ERR_MISMATCH);
    assert_true(!(check.pcc > 0));
    sk_network_close(&lax);
    sk_network_close(&strict);
    sk_network_close(&exact);
    sk_graph_close(&model.graph);
}

/* In eight bits: below the limit, but no further from what nothing rounds than the roundings themselves. Who asks for a correlation
 * gets that one, and a fault is one all the same. */
static void roundings_explain_a_low_correlation(void **state)
{
    (void)state;
    sk_error err = {0};
    static sk_check check;
    static const struct {
        double pcc_min;
        int8_t change;
        bool fine;
    } cases[] = {{0, 0, true}, {0, 32, true}, {0.97, 32, false}, {0.5, 32, true}, {0, 64, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        build_bytes();
        sk_network *n = open_network(cases[i].pcc_min);
        assert_string_equal(sk_network_about(n)->precision, "i8");
        ((int8_t *)weights_of_the_model())[1] += cases[i].change;
        for (int again = 0; again < 2; again++) { /* with the same sessions */
            const sk_status status = check_of(n, &check, &err);
            if (status != (cases[i].fine ? SK_OK : SK_ERR_MISMATCH) || check.passed != cases[i].fine)
                fail_msg("case %zu: %s, correlation %g", i, err.message, check.pcc);
        }
        assert_int_equal(check.n_outputs, 1);
        assert_true(check.pcc_min == (cases[i].pcc_min > 0 ? cases[i].pcc_min : 0.97));
        if (cases[i].change == 32)
            assert_true(check.pcc < 0.97 && check.pcc > 0.95);
        if (i == 1)
            assert_true(check.outputs[0].pcc_min == check.outputs[0].pcc);
        else
            assert_true(check.outputs[0].pcc_min == check.pcc_min);
        sk_network_close(&n);
        sk_graph_close(&model.graph);
    }
}

/* Pictures have four dimensions; where a file does not say how many there are, that is seen later. */
static void inputs_of_other_sizes(void **state)
{
    (void)state;
    for (int rank = 0; rank < 6; rank++) {
        sk_error err = {0};
        sk_network *n = NULL;
        build_floats();
        model.graph->values[model.graph->inputs[0]].shape = (sk_shape){.rank = rank, .dim = {1, 3, 8, 8, 1}};
        const sk_status status = sk_network_open(&model, NULL, &n, &err);
        assert_int_equal(status, rank == 4 ? SK_OK : SK_ERR_UNSUPPORTED);
        if (rank != 4)
            assert_non_null(strstr(err.message, "made.pt: the input 'images' is"));
        sk_network_close(&n);
        sk_graph_close(&model.graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_told),
        cmocka_unit_test(many_outputs_keep_their_names),
        cmocka_unit_test(differences_are_measured),
        cmocka_unit_test(roundings_explain_a_low_correlation),
        cmocka_unit_test(inputs_of_other_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
