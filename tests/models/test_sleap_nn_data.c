/* SPDX-License-Identifier: Apache-2.0 */
/* The reference data's sleap-nn checkpoints against sleap-nn's own results: its pre-processed images go
 * through the reference executor, peaks are found by the plain code of tests/support. */
#include "support/sleap_run.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIXELS 0.01f
#define VALUES 1e-4f

static sk_model *open_model(const char *name)
{
    sk_error err = {0};
    sk_model *model = NULL;
    char relative[200];
    snprintf(relative, sizeof relative, "sleap/nn/minimal_instance_%s", name);
    assert_ok(sk_model_open(test_data(relative), &model, &err), &err);
    return model;
}

static npy_array golden(const char *kind, int batch, const char *key)
{
    char relative[200];
    snprintf(relative, sizeof relative, "sleap/goldens/%s/b%d_%s.npy", kind, batch, key);
    return npy_read(test_data(relative));
}

/* Image `index` of an array whose last three dimensions are c, h, w: as f32 0…1, padded to multiples of
 * stride at the bottom and right. */
static float *picture(const npy_array *images, int index, int64_t stride, int64_t *h, int64_t *w)
{
    const sk_shape *s = &images->shape;
    int64_t c = s->dim[s->rank - 3], h0 = s->dim[s->rank - 2], w0 = s->dim[s->rank - 1];
    *h = (h0 + stride - 1) / stride * stride;
    *w = (w0 + stride - 1) / stride * stride;
    float *out = sk_calloc((size_t)(c * *h * *w), sizeof *out);
    const float *in = images->data + index * c * h0 * w0;
    for (int64_t k = 0; k < c; k++)
        for (int64_t y = 0; y < h0; y++)
            for (int64_t x = 0; x < w0; x++)
                out[(k * *h + y) * *w + x] = in[(k * h0 + y) * w0 + x] / 255.0f;
    return out;
}

typedef struct {
    float pixels, value;
} worst;

static void compare(worst *so_far, const char *what, float x, float y, float v, const float *xy, float value)
{
    if (isnan(xy[0])) {
        assert_true(isnan(x) && isnan(y));
        return;
    }
    float off = fmaxf(fabsf(x - xy[0]), fabsf(y - xy[1]));
    if (!(off <= PIXELS) || !(fabsf(v - value) <= VALUES))
        fail_msg("%s: (%g, %g) %g where sleap-nn has (%g, %g) %g", what, x, y, v, xy[0], xy[1], value);
    so_far->pixels = fmaxf(so_far->pixels, off);
    so_far->value = fmaxf(so_far->value, fabsf(v - value));
}

static void report(const char *what, const worst *w, int compared)
{
    print_message("%s: %d peaks, worst %.2g px, %.2g in value\n", what, compared, w->pixels, w->value);
    assert_true(compared > 0);
}

static void single_instance_peaks(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *model = open_model("single_instance");
    worst w = {0};
    int compared = 0;
    for (int batch = 0; batch < 2; batch++) {
        npy_array images = golden("single_instance", batch, "image");
        npy_array peaks = golden("single_instance", batch, "pred_instance_peaks");
        npy_array values = golden("single_instance", batch, "pred_peak_values");
        for (int i = 0; i < images.shape.dim[0]; i++) {
            int64_t height, width;
            float stride, *pixels = picture(&images, i, model->input.stride, &height, &width);
            sleap_run run = sleap_run_network(model, pixels, 1, height, width);
            const sk_tensor *map = sleap_run_output(&run, model, SK_OUTPUT_CONFMAPS, &stride);
            sleap_peak found[2];
            sleap_global_peaks(map->data, 2, map->shape.dim[2], map->shape.dim[3], stride, 0.3f, found);
            for (int k = 0; k < 2; k++, compared++) /* the golden is in original pixels */
                compare(&w, "single", found[k].x / model->sleap.input_scale,
                        found[k].y / model->sleap.input_scale, found[k].value, &peaks.data[(i * 2 + k) * 2],
                        values.data[i * 2 + k]);
            sleap_run_free(&run);
            sk_free(pixels);
        }
        sk_free(images.data);
        sk_free(peaks.data);
        sk_free(values.data);
    }
    report("single instance", &w, compared);
    sk_model_close(&model);
}

