/* SPDX-License-Identifier: Apache-2.0 */
/* SLEAP <= 1.4 folders: small Keras models of every layer with Keras' own answers
 * (tests/parity/sleap_keras_models.py made them), folders written here with answers known by hand, and
 * broken ones. */
#include "support/fault.h"
#include "support/h5_writer.h"
#include "support/sleap_run.h"
#include "support/test.h"
#include "support/torch_writer.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Keras' answers --- */

/* NHWC to NCHW; other ranks stay. */
static float *to_nchw(const npy_array *array)
{
    const sk_shape *s = &array->shape;
    int64_t c = s->dim[s->rank - 1], pixels = s->rank == 4 ? s->dim[1] * s->dim[2] : 1;
    float *out = sk_malloc((size_t)(c * pixels) * sizeof *out);
    assert_int_equal(s->dim[0], 1);
    for (int64_t i = 0; i < pixels; i++)
        for (int64_t k = 0; k < c; k++)
            out[k * pixels + i] = array->data[i * c + k];
    return out;
}

static void check_output(const sk_model *model, const sleap_run *run, int32_t index, const char *folder)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/output_%s.npy", folder, model->outputs[index].name);
    npy_array array = npy_read(path);
    float *expected = to_nchw(&array);
    const sk_tensor *ours = &run->outputs[index];
    assert_int_equal(sk_shape_count(&ours->shape), sk_shape_count(&array.shape));
    assert_int_equal(ours->shape.dim[1], array.shape.dim[array.shape.rank - 1]);
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < sk_shape_count(&array.shape); i++) {
        worst = fmax(worst, fabs((double)((float *)ours->data)[i] - (double)expected[i]));
        largest = fmax(largest, fabs((double)expected[i]));
    }
    print_message("%s/%s: worst %.2g of %.3g\n", strrchr(folder, '/') + 1, model->outputs[index].name, worst,
                  largest);
    if (!(worst <= 1e-5 * fmax(1, largest)))
        fail_msg("%s: %g off where the largest is %g", path, worst, largest);
    sk_free(expected);
    sk_free(array.data);
}

static void check_case(const char *folder)
{
    sk_error err = {0};
    sk_model *model = NULL;
    char path[4300];
    int64_t before = sk_memory_live_bytes();
    assert_ok(sk_model_open(folder, &model, &err), &err);
    snprintf(path, sizeof path, "%s/input.npy", folder);
    npy_array input = npy_read(path);
    float *pixels = to_nchw(&input);
    sleap_run run = sleap_run_network(model, pixels, 1, input.shape.dim[1], input.shape.dim[2]);
    assert_int_equal(run.n_outputs, model->n_outputs);
    for (int32_t i = 0; i < model->n_outputs; i++)
        check_output(model, &run, i, folder);
    sleap_run_free(&run);
    sk_free(pixels);
    sk_free(input.data);
    sk_model_close(&model);
    assert_int_equal(sk_memory_live_bytes(), before);
}

static void networks_give_keras_answers(void **state)
{
    (void)state;
    static const char *const cases[] = {"convolutions", "transposed", "pooling_and_merging", "vectors",
                                        "encoder"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char relative[200], folder[4200];
        snprintf(relative, sizeof relative, "tests/fixtures/sleap_keras/%s", cases[i]);
        snprintf(folder, sizeof folder, "%s", test_source(relative));
        check_case(folder);
    }
    if (getenv("SKITTER_SLEAP_KERAS_CASES")) { /* more, made on the spot */
        int count = 0;
        DIR *dir = opendir(getenv("SKITTER_SLEAP_KERAS_CASES"));
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            char folder[4200];
            snprintf(folder, sizeof folder, "%s/%s", getenv("SKITTER_SLEAP_KERAS_CASES"), entry->d_name);
            if (entry->d_name[0] == '.')
                continue;
            check_case(folder);
            count++;
        }
        closedir(dir);
        assert_true(count > 0);
    }
}

/* --- folders of our own --- */

#define CONV(name, from, settings)                                                                           \
    "{\"class_name\": \"Conv2D\", \"name\": \"" name "\", \"config\": {\"name\": \"" name "\", " settings    \
    "}, \"inbound_nodes\": [[[\"" from "\", 0, 0, {}]]]}"
