/* SPDX-License-Identifier: Apache-2.0 */
/* The reference data's SLEAP <= 1.4 models against Keras' own activations for a zero input. */
#include "support/sleap_run.h"
#include "support/test.h"

#include "formats/hdf5_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_model *open_model(const char *folder)
{
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(folder, &model, &err), &err);
    return model;
}

/* Largest difference between an NCHW (or [N][C]) result and Keras' NHWC one, and the range of the latter. */
static double difference(const sk_tensor *ours, const float *theirs, const sk_shape *shape, double *range)
{
    double worst = 0, low = INFINITY, high = -INFINITY;
    const float *x = ours->data;
    int64_t h = 1, w = 1, c = shape->dim[shape->rank - 1];
    if (shape->rank == 4) {
        h = shape->dim[1];
        w = shape->dim[2];
        assert_int_equal(ours->shape.dim[2], h);
        assert_int_equal(ours->shape.dim[3], w);
    }
    assert_int_equal(ours->shape.rank, shape->rank);
    assert_int_equal(ours->shape.dim[1], c);
    for (int64_t i = 0; i < h * w; i++)
        for (int64_t k = 0; k < c; k++) {
            double a = (double)x[k * h * w + i], b = (double)theirs[i * c + k];
            worst = fmax(worst, fabs(a - b));
            low = fmin(low, b);
            high = fmax(high, b);
        }
    *range = high - low;
    return worst;
}

static void check_activations(const char *name)
{
    test_data_or_skip();
    char relative[300];
    snprintf(relative, sizeof relative, "sleap/legacy/%s", name);
    sk_model *model = open_model(test_data(relative));
    int64_t h = model->input.height, w = model->input.width;
    float *zeros = sk_calloc((size_t)(h * w * model->input.channels), sizeof *zeros);
    sleap_run run = sleap_run_network(model, zeros, 1, h, w);
    sk_error err = {0};
    sk_hdf5_file *file;
    snprintf(relative, sizeof relative, "sleap/legacy/%s/dummy_activations.h5", name);
    assert_ok(sk_hdf5_open(test_data(relative), &file, &err), &err);
    sk_hdf5_texts members;
    assert_ok(sk_hdf5_members(file, "", &members, &err), &err);
    int compared = 0;
    for (size_t i = 0; i < members.count; i++) {
        const char *layer = sk_hdf5_text_at(&members, i);
        if (strcmp(layer, "metadata") == 0)
            continue;
        int32_t at = -1;
        for (int32_t j = 0; j < model->n_outputs; j++)
            if (strcmp(model->outputs[j].name, layer) == 0)
                at = j;
        if (at < 0)
            fail_msg("%s: no output called %s", name, layer);
        sk_blob *blob;
        sk_shape shape;
        assert_ok(sk_hdf5_dataset_read(file, layer, SK_DTYPE_F32, 1 << 28, &blob, &shape, &err), &err);
        double range, worst = difference(&run.outputs[at], sk_blob_data(blob), &shape, &range);
        print_message("%s/%s: worst %.3g of a range of %.3g (%.3g)\n", name, layer, worst, range,
                      worst / range);
        if (!(worst <= 1e-5 * range))
            fail_msg("%s/%s: %g off, the range is %g", name, layer, worst, range);
        sk_blob_unref(&blob);
        compared++;
    }
    assert_int_equal(compared, model->n_outputs);
    sk_free(members.bytes);
    sk_hdf5_close(&file);
    sleap_run_free(&run);
    sk_free(zeros);
    sk_model_close(&model);
}

static void single_instance(void **state)
{
    (void)state;
    check_activations("minimal_robot.UNet.single_instance");
}

static void centroid(void **state)
{
    (void)state;
    check_activations("minimal_instance.UNet.centroid");
}

static void centered_instance(void **state)
{
    (void)state;
    check_activations("minimal_instance.UNet.centered_instance");
}

static void bottomup(void **state)
{
    (void)state;
    check_activations("minimal_instance.UNet.bottomup");
}

static void topdown_multiclass(void **state)
{
    (void)state;
    check_activations("min_tracks_2node.UNet.topdown_multiclass");
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "";
}

static void the_folder_says_what_the_model_is(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *m = open_model(test_data("sleap/legacy/minimal_instance.UNet.bottomup"));
    assert_int_equal(m->task, SK_TASK_BOTTOMUP);
    assert_int_equal(m->format, SK_FORMAT_SLEAP_KERAS);
    assert_string_equal(m->architecture, "sleap unet");
    assert_int_equal(m->n_keypoints, 2);
    assert_string_equal(m->keypoint_names[1], "B");
    assert_int_equal(m->sleap.n_edges, 1);
    assert_int_equal(m->sleap.edges[0][1], 1);
    assert_int_equal(m->n_edges, 1);
    assert_int_equal(m->n_outputs, 3);
    assert_int_equal(m->outputs[1].kind, SK_OUTPUT_PAFS);
    assert_true(m->outputs[0].stride == 2 && m->outputs[1].stride == 4 && m->outputs[2].stride == 2);
    assert_int_equal(m->outputs[2].kind, SK_OUTPUT_OFFSETS);
    assert_true(m->input.stride == 8 && m->input.height == 384 && m->input.channels == 1 && m->outputs_nhwc);
    assert_true(m->sleap.legacy && !m->sleap.resize_antialias && m->sleap.input_scale == 1);
    assert_string_equal(fact(m, "run_name"), "minimal_instance.UNet.bottomup");
    assert_string_equal(fact(m, "keras_version"), "2.4.0");
    assert_int_equal(sk_graph_parameters(m->graph), 150748);
    assert_int_equal(strlen(m->content_hash), 64);
    sk_model_close(&m);

    m = open_model(test_data("sleap/legacy/min_tracks_2node.UNet.topdown_multiclass"));
    assert_int_equal(m->task, SK_TASK_MULTICLASS_TOPDOWN);
    assert_int_equal(m->n_classes, 2);
    assert_string_equal(m->class_names[1], "male");
    assert_string_equal(m->keypoint_names[0], "head");
    assert_string_equal(m->sleap.anchor_part, "thorax");
    /* The skeleton lists thorax -> head; the maps' channels are head, thorax. */
    assert_true(m->n_edges == 1 && m->edges[0][0] == 1 && m->edges[0][1] == 0);
    assert_true(m->sleap.crop_size[0] == 128 && m->input.stride == 16 && !m->input.fixed_size);
    assert_int_equal(m->outputs[1].kind, SK_OUTPUT_CLASS_VECTORS);
    assert_string_equal(fact(m, "version"), "1.1.1");
    sk_model_close(&m);

    m = open_model(test_data("sleap/legacy/minimal_robot.UNet.single_instance/best_model.h5"));
    assert_int_equal(m->task, SK_TASK_SINGLE_INSTANCE);
    assert_true(m->sleap.input_scale == 0.5f && m->input.channels == 3 && m->input.width == 280);
    sk_model_close(&m);

    m = open_model(test_data("sleap/legacy/minimal_instance.UNet.centroid/training_config.json"));
    assert_int_equal(m->task, SK_TASK_CENTROID);
    assert_true(m->n_keypoints == 1 && m->outputs[0].stride == 4);
    sk_model_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_instance),    cmocka_unit_test(centroid),
        cmocka_unit_test(centered_instance),  cmocka_unit_test(bottomup),
        cmocka_unit_test(topdown_multiclass), cmocka_unit_test(the_folder_says_what_the_model_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
