/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "support/yolo_writer.h"
#include "tasks/arrange.h"
#include "tasks/family.h"
#include "tasks/sleap_crop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Crops along an animal's axis, and neighbours painted over, against plain geometry in double. */

enum { W = 96, H = 72 };

static uint32_t seed = 5;

static double noise(double from, double to)
{
    seed = seed * 1664525u + 1013904223u;
    return from + (to - from) * (double)(seed >> 8) / (double)(1u << 24);
}

static sk_found found_at(double x, double y, double w, double h, double angle)
{
    const double reach_x = (fabs(w * cos(angle)) + fabs(h * sin(angle))) / 2,
                 reach_y = (fabs(w * sin(angle)) + fabs(h * cos(angle))) / 2;
    return (sk_found){
        .has = SK_HAS_BOX | SK_HAS_OBB,
        .score = 0.9f,
        .box = {(float)(x - reach_x), (float)(y - reach_y), (float)(x + reach_x), (float)(y + reach_y)},
        .obb = {(float)x, (float)y, (float)w, (float)h, (float)angle}};
}

/* Where a point of the frame (edges at integers) lies in a crop of cw x ch along `angle` around x, y. */
static void into(double x, double y, double angle, double cw, double ch, double px, double py, double *u,
                 double *v)
{
    const double dx = px - x, dy = py - y;
    *u = cw / 2 + dx * cos(angle) + dy * sin(angle);
    *v = ch / 2 + dy * cos(angle) - dx * sin(angle);
}

static void test_points_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++) {
        const double w = noise(4, 40), h = noise(4, 40), angle = noise(-7, 7);
        const sk_found f = found_at(noise(0, W), noise(0, H), w, h, angle);
        sk_turned_box box;
        assert_true(sk_turned_box_of(&f, &box));
        const sk_crop place = sk_turned_place(&box, 0.1f, 1000);
        assert_true(place.turned && place.width >= place.height);
        assert_true(place.angle > -1.5708f && place.angle <= 1.5708f);
        assert_true((double)place.width >= 1.2 * fmax(w, h) - 1e-3 &&
                    (double)place.width <= 1.2 * fmax(w, h) + 1.001);
        /* along the long side, one way or the other */
        assert_true(fabs(sin((double)place.angle - angle - (h > w ? M_PI / 2 : 0))) < 1e-5);
        const double px = noise(0, W), py = noise(0, H);
        double u, v;
        float x, y;
        into((double)f.obb[0], (double)f.obb[1], (double)place.angle, (double)place.width,
             (double)place.height, px, py, &u, &v);
        sk_turned_out(&place, (float)u - 0.5f, (float)v - 0.5f, &x, &y);
        assert_true(fabs((double)x + 0.5 - px) < 1e-3 && fabs((double)y + 0.5 - py) < 1e-3);
    }
}

static uint8_t *slope(int channels)
{
    uint8_t *p = malloc((size_t)W * H * (size_t)channels);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int c = 0; c < channels; c++)
                p[(y * W + x) * channels + c] = (uint8_t)(x + y * (c + 1) / 2 + 10 * c);
    return p;
}

/* Bilinear on the frame's pixels, beyond them the nearest. */
static double value_at(const uint8_t *p, int channels, int c, double x, double y)
{
    x = fmin(fmax(x, 0), W - 1);
    y = fmin(fmax(y, 0), H - 1);
    const int x0 = (int)x, y0 = (int)y, x1 = x0 + (x0 < W - 1), y1 = y0 + (y0 < H - 1);
    const double fx = x - x0, fy = y - y0;
#define AT(yy, xx) ((double)p[((yy)*W + (xx)) * channels + c])
    return (AT(y0, x0) * (1 - fx) + AT(y0, x1) * fx) * (1 - fy) +
           (AT(y1, x0) * (1 - fx) + AT(y1, x1) * fx) * fy;
}

static void test_pixels_come_from_there(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        const int channels = i % 2 ? 1 : 3;
        uint8_t *frame = slope(channels), out[64 * 64 * 3];
        const sk_found f = found_at(noise(0, W), noise(0, H), noise(10, 40), noise(5, 40), noise(-4, 4));
        sk_turned_box box;
        assert_true(sk_turned_box_of(&f, &box));
        const sk_crop place = sk_turned_place(&box, 0.1f, 64);
        const sk_turned_picture picture = {frame, (ptrdiff_t)W * channels, W, H, channels};
        sk_turned_cut(&picture, &place, out);
        for (int v = 0; v < (int)place.height; v++)
            for (int u = 0; u < (int)place.width; u++) {
                const double a = (double)place.angle, dx = u - ((double)place.width - 1) / 2,
                             dy = v - ((double)place.height - 1) / 2;
                const double x = (double)f.obb[0] - 0.5 + dx * cos(a) - dy * sin(a),
                             y = (double)f.obb[1] - 0.5 + dx * sin(a) + dy * cos(a);
                for (int c = 0; c < channels; c++) {
                    const double want = value_at(frame, channels, c, x, y);
                    const double got = out[(v * (int)place.width + u) * channels + c];
                    assert_true(fabs(got - want) <= 0.5 + 2e-3);
                }
            }
        free(frame);
    }
}

