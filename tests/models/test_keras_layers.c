/* SPDX-License-Identifier: Apache-2.0 */
/* Keras' layers on a picture of known numbers, with as few settings as a file may have: what is left out has Keras' own default. Every
 * answer is a formula of the pixel. */
#include "support/h5_writer.h"
#include "support/sleap_run.h"
#include "support/test.h"

#include "models/keras.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HEIGHT = 4, WIDTH = 6 };

#define LAYER(class_name, name, settings, from)                                                              \
    "{\"class_name\": \"" class_name "\", \"name\": \"" name "\", \"config\": {" settings                    \
    "}, \"inbound_nodes\": [" from "]}"
#define HEAD(from)                                                                                           \
    LAYER("Conv2D", "SingleInstanceConfmapsHead", "\"filters\": 1, \"kernel_size\": [1, 1]", from)
#define MODEL(layers)                                                                                        \
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": "                            \
    "[{\"class_name\": \"InputLayer\", \"name\": \"in\", \"config\": {\"batch_input_shape\": [null, 4, 6, "  \
    "1]}, \"inbound_nodes\": []}, " layers                                                                   \
    "], \"input_layers\": [[\"in\", 0, 0]], \"output_layers\": [[\"SingleInstanceConfmapsHead\", 0, 0]]}}"
#define FROM_IN                   "[[\"in\", 0, 0, {}]]"
#define FROM_A                    "[[\"a\", 0, 0, {}]]"
#define ONE(class_name, settings) MODEL(LAYER(class_name, "a", settings, FROM_IN) ", " HEAD(FROM_A))
/* of the picture, and of 5 minus it */
#define TWO(class_name)                                                                                      \
    MODEL(LAYER("Rescaling", "other", "\"scale\": -1, \"offset\": 5", FROM_IN) ", " LAYER(                   \
        class_name, "a", "", "[[\"in\", 0, 0, {}], [\"other\", 0, 0, {}]]") ", " HEAD(FROM_A))

static const float mean = 2, variance = 0.25f, gamma_ = 3, beta = -1;

static sk_status open_network(const char *text, int stride, sk_model **model, sk_error *err)
{
    static const char *const head[] = {"SingleInstanceConfmapsHead/kernel:0",
                                       "SingleInstanceConfmapsHead/bias:0"},
                             *const norm[] = {"a/gamma:0", "a/beta:0", "a/moving_mean:0",
                                              "a/moving_variance:0"};
    static const int64_t dims[] = {1, 1, 1, 1}, one = 1;
    static const float kernel = 1, bias = 0;
    static int count;
    char folder[4200], path[4300];
    snprintf(folder, sizeof folder, "%s/net%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/training_config.json", folder);
    FILE *file = fopen(path, "wb");
    fprintf(file,
            "{\"model\": {\"heads\": {\"single_instance\": {\"part_names\": [\"nose\"], \"output_stride\": "
            "%d}}}}",
            stride);
    fclose(file);
    snprintf(path, sizeof path, "%s/best_model.h5", folder);
    h5_writer w = h5_create(path);
    h5_attr_text(&w, "/", "model_config", text, 1);
    h5_put_f32(&w, "model_weights/SingleInstanceConfmapsHead/SingleInstanceConfmapsHead/kernel:0", &kernel, 4,
               dims);
    h5_put_f32(&w, "model_weights/SingleInstanceConfmapsHead/SingleInstanceConfmapsHead/bias:0", &bias, 1,
               &one);
    h5_attr_texts(&w, "model_weights/SingleInstanceConfmapsHead", "weight_names", head, 2, 0);
    h5_put_f32(&w, "model_weights/a/a/gamma:0", &gamma_, 1, &one);
    h5_put_f32(&w, "model_weights/a/a/beta:0", &beta, 1, &one);
    h5_put_f32(&w, "model_weights/a/a/moving_mean:0", &mean, 1, &one);
    h5_put_f32(&w, "model_weights/a/a/moving_variance:0", &variance, 1, &one);
    h5_attr_texts(&w, "model_weights/a", "weight_names", norm, 4, 0);
    h5_finish(&w);
    return sk_model_open(folder, model, err);
}

typedef double answer(double v);

/* Pixels are -6 to 5.5 by halves. */
static void expect(const char *text, answer *wanted, const char *what)
{
    sk_error err = {0};
    sk_model *model = NULL;
    float pixels[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        pixels[i] = (float)i / 2 - 6;
    assert_ok(open_network(text, 1, &model, &err), &err);
    sleap_run run = sleap_run_network(model, pixels, 1, HEIGHT, WIDTH);
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        const double got = ((const float *)run.outputs[0].data)[i], want = wanted(pixels[i]);
        if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want))))
            fail_msg("%s of %g: %g, not %g", what, (double)pixels[i], got, want);
    }
    sleap_run_free(&run);
    sk_model_close(&model);
}