static void centroids(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *model = open_model("centroid");
    worst w = {0};
    int compared = 0;
    for (int batch = 0; batch < 8; batch += 4) { /* one frame each, repeated for every centroid */
        npy_array images = golden("topdown", batch, "image");
        npy_array peaks = golden("topdown", batch, "pred_centroids");
        npy_array values = golden("topdown", batch, "centroid_val");
        int64_t height, width;
        float stride, *pixels = picture(&images, 0, model->input.stride, &height, &width);
        sleap_run run = sleap_run_network(model, pixels, 1, height, width);
        const sk_tensor *map = sleap_run_output(&run, model, SK_OUTPUT_CONFMAPS, &stride);
        sleap_peak found[64];
        int n =
            sleap_local_peaks(map->data, 1, map->shape.dim[2], map->shape.dim[3], stride, 0.03f, found, 64);
        assert_int_equal(n, peaks.shape.dim[0]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) /* in whatever order */
                if (fabsf(found[j].x - peaks.data[2 * i]) < 1 &&
                    fabsf(found[j].y - peaks.data[2 * i + 1]) < 1) {
                    compare(&w, "centroid", found[j].x, found[j].y, found[j].value, &peaks.data[2 * i],
                            values.data[i]);
                    compared++;
                }
        sleap_run_free(&run);
        sk_free(pixels);
        sk_free(images.data);
        sk_free(peaks.data);
        sk_free(values.data);
    }
    assert_int_equal(compared, 4);
    report("centroids", &w, compared);
    sk_model_close(&model);
}

static void centred_instance_peaks(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *model = open_model("centered_instance");
    worst w = {0};
    int compared = 0;
    for (int batch = 0; batch < 8; batch++) {
        npy_array crops = golden("topdown", batch, "instance_image");
        npy_array peaks = golden("topdown", batch, "pred_instance_peaks"); /* in the crop's pixels */
        npy_array values = golden("topdown", batch, "pred_peak_values");
        for (int i = 0; i < crops.shape.dim[0]; i++) {
            int64_t height, width;
            float stride, *pixels = picture(&crops, i, model->input.stride, &height, &width);
            sleap_run run = sleap_run_network(model, pixels, 1, height, width);
            const sk_tensor *map = sleap_run_output(&run, model, SK_OUTPUT_CONFMAPS, &stride);
            sleap_peak found[2];
            sleap_global_peaks(map->data, 2, map->shape.dim[2], map->shape.dim[3], stride, 0.03f, found);
            for (int k = 0; k < 2; k++, compared++)
                compare(&w, "instance", found[k].x, found[k].y, found[k].value, &peaks.data[(i * 2 + k) * 2],
                        values.data[i * 2 + k]);
            sleap_run_free(&run);
            sk_free(pixels);
        }
        sk_free(crops.data);
        sk_free(peaks.data);
        sk_free(values.data);
    }
    report("centred instances", &w, compared);
    sk_model_close(&model);
}

static void bottomup_peaks(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *model = open_model("bottomup");
    worst w = {0};
    int compared = 0;
    for (int batch = 0; batch < 2; batch++) {
        npy_array images = golden("bottomup", batch, "image");
        for (int i = 0; i < images.shape.dim[0]; i += 3) {
            char key[64];
            snprintf(key, sizeof key, "pred_instance_peaks_%d", i);
            npy_array peaks = golden("bottomup", batch, key);
            snprintf(key, sizeof key, "pred_peak_values_%d", i);
            npy_array values = golden("bottomup", batch, key);
            int64_t height, width;
            float stride, *pixels = picture(&images, i, model->input.stride, &height, &width);
            sleap_run run = sleap_run_network(model, pixels, 1, height, width);
            const sk_tensor *map = sleap_run_output(&run, model, SK_OUTPUT_CONFMAPS, &stride);
            sleap_peak found[256];
            int n = sleap_local_peaks(map->data, 2, map->shape.dim[2], map->shape.dim[3], stride, 0.05f,
                                      found, 256);
            for (int64_t j = 0; j < peaks.shape.dim[0] * 2; j++) { /* [instance][node][x, y] */
                const float *xy = &peaks.data[2 * j];
                int hits = 0;
                for (int f = 0; f < n && !isnan(xy[0]); f++)
                    if (found[f].channel == j % 2 && fabsf(found[f].x - xy[0]) < 1 &&
                        fabsf(found[f].y - xy[1]) < 1) {
                        compare(&w, "bottom-up", found[f].x, found[f].y, found[f].value, xy, values.data[j]);
                        hits++;
                        compared++;
                    }
                assert_true(isnan(xy[0]) || hits == 1);
            }
            sleap_run_free(&run);
            sk_free(pixels);
            sk_free(peaks.data);
            sk_free(values.data);
        }
        sk_free(images.data);
    }
    report("bottom-up", &w, compared);
    sk_model_close(&model);
}

