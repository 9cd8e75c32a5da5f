/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "formats/npy.h"
#include "graph/reference.h"
#include "models/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The network as imported, run by the reference executor, against what Ultralytics computed from the same file and
 * picture: boxes and keypoints within a hundredth of a pixel, scores and angles within 1e-4. */

static void compare(const sk_model *model, const sk_tensor *got, const sk_tensor *want)
{
    int64_t channels = want->shape.dim[1], anchors = want->shape.dim[2];
    int boxes = 4, scores = boxes + model->n_classes;
    int64_t loose = 0;
    double worst_pixel = 0, worst_unit = 0;
    const float *g = got->data, *w = want->data;
    for (int64_t a = 0; a < anchors; a++) {
        double pixel = 0;
        for (int64_t c = 0; c < channels; c++) {
            double difference = fabs((double)g[c * anchors + a] - (double)w[c * anchors + a]);
            bool keypoint =
                c >= scores && model->task == SK_TASK_POSE && (c - scores) % model->yolo.keypoint_dims < 2;
            if (!(difference <= HUGE_VAL))
                fail_msg("not a number at channel %lld, anchor %lld", (long long)c, (long long)a);
            if (c < boxes || keypoint)
                pixel = difference > pixel ? difference : pixel;
            else
                worst_unit = difference > worst_unit ? difference : worst_unit;
        }
        loose += pixel > 0.01;
        worst_pixel = pixel > worst_pixel ? pixel : worst_pixel;
    }
    print_message("    pixels %.2g, scores and angles %.2g, anchors over 0.01 px: %lld of %lld\n",
                  worst_pixel, worst_unit, (long long)loose, (long long)anchors);
    assert_true(worst_unit <= 1e-4);
    assert_true(worst_pixel <= 0.05);
    assert_true((double)loose <= (double)anchors / 10000);
}

static void run_folder(const char *name)
{
    char path[256];
    sk_error err;
    sk_model *model;
    sk_tensor input, want;
    snprintf(path, sizeof path, "yolo/%s/%s.pt", name, name);
    assert_ok(sk_model_open(test_data(path), &model, &err), &err);
    snprintf(path, sizeof path, "yolo/%s/bus_input_u8.npy", name);
    assert_ok(sk_npy_read(test_data(path), 1 << 28, &input, &err), &err);
    snprintf(path, sizeof path, "yolo/%s/bus_output0.npy", name);
    assert_ok(sk_npy_read(test_data(path), 1 << 28, &want, &err), &err);
    int64_t h = input.shape.dim[0], w = input.shape.dim[1];
    float *image = malloc((size_t)(3 * h * w) * sizeof *image);
    const uint8_t *u8 = input.data;
    for (int64_t c = 0; c < 3; c++) {
        for (int64_t i = 0; i < h * w; i++)
            image[c * h * w + i] = (float)u8[i * 3 + c] / 255.0f;
    }
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(4, 1, 3, (int)h, (int)w), image}, out;
    sk_graph *graph;
    assert_ok(sk_graph_specialise(model->graph, &in.shape, 1, &graph, &err), &err);
    assert_ok(sk_reference_run(graph, &in, 1, &out, 1, &err), &err);
    assert_true(sk_shape_equal(&out.shape, &want.shape));
    print_message("  %s\n", name);
    compare(model, &out, &want);
    sk_free(out.data);
    sk_graph_close(&graph);
    sk_free(input.data);
    sk_free(want.data);
    free(image);
    sk_model_close(&model);
}

#define FOLDER(test, name)                                                                                   \
    static void test(void **state)                                                                           \
    {                                                                                                        \
        (void)state;                                                                                         \
        test_data_or_skip();                                                                                 \
        run_folder(name);                                                                                    \
    }
FOLDER(yolo11t_detect, "yolo11t-detect")
FOLDER(yolo11t_obb, "yolo11t-obb")
FOLDER(yolov8t_pose, "yolov8t-pose")
FOLDER(yolov8t_obb, "yolov8t-obb")
FOLDER(yolo11n_pose, "yolo11n-pose")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yolov8t_pose), cmocka_unit_test(yolov8t_obb),  cmocka_unit_test(yolo11t_detect),
        cmocka_unit_test(yolo11t_obb),  cmocka_unit_test(yolo11n_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