#define LAYER(class_name, name, from, settings)                                                              \
    "{\"class_name\": \"" class_name "\", \"name\": \"" name "\", \"config\": {" settings                    \
    "}, \"inbound_nodes\": [[[\"" from "\", 0, 0, {}]]]}"
#define INPUT                                                                                                \
    "{\"class_name\": \"InputLayer\", \"name\": \"input\", \"config\": {\"batch_input_shape\":"              \
    " [null, 4, 6, 1]}, \"inbound_nodes\": []}"
#define MODEL(layers, outputs)                                                                               \
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": [" INPUT ", " layers         \
    "], \"input_layers\": [[\"input\", 0, 0]], \"output_layers\": [" outputs "]}}"
#define HEAD_CONV                                                                                            \
    "\"filters\": 1, \"kernel_size\": [1, 1], \"strides\": [1, 1], \"padding\": \"same\", \"use_bias\": "    \
    "true"
#define HEAD  "[\"SingleInstanceConfmapsHead\", 0, 0]"
#define PLAIN MODEL(CONV("SingleInstanceConfmapsHead", "input", HEAD_CONV), HEAD)

static const char plain_config[] =
    "{\"data\": {\"preprocessing\": {\"input_scaling\": 0.5}}, \"model\": {\"heads\": {\"centroid\": null,"
    " \"single_instance\": {\"part_names\": [\"nose\"], \"output_stride\": 1}}, \"backbone\": {\"leap\": "
    "{}}}}";

typedef struct {
    const char *config, *model; /* null: left out */
    int no_weights, no_kernel, wide_kernel;
    float poison; /* the bias, when not 0 */
    long cut;     /* bytes of best_model.h5 kept; 0: all */
} fixture;

static const float kernel_value = 2.0f;

static void write_h5(const char *path, const fixture *f)
{
    static const char *const names[] = {"SingleInstanceConfmapsHead/kernel:0",
                                        "SingleInstanceConfmapsHead/bias:0"};
    static const char group[] = "model_weights/SingleInstanceConfmapsHead";
    const int64_t dims[] = {1, 1, f->wide_kernel ? 2 : 1, 1}, one = 1;
    const float kernel[2] = {kernel_value, kernel_value}, bias = f->poison != 0 ? f->poison : 0.25f;
    h5_writer w = h5_create(path);
    if (f->model)
        h5_attr_text(&w, "/", "model_config", f->model, 1);
    if (!f->no_weights) {
        if (!f->no_kernel)
            h5_put_f32(&w, "model_weights/SingleInstanceConfmapsHead/SingleInstanceConfmapsHead/kernel:0",
                       kernel, 4, dims);
        h5_put_f32(&w, "model_weights/SingleInstanceConfmapsHead/SingleInstanceConfmapsHead/bias:0", &bias, 1,
                   &one);
        h5_attr_texts(&w, group, "weight_names", f->no_kernel ? names + 1 : names, f->no_kernel ? 1 : 2, 0);
    }
    h5_finish(&w);
    if (f->cut)
        assert_int_equal(truncate(path, f->cut), 0);
}

static const char *make_folder(const fixture *f)
{
    static char folder[4200];
    static int count;
    char path[4300];
    snprintf(folder, sizeof folder, "%s/model%d", test_folder(), count++);
    assert_int_equal(mkdir(folder, 0700), 0);
    if (f->config) {
        snprintf(path, sizeof path, "%s/training_config.json", folder);
        FILE *file = fopen(path, "wb");
        fputs(f->config, file);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/best_model.h5", folder);
    write_h5(path, f);
    return folder;
}

static void check_plain(const char *path)
{
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(path, &model, &err), &err);
    assert_int_equal(model->task, SK_TASK_SINGLE_INSTANCE);
    assert_string_equal(model->architecture, "sleap leap");
    assert_true(model->input.height == 4 && model->input.width == 6 && model->input.stride == 1);
    assert_true(model->sleap.input_scale == 0.5f && model->outputs_nhwc && model->sleap.legacy);
    float pixels[24];
    for (int i = 0; i < 24; i++)
        pixels[i] = (float)i;
    sleap_run run = sleap_run_network(model, pixels, 1, 4, 6);
    for (int i = 0; i < 24; i++)
        assert_true(((float *)run.outputs[0].data)[i] == (float)i * kernel_value + 0.25f);
    sleap_run_free(&run);
    sk_model_close(&model);
}