/* sleap-nn's crop: integer corner, zeros outside. */
static float *crop(const npy_array *image, const float *centroid, int size)
{
    int64_t h = image->shape.dim[image->shape.rank - 2], w = image->shape.dim[image->shape.rank - 1];
    int64_t left = (int64_t)truncf(centroid[0] - (float)(size - 1) / 2 + (float)(size / 2)) - size / 2;
    int64_t top = (int64_t)truncf(centroid[1] - (float)(size - 1) / 2 + (float)(size / 2)) - size / 2;
    float *out = sk_calloc((size_t)size * (size_t)size, sizeof *out);
    for (int64_t y = 0; y < size; y++)
        for (int64_t x = 0; x < size; x++)
            if (y + top >= 0 && y + top < h && x + left >= 0 && x + left < w)
                out[y * size + x] = image->data[(y + top) * w + x + left] / 255.0f;
    return out;
}

/* The golden names, for every crop, the class it was given and that class' probability. The frames are
 * those of the topdown golden. */
static void class_probabilities(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *model = open_model("multiclass_centered_instance");
    assert_int_equal(model->n_classes, 2);
    float off = 0;
    for (int batch = 0; batch < 8; batch++) {
        npy_array image = golden("topdown", batch, "image");
        npy_array at = golden("multiclass_topdown", batch, "pred_centroids");
        npy_array classes = golden("multiclass_topdown", batch, "pred_class_inds");
        npy_array scores = golden("multiclass_topdown", batch, "instance_scores");
        for (int i = 0; i < at.shape.dim[0]; i++) {
            float *pixels = crop(&image, &at.data[2 * i], model->sleap.crop_size[0]);
            sleap_run run =
                sleap_run_network(model, pixels, 1, model->sleap.crop_size[0], model->sleap.crop_size[1]);
            const float *p = sleap_run_output(&run, model, SK_OUTPUT_CLASS_VECTORS, NULL)->data;
            float difference = fabsf(p[(int)classes.data[i]] - scores.data[i]);
            if (!(difference <= VALUES))
                fail_msg("batch %d crop %d: class %g has %g where sleap-nn has %g", batch, i, classes.data[i],
                         p[(int)classes.data[i]], scores.data[i]);
            assert_true(fabsf(p[0] + p[1] - 1) < 1e-5f);
            off = fmaxf(off, difference);
            sleap_run_free(&run);
            sk_free(pixels);
        }
        sk_free(image.data);
        sk_free(at.data);
        sk_free(classes.data);
        sk_free(scores.data);
    }
    print_message("class probabilities: worst %.2g\n", off);
    sk_model_close(&model);
}

static void the_folder_says_what_the_model_is(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_model *m = open_model("bottomup");
    assert_int_equal(m->format, SK_FORMAT_SLEAP_NN);
    assert_int_equal(m->task, SK_TASK_BOTTOMUP);
    assert_string_equal(m->architecture, "sleap-nn unet");
    assert_true(m->n_keypoints == 2 && m->n_edges == 1 && m->sleap.n_edges == 1);
    assert_true(m->outputs[0].stride == 2 && m->outputs[1].stride == 4 && m->n_outputs == 2);
    assert_true(m->input.stride == 8 && m->input.height == 384 && m->input.channels == 1);
    assert_true(!m->sleap.legacy && m->sleap.resize_antialias && m->sleap.target_size[0] == 384);
    assert_int_equal(sk_graph_parameters(m->graph), 150648);
    sk_model_close(&m);

    m = open_model("single_instance");
    assert_true(m->input.channels == 3 && m->sleap.input_scale == 0.5f);
    assert_true(m->input.height == 160 && m->input.width == 280);
    sk_model_close(&m);

    m = open_model("multiclass_centered_instance");
    assert_int_equal(m->task, SK_TASK_MULTICLASS_TOPDOWN);
    assert_true(m->sleap.crop_size[0] == 128 && m->input.height == 128);
    assert_string_equal(m->sleap.anchor_part, "A");
    assert_string_equal(m->class_names[0], "female");
    sk_model_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_instance_peaks),  cmocka_unit_test(centroids),
        cmocka_unit_test(centred_instance_peaks), cmocka_unit_test(bottomup_peaks),
        cmocka_unit_test(class_probabilities),    cmocka_unit_test(the_folder_says_what_the_model_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