#define RULE(name, formula)                                                                                  \
    static double name(double v)                                                                             \
    {                                                                                                        \
        return formula;                                                                                      \
    }
RULE(same, v)
RULE(relu, v > 0 ? v : 0)
RULE(relu_to_3, v<0 ? 0 : v> 3 ? 3 : v)
RULE(leaky_02, v > 0 ? v : 0.2 * v)
RULE(leaky_03, v > 0 ? v : 0.3 * v)
RULE(half, 0.5 * v)
RULE(elu, v > 0 ? v : expm1(v))
RULE(hard, v<-2.5 ? 0 : v> 2.5 ? 1 : 0.2 * v + 0.5)
RULE(swish, v / (1 + exp(-v)))
RULE(add, 5.0 + 0 * v)
RULE(subtract, 2 * v - 5)
RULE(multiply, v *(5 - v))
RULE(maximum, fmax(v, 5 - v))
RULE(minimum, fmin(v, 5 - v))
RULE(average, 2.5 + 0 * v)
RULE(normal, 3 * (v - 2) / sqrt(0.25 + 1e-3) - 1)
RULE(normal_wide, 3 * (v - 2) / sqrt(0.25 + 0.75) - 1)
RULE(normal_only, (v - 2) / sqrt(0.25 + 1e-3))
RULE(twice, 4 * v)