static char *slurp(const char *folder, const char *name, size_t *length)
{
    char path[4400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

static void a_folder_and_its_zips_open(void **state)
{
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s", make_folder(&(fixture){.config = plain_config, .model = PLAIN}));
    check_plain(folder);
    static const char *const names[] = {"training_config.json", "best_model.h5"};
    for (int deflate = 0; deflate < 2; deflate++) {
        tw_zip zip = {.deflate = deflate};
        for (int i = 0; i < 2; i++) {
            char inside[100];
            size_t length;
            char *bytes = slurp(folder, names[i], &length);
            snprintf(inside, sizeof inside, "%s%s", deflate ? "my model/" : "", names[i]);
            tw_zip_add(&zip, inside, bytes, length);
            free(bytes);
        }
        tw_zip_finish(&zip);
        check_plain(tw_save(&zip, deflate ? "deflated.zip" : "stored.zip"));
        tw_zip_free(&zip);
    }
}

static void refuse(fixture f, sk_status expected, const char *hint)
{
    sk_error err = {0};
    sk_model *model = NULL;
    int64_t before = sk_memory_live_bytes();
    const char *folder = make_folder(&f);
    assert_ok(sk_model_create(&model, &err), &err);
    sk_status status = sk_model_read_sleap_keras(folder, model, &err);
    sk_model_close(&model);
    if (status != expected || !strstr(err.message, hint))
        fail_msg("gave %d \"%s\", expected %d with \"%s\"", status, err.message, expected, hint);
    assert_int_equal(sk_memory_live_bytes(), before);
}

#define REFUSE_MODEL(json, code, hint) refuse((fixture){.config = plain_config, .model = json}, code, hint)

static void broken_files_are_refused(void **state)
{
    (void)state;
    refuse((fixture){.config = plain_config}, SK_ERR_FORMAT, "model_config");
    refuse((fixture){.config = plain_config, .model = PLAIN, .no_weights = 1}, SK_ERR_FORMAT, "no weights");
    refuse((fixture){.config = plain_config, .model = PLAIN, .no_kernel = 1}, SK_ERR_NOT_FOUND, "\"kernel\"");
    refuse((fixture){.config = plain_config, .model = PLAIN, .wide_kernel = 1}, SK_ERR_MISMATCH,
           "1x1x2x1 where the network needs 1x1x1x1");
    refuse((fixture){.config = plain_config, .model = PLAIN, .poison = NAN}, SK_ERR_FORMAT,
           "\"bias\" holds NaN");
    refuse((fixture){.config = plain_config, .model = PLAIN, .poison = INFINITY}, SK_ERR_FORMAT, "infinity");
    refuse((fixture){.config = plain_config, .model = PLAIN, .cut = 2000}, SK_ERR_FORMAT, "best_model.h5");
    refuse((fixture){.config = plain_config, .model = PLAIN, .cut = 4}, SK_ERR_FORMAT, "best_model.h5");
    refuse((fixture){.model = PLAIN}, SK_ERR_NOT_FOUND, "training_config.json");
    refuse((fixture){.config = "{", .model = PLAIN}, SK_ERR_FORMAT, "JSON");
    refuse((fixture){.config = "{\"model\": {\"heads\": {}}}", .model = PLAIN}, SK_ERR_FORMAT, "no head");
    refuse((fixture){.config =
                         "{\"model\": {\"heads\": {\"single_instance\": {\"part_names\": [\"a\", \"b\"]}}}}",
                     .model = PLAIN},
           SK_ERR_MISMATCH, "2");
    refuse((fixture){.config = "{\"model\": {\"heads\": {\"single_instance\": {\"part_names\": [\"a\"],"
                               " \"output_stride\": 2}}}}",
                     .model = PLAIN},
           SK_ERR_MISMATCH, "stride 1");
    refuse((fixture){.config = "{\"model\": {\"heads\": {\"multi_instance\": {\"confmaps\": {\"part_names\":"
                               " [\"a\"]}, \"pafs\": {\"edges\": [[\"a\", \"a\"]]}}}}}",
                     .model = PLAIN},
           SK_ERR_FORMAT, "part affinity fields");
}

static void broken_networks_are_refused(void **state)
{
    (void)state;
    REFUSE_MODEL("[]", SK_ERR_UNSUPPORTED, "functional");
    REFUSE_MODEL("{\"class_name\": \"Sequential\", \"config\": {}}", SK_ERR_UNSUPPORTED, "Sequential");
    REFUSE_MODEL("{\"class_name\": \"Functional\", \"config\": {\"layers\": []}}", SK_ERR_FORMAT,
                 "no layers");
    REFUSE_MODEL(MODEL(LAYER("MyLayer", "odd", "input", ""), "[\"odd\", 0, 0]"), SK_ERR_UNSUPPORTED,
                 "layer \"odd\" (MyLayer)");
    REFUSE_MODEL(MODEL(LAYER("TFOpLambda", "tf.add", "input", ""), "[\"tf.add\", 0, 0]"), SK_ERR_UNSUPPORTED,
                 "TFOpLambda");
    REFUSE_MODEL(MODEL(LAYER("Lambda", "mine", "input",
                             "\"function\": [\"4wEA\", null, null], \"function_type\":"
                             " \"lambda\""),
                       "[\"mine\", 0, 0]"),
                 SK_ERR_UNSUPPORTED, "not executed");
    REFUSE_MODEL(
        MODEL(LAYER("Activation", "act", "input", "\"activation\": \"softsign\""), "[\"act\", 0, 0]"),
        SK_ERR_UNSUPPORTED, "softsign");
    REFUSE_MODEL(MODEL(LAYER("Activation", "act", "ghost", "\"activation\": \"relu\""), "[\"act\", 0, 0]"),
                 SK_ERR_FORMAT, "\"ghost\"");
    REFUSE_MODEL(MODEL(LAYER("Activation", "act", "act", "\"activation\": \"relu\""), "[\"act\", 0, 0]"),
                 SK_ERR_FORMAT, "never made");
    REFUSE_MODEL(
        MODEL(LAYER("Activation", "input", "input", "\"activation\": \"relu\""), "[\"input\", 0, 0]"),
        SK_ERR_FORMAT, "two layers");
    REFUSE_MODEL(MODEL(LAYER("Activation", "act", "input", "\"activation\": \"relu\""), "[\"act\", 1, 0]"),
                 SK_ERR_FORMAT, "no call 1");
    REFUSE_MODEL(MODEL(LAYER("Activation", "act", "input", "\"activation\": \"relu\""), ""), SK_ERR_FORMAT,
                 "no outputs");
    REFUSE_MODEL(
        MODEL(CONV("SingleInstanceConfmapsHead", "input", "\"filters\": 1, \"kernel_size\": [0, 1]"), HEAD),
        SK_ERR_FORMAT, "kernel_size");
    REFUSE_MODEL(
        MODEL(CONV("SingleInstanceConfmapsHead", "input", HEAD_CONV ", \"data_format\": \"channels_first\""),
              HEAD),
        SK_ERR_UNSUPPORTED, "channels_first");
    REFUSE_MODEL(MODEL(CONV("SingleInstanceConfmapsHead", "input", HEAD_CONV ", \"groups\": 0"), HEAD),
                 SK_ERR_FORMAT, "groups");
    REFUSE_MODEL(
        MODEL(LAYER("UpSampling2D", "up", "input", "\"size\": [2, 2], \"interpolation\": \"lanczos3\""),
              "[\"up\", 0, 0]"),
        SK_ERR_UNSUPPORTED, "lanczos3");
}

static sk_status open_and_close(void *folder, sk_error *err)
{
    sk_model *model = NULL;
    sk_status status = sk_model_open(folder, &model, err);
    sk_model_close(&model);
    return status;
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    char folder[4200];
    snprintf(folder, sizeof folder, "%s", make_folder(&(fixture){.config = plain_config, .model = PLAIN}));
    assert_true(test_every_allocation(open_and_close, folder) > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_give_keras_answers),
        cmocka_unit_test(a_folder_and_its_zips_open),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(broken_networks_are_refused),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