/* Which pixels are black, by the corners of the boxes in the frame: no pixel more, none less. */
static void test_neighbours_are_painted_over(void **state)
{
    (void)state;
    int painted = 0, kept = 0;
    for (int i = 0; i < 60; i++) {
        sk_found f[4];
        sk_turned_box boxes[4];
        for (int k = 0; k < 4; k++) {
            f[k] = found_at(noise(20, 70), noise(20, 50), noise(14, 40), noise(6, 14), noise(-4, 4));
            assert_true(sk_turned_box_of(&f[k], &boxes[k]));
        }
        sk_crop place = sk_turned_place(&boxes[1], 0.3f, 64);
        if (i % 3 == 0)
            place = (sk_crop){.left = 20, .top = 15, .width = 40, .height = 30};
        uint8_t out[64 * 64];
        memset(out, 200, sizeof out);
        const sk_crop_mask mask = {boxes, 4, 1, 1};
        sk_crop_mask_paint(&mask, &place, 1, out);
        for (int v = 0; v < (int)place.height; v++)
            for (int u = 0; u < (int)place.width; u++) {
                const double a = (double)place.angle, half_x = ((double)place.width - 1) / 2,
                             half_y = ((double)place.height - 1) / 2;
                const double x = (double)place.left + half_x + (u - half_x) * cos(a) - (v - half_y) * sin(a) +
                                 0.5,
                             y = (double)place.top + half_y + (u - half_x) * sin(a) + (v - half_y) * cos(a) +
                                 0.5;
                bool in[4], near = false;
                for (int k = 0; k < 4; k++) {
                    double along, across;
                    into((double)f[k].obb[0], (double)f[k].obb[1], (double)f[k].obb[4], 0, 0, x, y, &along,
                         &across);
                    const double w = fabs(along) - (double)f[k].obb[2] / 2,
                                 h = fabs(across) - (double)f[k].obb[3] / 2;
                    in[k] = w <= 0 && h <= 0;
                    near = near || fabs(w) < 1e-3 || fabs(h) < 1e-3;
                }
                const bool black = (in[0] || in[2] || in[3]) && !in[1];
                if (!near)
                    assert_int_equal(out[v * (int)place.width + u], black ? 0 : 200);
                painted += black;
                kept += in[1] && (in[0] || in[2] || in[3]);
            }
    }
    assert_true(painted > 1000 && kept > 100);
}

/* --- in the stages --- */

typedef struct fixture {
    sk_model *given, *pose;
    sk_task_stage *first, *second;
    sk_instances found, out;
    uint8_t *input;
    int32_t width, height;
} fixture;