static void layers_of_one_picture(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        answer *rule;
        const char *what;
    } cases[] = {
        {ONE("Dropout", ""), same, "Dropout"},
        {ONE("FixedDropout", ""), same, "FixedDropout"},
        {ONE("SpatialDropout2D", ""), same, "SpatialDropout2D"},
        {ONE("GaussianDropout", ""), same, "GaussianDropout"},
        {ONE("GaussianNoise", ""), same, "GaussianNoise"},
        {ONE("ActivityRegularization", ""), same, "ActivityRegularization"},
        {ONE("Activation", "\"activation\": \"linear\""), same, "linear"},
        {ONE("Activation", ""), same, "no activation"},
        {ONE("Activation", "\"activation\": \"relu\""), relu, "relu"},
        {ONE("Activation", "\"activation\": \"elu\""), elu, "elu"},
        {ONE("Activation", "\"activation\": \"hard_sigmoid\""), hard, "hard_sigmoid"},
        {ONE("Activation", "\"activation\": \"swish\""), swish, "swish"},
        {ONE("ReLU", ""), relu, "ReLU"},
        {ONE("ReLU", "\"max_value\": 3"), relu_to_3, "ReLU to 3"},
        {ONE("ReLU", "\"negative_slope\": 0.2"), leaky_02, "ReLU with a slope"},
        {ONE("LeakyReLU", ""), leaky_03, "LeakyReLU"},
        {ONE("LeakyReLU", "\"alpha\": 0.2"), leaky_02, "LeakyReLU, Keras 2"},
        {ONE("LeakyReLU", "\"negative_slope\": 0.2"), leaky_02, "LeakyReLU, Keras 3"},
        {ONE("LeakyReLU", "\"alpha\": {\"value\": 0.2}"), leaky_02, "LeakyReLU, an array's number"},
        {ONE("Rescaling", "\"scale\": 0.5"), half, "Rescaling"},
        {ONE("BatchNormalization", ""), normal, "BatchNormalization"},
        {ONE("BatchNormalizationV1", "\"axis\": -1"), normal, "BatchNormalizationV1"},
        {ONE("SyncBatchNormalization", "\"axis\": [3]"), normal, "SyncBatchNormalization"},
        {ONE("BatchNormalization", "\"epsilon\": 0.75"), normal_wide, "BatchNormalization, epsilon"},
        {ONE("BatchNormalization", "\"scale\": false, \"center\": false"), normal_only, "plain norm"},
        {TWO("Add"), add, "Add"},
        {TWO("Subtract"), subtract, "Subtract"},
        {TWO("Multiply"), multiply, "Multiply"},
        {TWO("Maximum"), maximum, "Maximum"},
        {TWO("Minimum"), minimum, "Minimum"},
        {TWO("Average"), average, "Average"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(cases[i].text, cases[i].rule, cases[i].what);
}

/* A reference may name the layer alone: its first call and output are meant. A layer that is called twice is there twice. */
static void references_to_layers(void **state)
{
    (void)state;
    expect(MODEL(LAYER("Rescaling", "a", "\"scale\": 0.5", "[[\"in\"]]") ", " HEAD("[[\"a\"]]")), half,
           "names alone");
    expect(MODEL(LAYER("Rescaling", "a", "\"scale\": 2",
                       "[[\"in\", 0, 0, {}]], [[\"a\", 0, 0, {}]]") ", " HEAD("[[\"a\", 1, 0, {}]]")),
           twice, "the second call");
    expect(MODEL(LAYER("Rescaling", "a", "\"scale\": 0.5",
                       "[[\"in\", 0, 0, {}]], [[\"a\", 0, 0, {}]]") ", " HEAD("[[\"a\", 0, 0, {}]]")),
           half, "the first call of two");
}

/* The largest stride on the way is that of the input, also where it is the second call's. */
static void strides_of_calls(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(
        open_network(
            MODEL(LAYER(
                "MaxPooling2D", "p", "\"pool_size\": [2, 2], \"strides\": [2, 2]",
                "[[\"in\", 0, 0, {}]], [[\"p\", 0, 0, {}]]") ", " LAYER("UpSampling2D", "u",
                                                                        "\"size\": [4, 4]",
                                                                        "[[\"p\", 1, 0, {}]]") ", " HEAD("[["
                                                                                                         "\"u"
                                                                                                         "\","
                                                                                                         " 0,"
                                                                                                         " 0,"
                                                                                                         " {}"
                                                                                                         "]"
                                                                                                         "]")),
            1, &model, &err),
        &err);
    assert_int_equal(model->input.stride, 4);
    assert_true(model->outputs[0].stride == 1);
    sk_model_close(&model);
}

static void counts_of_inputs(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {MODEL(LAYER("ReLU", "a", "", "[[\"in\", 0, 0, {}], [\"in\", 0, 0, {}]]") ", " HEAD(FROM_A)),
         "2 inputs"},
        {MODEL(LAYER("Subtract", "a", "", FROM_IN) ", " HEAD(FROM_A)), "1 inputs"},
        {ONE("BatchNormalization", "\"axis\": 1"), "another axis than the channels"},
        {ONE("ReLU", "\"threshold\": 1"), "a ReLU with a threshold"},
        {ONE("ReLU", "\"max_value\": 6, \"negative_slope\": 0.1"), "both a slope and a limit"},
        {ONE("Rescaling", "\"scale\": [1, 2]"), "a scale that is not one number"},
        {ONE("Softmax", "\"axis\": 1"), "a softmax over another axis"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        assert_int_not_equal(open_network(cases[i].text, 1, &model, &err), SK_OK);
        assert_null(model);
        if (!strstr(err.message, cases[i].why))
            fail_msg("case %zu: %s", i, err.message);
    }
}

/* Weights by their names: in a layer's own group the last part counts, in a nested model's the layer's name before it, whole. */
static void weights_are_found_by_name(void **state)
{
    (void)state;
    static const char *const own[] = {"l/depthwise_kernel:0", "l/kernel:0", "bias:0"}, *const nested[] = {
                                                                                           "conv1/kernel:0",
                                                                                           "x/conv1/bias:0",
                                                                                           "yconv1/gamma:0",
                                                                                           "conv1_bn/beta:0",
                                                                                           "beta:0"};
    static const int64_t one = 1;
    static const struct {
        const char *group, *layer, *name;
        float value; /* 0: not there */
    } cases[] = {{"l", "l", "kernel", 2},       {"l", "l", "depthwise_kernel", 1},
                 {"l", "l", "bias", 3},         {"l", "l", "wise_kernel", 0},
                 {"l", "l", "gamma", 0},        {"m", "conv1", "kernel", 11},
                 {"m", "conv1", "bias", 12},    {"m", "conv1", "gamma", 0},
                 {"m", "yconv1", "gamma", 13},  {"m", "conv1", "beta", 0},
                 {"m", "conv1_bn", "beta", 14}, {"m", "bn", "beta", 0}};
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    char path[4200], inside[100];
    snprintf(path, sizeof path, "%s/names.h5", test_folder());
    h5_writer w = h5_create(path);
    for (int i = 0; i < 8; i++) {
        const float value = (float)(i < 3 ? 1 + i : 8 + i);
        snprintf(inside, sizeof inside, "model_weights/%s/%s", i < 3 ? "l" : "m",
                 i < 3 ? own[i] : nested[i - 3]);
        h5_put_f32(&w, inside, &value, 1, &one);
    }
    h5_attr_texts(&w, "model_weights/l", "weight_names", own, 3, 0);
    h5_attr_texts(&w, "model_weights/m", "weight_names", nested, 5, 0);
    h5_finish(&w);
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    const sk_keras_weights weights = sk_keras_weights_of(file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_blob *blob = NULL;
        sk_shape shape;
        const sk_shape wanted = {.rank = 1, .dim = {-1}};
        const sk_status status = weights.read(weights.context, cases[i].group, cases[i].layer, cases[i].name,
                                              &wanted, &blob, &shape, &err);
        if (status != (cases[i].value != 0 ? SK_OK : SK_ERR_NOT_FOUND) ||
            (blob && *(const float *)sk_blob_data(blob) != cases[i].value))
            fail_msg("%s of %s: %d, %g", cases[i].name, cases[i].layer, status,
                     blob ? (double)*(const float *)sk_blob_data(blob) : 0);
        sk_blob_unref(&blob);
    }
    sk_hdf5_close(&file);
}

/* A weight's name is longer than one attribute holds: then there are several, numbered without a gap. An exact name is better than one
 * with more in front, wherever it stands. */
static void lists_of_names_in_pieces(void **state)
{
    (void)state;
    static const char *const pieces[][2] = {{"x/c/kernel:0", "c/gamma:0"},
                                            {"c/kernel:0", "y/c/bias:0"},
                                            {"x/c/gamma:0", "z/c/bias:0"},
                                            {"c/beta:0", "c/other:0"}};
    static const struct {
        const char *name;
        float value; /* 0: not there */
    } cases[] = {{"kernel", 2}, {"gamma", 1.5f}, {"bias", 2.5f}, {"beta", 0}};
    static const int64_t one = 1;
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    char path[4200], inside[100];
    snprintf(path, sizeof path, "%s/pieces.h5", test_folder());
    h5_writer w = h5_create(path);
    for (int i = 0; i < 8; i++) {
        const float value = (float)(i / 2 + 1) + (float)(i % 2) / 2;
        snprintf(inside, sizeof inside, "model_weights/m/%s", pieces[i / 2][i % 2]);
        h5_put_f32(&w, inside, &value, 1, &one);
    }
    for (int i = 0; i < 4; i++) { /* 0, 1, 2 and, behind the gap, 4 */
        snprintf(inside, sizeof inside, "weight_names%d", i < 3 ? i : 4);
        h5_attr_texts(&w, "model_weights/m", inside, pieces[i], 2, 0);
    }
    h5_finish(&w);
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    const sk_keras_weights weights = sk_keras_weights_of(file);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_blob *blob = NULL;
        sk_shape shape;
        const sk_status status = weights.read(weights.context, "m", "c", cases[i].name,
                                              &(sk_shape){.rank = 1, .dim = {-1}}, &blob, &shape, &err);
        if (cases[i].value == 0) {
            assert_int_equal(status, SK_ERR_NOT_FOUND);
            assert_string_equal(err.message, "weight \"beta\" is not in the file");
            continue;
        }
        assert_ok(status, &err);
        assert_true(*(const float *)sk_blob_data(blob) == cases[i].value);
        sk_blob_unref(&blob);
    }
    /* of another shape only the shape is told */
    static const sk_shape others[] = {{1, {2}}, {2, {1, 1}}, {1, {0}}};
    for (int i = 0; i < 3; i++) {
        sk_blob *blob = (sk_blob *)&err;
        sk_shape shape = {0};
        assert_ok(weights.read(weights.context, "m", "c", "kernel", &others[i], &blob, &shape, &err), &err);
        assert_null(blob);
        assert_true(shape.rank == 1 && shape.dim[0] == 1);
    }
    sk_hdf5_close(&file);
}

/* "model_weights/" and the group's name go into 512 bytes. */
static void long_names_of_layers(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    char path[4200], name[600];
    snprintf(path, sizeof path, "%s/long.h5", test_folder());
    h5_writer w = h5_create(path);
    h5_put_group(&w, "model_weights");
    h5_finish(&w);
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    const sk_keras_weights weights = sk_keras_weights_of(file);
    for (int length = 497; length <= 498; length++) {
        sk_blob *blob = NULL;
        sk_shape shape;
        memset(name, 'n', sizeof name);
        name[length] = '\0';
        const sk_status status = weights.read(weights.context, name, name, "kernel",
                                              &(sk_shape){.rank = 1, .dim = {-1}}, &blob, &shape, &err);
        assert_int_equal(status, length == 497 ? SK_ERR_NOT_FOUND : SK_ERR_LIMIT);
        assert_string_equal(err.message, length == 497 ? "weight \"kernel\" is not in the file"
                                                       : "an over-long layer name");
    }
    sk_hdf5_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_one_picture),     cmocka_unit_test(references_to_layers),
        cmocka_unit_test(strides_of_calls),          cmocka_unit_test(counts_of_inputs),
        cmocka_unit_test(weights_are_found_by_name), cmocka_unit_test(lists_of_names_in_pieces),
        cmocka_unit_test(long_names_of_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