static void open_stages(fixture *f, sk_choice turned, sk_choice masked)
{
    sk_error err = {0};
    const yolo_fixture pose = {.head = "Pose", .f32 = true};
    sk_task_settings s = sk_task_settings_defaults();
    s.net_height = s.net_width = 64;
    s.crop_turned = turned;
    s.mask_neighbours = masked;
    s.yolo.confidence = 0.1f;
    *f = (fixture){0};
    assert_ok(sk_model_of_given("given", "", 0, NULL, true, &f->given, &err), &err);
    assert_ok(sk_model_open(yolo_save(&pose, "turned.pt"), &f->pose, &err), &err);
    assert_ok(sk_task_stage_open(f->given, &s, W, H, &f->first, &err), &err);
    assert_ok(sk_task_stage_open_second(f->pose, f->first, &s, &f->second, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(f->second);
    f->width = plan->width;
    f->height = plan->height;
    f->input = calloc((size_t)plan->width * (size_t)plan->height, 3);
    assert_ok(sk_instances_alloc(8, 0, &f->found, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &f->out, &err), &err);
}

static void close_stages(fixture *f)
{
    sk_task_stage_close(&f->second);
    sk_task_stage_close(&f->first);
    sk_model_close(&f->given);
    sk_model_close(&f->pose);
    sk_instances_free(&f->found);
    sk_instances_free(&f->out);
    free(f->input);
}

/* What a network would find at points of its input, and where that is in the frame. */
static void expect_points(fixture *f, int32_t crop, double angle, const sk_crop *place)
{
    sk_error err = {0};
    const int32_t n = sk_task_stage_plan(f->second)->n_keypoints, dims = f->pose->yolo.keypoint_dims;
    const double gain = fmin(64 / (double)place->width, 64 / (double)place->height);
    float table[6 + 64 * 3] = {10, 10, 50, 50, 0.9f, 0};
    double points[64][2];
    const double left = round((64 - round((double)place->width * gain)) / 2 - 0.1),
                 top = round((64 - round((double)place->height * gain)) / 2 - 0.1);
    for (int32_t k = 0; k < n; k++) {
        double u, v;
        points[k][0] = (double)f->found.items[crop].obb[0] + noise(-6, 6);
        points[k][1] = (double)f->found.items[crop].obb[1] + noise(-4, 4);
        into((double)f->found.items[crop].obb[0], (double)f->found.items[crop].obb[1], angle,
             (double)place->width, (double)place->height, points[k][0], points[k][1], &u, &v);
        table[6 + k * dims] = (float)(u * round((double)place->width * gain) / (double)place->width + left);
        table[7 + k * dims] = (float)(v * round((double)place->height * gain) / (double)place->height + top);
        if (dims == 3)
            table[8 + k * dims] = 0.8f;
    }
    const sk_tensor output = {.dtype = SK_DTYPE_F32,
                              .shape = sk_shape_of(3, (int64_t)1, (int64_t)1, (int64_t)(6 + n * dims)),
                              .data = table};
    assert_ok(sk_task_stage_crop_result(f->second, crop, &output, 1, 0, SK_OUTPUTS_FOUND, &f->out, &err),
              &err);
    const sk_found *got = &f->out.items[crop];
    assert_true(got->has & SK_HAS_KEYPOINTS);
    for (int32_t k = 0; k < n; k++) {
        const sk_keypoint p = f->out.keypoints[got->first_keypoint + k];
        assert_true(fabs((double)p.x - points[k][0]) < 1e-3 && fabs((double)p.y - points[k][1]) < 1e-3);
    }
}

/* A bright spot lies where a point there is mapped back from. */
static void test_in_the_stages(void **state)
{
    (void)state;
    sk_error err = {0};
    fixture f;
    open_stages(&f, SK_CHOICE_AUTO, SK_CHOICE_OFF);
    assert_int_equal(sk_task_stage_crop_form(f.second)->masks, 0);
    uint8_t *pixels = calloc((size_t)W * H, 3);
    sk_frame frame = {.size = sizeof frame,
                      .format = SK_PIXEL_RGB,
                      .width = W,
                      .height = H,
                      .stride = W * 3,
                      .data = pixels};
    const double angles[] = {0, 0.7, 2.2, -1.2};
    const double folded[] = {0, 0.7, 2.2 - M_PI, -1.2};
    for (int i = 0; i < 4; i++) {
        f.found.count = 1;
        f.found.items[0] = found_at(45 + 3 * i, 35, 40, 16, angles[i]);
        memset(pixels, 0, (size_t)W * H * 3);
        const int sx = 45 + 3 * i + 9, sy = 35 + 3;
        memset(pixels + (sy * W + sx) * 3, 255, 3);
        int32_t n = 0;
        assert_ok(sk_task_stage_crops(f.second, &frame, &f.found, &f.out, &n, &err), &err);
        assert_int_equal(n, 1);
        assert_ok(sk_task_stage_crop_input(f.second, 0, SK_TASK_INPUT_U8, f.input, &err), &err);
        const sk_crop place = f.second->places[0];
        double u, v, best = 0, bx = 0, by = 0;
        into(45 + 3 * i, 35, folded[i], (double)place.width, (double)place.height, sx + 0.5, sy + 0.5, &u,
             &v);
        const double gain = 64 / (double)place.width, top = (64 - (double)place.height * gain) / 2;
        for (int y = (int)top + 2; y < 62 - (int)top; y++)
            for (int x = 0; x < 64; x++)
                if (f.input[(y * 64 + x) * 3] > best) {
                    best = f.input[(y * 64 + x) * 3];
                    bx = x + 0.5;
                    by = y + 0.5;
                }
        assert_true(best > 40 && fabs(bx - u * gain) < 1.2 && fabs(by - (v * gain + top)) < 1.2);
        expect_points(&f, 0, folded[i], &place);
        assert_ok(sk_task_stage_crops_end(f.second, &f.out, &err), &err);
    }
    free(pixels);
    close_stages(&f);
}

/* A neighbour is black in the crop, and not where it is not asked for; off is as it was. */
static void test_masks_in_the_stages(void **state)
{
    (void)state;
    sk_error err = {0};
    uint8_t *pixels = malloc((size_t)W * H * 3);
    memset(pixels, 255, (size_t)W * H * 3);
    const sk_frame frame = {.size = sizeof frame,
                            .format = SK_PIXEL_RGB,
                            .width = W,
                            .height = H,
                            .stride = W * 3,
                            .data = pixels};
    for (int kind = 0; kind < 4; kind++) { /* turned or not, masked or not */
        fixture f;
        int32_t n = 0, black = 0;
        open_stages(&f, kind & 1 ? SK_CHOICE_ON : SK_CHOICE_OFF, kind & 2 ? SK_CHOICE_AUTO : SK_CHOICE_OFF);
        assert_int_equal(sk_task_stage_crop_form(f.second)->masks > 0, (kind & 2) != 0);
        f.found.count = 2;
        f.found.items[0] = found_at(40, 36, 40, 16, 0.5);
        f.found.items[1] = found_at(46, 25, 40, 10, 0.4);
        assert_ok(sk_task_stage_crops(f.second, &frame, &f.found, &f.out, &n, &err), &err);
        assert_int_equal(n, 2);
        assert_ok(sk_task_stage_crop_input(f.second, 0, SK_TASK_INPUT_U8, f.input, &err), &err);
        for (int i = 0; i < 64 * 64 * 3; i += 3)
            black += f.input[i] == 0;
        assert_true(kind & 2 ? black > 20 : black == 0);
        close_stages(&f);
    }
    free(pixels);
}

/* SLEAP's centred crops of both eras. */
static void test_sleap(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int legacy = 0; legacy < 2; legacy++) {
        const sk_sleap_spec spec = {.crop_size = {24, 32},
                                    .input_scale = 1,
                                    .legacy = legacy,
                                    .ensure_grayscale = 1,
                                    .pad_to_stride = 1};
        sk_sleap_crop_geometry g;
        sk_sleap_crop *crop = NULL;
        assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
        assert_ok(sk_sleap_crop_open(&spec, &g, 1, W, H, 1, &crop, &err), &err);
        uint8_t *frame = slope(1), out[24 * 32];
        sk_sleap_crop_begin(crop, frame, 1);
        const double cx = 44.3, cy = 33.8, angle = -0.8;
        const sk_crop place = sk_sleap_crop_turned(crop, (float)cx, (float)cy, (float)angle);
        sk_sleap_crop_u8(crop, &place, out);
        for (int v = 0; v < 24; v++)
            for (int u = 0; u < 32; u++) {
                const double dx = u - 15.5, dy = v - 11.5;
                const double want = value_at(frame, 1, 0, cx + dx * cos(angle) - dy * sin(angle),
                                             cy + dx * sin(angle) + dy * cos(angle));
                assert_true(fabs(out[v * 32 + u] - want) <= 0.5 + 2e-3);
                float x = (float)u, y = (float)v;
                sk_sleap_crop_undo_turned(crop, (float)cx, (float)cy, (float)angle, &x, &y);
                const double half = legacy ? 0.5 : 0; /* SLEAP's points begin half a pixel before its crops */
                assert_true(fabs((double)x - (cx + (dx - half) * cos(angle) - (dy - half) * sin(angle))) <
                            1e-3);
                assert_true(fabs((double)y - (cy + (dx - half) * sin(angle) + (dy - half) * cos(angle))) <
                            1e-3);
            }
        const sk_turned_box boxes[2] = {{(float)cx, (float)cy, 4, 4, 1, 0},
                                        {(float)cx + 8, (float)cy, 3, 50, 1, 0}};
        const sk_crop_mask mask = {boxes, 2, 0, 1};
        sk_sleap_crop_mask(crop, &mask);
        const sk_crop upright = sk_sleap_crop_around(crop, (float)cx, (float)cy);
        sk_sleap_crop_u8(crop, &upright, out);
        assert_int_equal(out[12 * 32 + 24], 0);
        assert_true(out[12 * 32 + 16] > 0);
        sk_sleap_crop_mask(crop, NULL);
        sk_sleap_crop_u8(crop, &upright, out);
        assert_true(out[12 * 32 + 24] > 0);
        free(frame);
        sk_sleap_crop_close(&crop);
    }
}

/* A model of one animal in a picture looks at crops as large as the pictures it learnt from: its peaks lie where the turned crop
 * has them. */
static void test_sleap_single_instance(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *given = NULL, *single = NULL;
    sk_task_stage *first = NULL, *second = NULL;
    sk_task_settings s = sk_task_settings_defaults();
    s.crop_turned = SK_CHOICE_AUTO;
    s.sleap.refinement = SK_REFINE_NONE;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/fixtures/sleap_nn/unet_single_kernel5_convs3",
             getenv("SKITTER_TEST_SOURCE") ? getenv("SKITTER_TEST_SOURCE") : ".");
    assert_ok(sk_model_of_given("given", "", 0, NULL, true, &given, &err), &err);
    assert_ok(sk_model_open(path, &single, &err), &err);
    assert_int_equal(single->task, SK_TASK_SINGLE_INSTANCE);
    sk_model *pair[2] = {given, single};
    assert_ok(sk_task_arrange(pair, 2, &err), &err);
    assert_ok(sk_task_stage_open(given, &s, 400, 300, &first, &err), &err);
    assert_ok(sk_task_stage_open_second(single, first, &s, &second, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(second);
    assert_true(plan->width == single->input.width && plan->height == single->input.height);
    sk_instances found = {0}, out = {0};
    assert_ok(sk_instances_alloc(2, 0, &found, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &out, &err), &err);
    found.items[found.count++] = found_at(180, 140, 60, 20, 0.6);
    uint8_t *pixels = calloc(400 * 300, 3);
    const sk_frame frame = {.size = sizeof frame,
                            .format = SK_PIXEL_RGB,
                            .width = 400,
                            .height = 300,
                            .stride = 1200,
                            .data = pixels};
    int32_t n = 0;
    assert_ok(sk_task_stage_crops(second, &frame, &found, &out, &n, &err), &err);
    assert_int_equal(n, 1);
    const int32_t stride = (int32_t)single->outputs[0].stride, w = plan->width / stride,
                  h = plan->height / stride;
    const int32_t nodes = plan->n_keypoints;
    float *maps = calloc((size_t)nodes * (size_t)w * (size_t)h, sizeof *maps);
    for (int32_t k = 0; k < nodes; k++)
        maps[(k * h + h / 2) * w + w / 3 + k] = 0.9f;
    const sk_tensor output = {.dtype = SK_DTYPE_F32,
                              .shape = sk_shape_of(4, (int64_t)1, (int64_t)nodes, (int64_t)h, (int64_t)w),
                              .data = maps};
    /* crops that are not there, or whose turn it is not */
    static const int32_t wrong[] = {-1, 1, 2};
    for (int i = 0; i < 3; i++)
        assert_int_equal(
            sk_task_stage_crop_result(second, wrong[i], &output, 1, 0, SK_OUTPUTS_WHOLE, &out, &err),
            SK_ERR_ARG);
    assert_int_equal(sk_task_stage_crop_result(second, 0, NULL, 1, 0, SK_OUTPUTS_WHOLE, &out, &err),
                     SK_ERR_ARG);
    assert_int_equal(sk_task_stage_result(second, &output, 1, 0, SK_OUTPUTS_WHOLE, &out, &err), SK_ERR_ARG);
    assert_ok(sk_task_stage_crop_result(second, 0, &output, 1, 0, SK_OUTPUTS_WHOLE, &out, &err), &err);
    assert_int_equal(sk_task_stage_crop_result(second, 0, &output, 1, 0, SK_OUTPUTS_WHOLE, &out, &err),
                     SK_ERR_ARG); /* again */
    assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
    assert_int_equal(out.count, 1);
    const double scale = single->sleap.input_scale > 0 ? (double)single->sleap.input_scale : 1;
    for (int32_t k = 0; k < nodes; k++) {
        const double dx = (w / 3 + k) * stride / scale - (plan->width / scale - 1) / 2,
                     dy = h / 2 * stride / scale - (plan->height / scale - 1) / 2;
        assert_true(fabs((double)out.keypoints[k].x - (179.5 + dx * cos(0.6) - dy * sin(0.6))) < 1e-3);
        assert_true(fabs((double)out.keypoints[k].y - (139.5 + dx * sin(0.6) + dy * cos(0.6))) < 1e-3);
    }
    free(maps);
    free(pixels);
    sk_instances_free(&found);
    sk_instances_free(&out);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    sk_model_close(&given);
    sk_model_close(&single);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_there_and_back),       cmocka_unit_test(test_pixels_come_from_there),
        cmocka_unit_test(test_neighbours_are_painted_over), cmocka_unit_test(test_in_the_stages),
        cmocka_unit_test(test_masks_in_the_stages),         cmocka_unit_test(test_sleap),
        cmocka_unit_test(test_sleap_single_instance)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
