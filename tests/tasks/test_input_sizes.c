/* SPDX-License-Identifier: Apache-2.0 */
/* How large a network's input is for a frame, worked out by hand: YOLO's sizes, SLEAP's of both eras, and what is too small or large. */
#include "support/test.h"

#include "tasks/family.h"
#include "tasks/letterbox.h"
#include "tasks/sleap_pre.h"
#include "tasks/stage.h"

#include <math.h>
#include <string.h>

static sk_error err;

static void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "taken" : err.message, why);
}

static void sizes_of_yolo(void **state)
{
    (void)state;
    static const struct {
        int32_t asked[2], own[2], stride, fixed, wanted[2]; /* height, width */
        sk_status status;
        const char *why;
    } cases[] = {
        {{0, 0}, {0, 0}, 32, 0, {640, 640}, SK_OK, NULL},
        {{0, 0}, {64, 0}, 32, 0, {640, 640}, SK_OK, NULL},
        {{0, 0}, {0, 64}, 32, 0, {640, 640}, SK_OK, NULL},
        {{0, 0}, {1, 1}, 1, 0, {1, 1}, SK_OK, NULL},
        {{1, 1}, {64, 64}, 1, 0, {1, 1}, SK_OK, NULL},
        {{0, 0}, {1, 33}, 0, 0, {32, 64}, SK_OK, NULL},
        {{-5, 0}, {32, 64}, 32, 0, {32, 64}, SK_OK, NULL},
        {{100, 0}, {64, 64}, 32, 0, {128, 64}, SK_OK, NULL},
        {{0, 100}, {64, 64}, 48, 0, {96, 144}, SK_OK, NULL},
        {{16384, 16383}, {64, 64}, 32, 0, {16384, 16384}, SK_OK, NULL},
        {{16385, 0}, {64, 64}, 32, 0, {0}, SK_ERR_ARG, "a network input of 64x16385 pixels is too large"},
        {{0, 16385}, {64, 64}, 32, 0, {0}, SK_ERR_ARG, "a network input of 16385x64 pixels is too large"},
        {{0, 16384}, {64, 64}, 48, 0, {0}, SK_ERR_ARG, "a network input of 16416x96 pixels is too large"},
        {{0, 0}, {64, 96}, 32, 1, {64, 96}, SK_OK, NULL},
        {{64, 96}, {64, 96}, 32, 1, {64, 96}, SK_OK, NULL},
        {{64, 64}, {64, 96}, 32, 1, {0}, SK_ERR_UNSUPPORTED, "m.pt takes inputs of 96x64 only"},
        {{96, 96}, {64, 96}, 32, 1, {0}, SK_ERR_UNSUPPORTED, "m.pt takes inputs of 96x64 only"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_task_settings s = sk_task_settings_defaults();
        sk_model m = {.path = "m.pt", .input = {.height = cases[i].own[0], .width = cases[i].own[1]}};
        int32_t width = -1, height = -1;
        m.input.stride = cases[i].stride;
        m.input.fixed_size = cases[i].fixed;
        s.net_height = cases[i].asked[0];
        s.net_width = cases[i].asked[1];
        const sk_status status = sk_stage_network_size(&m, &s, &width, &height, &err);
        if (cases[i].why) {
            told(status, cases[i].status, cases[i].why);
            continue;
        }
        assert_ok(status, &err);
        assert_true(height == cases[i].wanted[0] && width == cases[i].wanted[1]);
    }
}

static void sizes_of_sleap(void **state)
{
    (void)state;
    static const struct {
        int32_t frame[2], target[2], pad; /* width, height; target: height, width */
        float scale;
        int32_t fitted[2][2], sized[2], scaled[2][2],
            input[2][2]; /* width, height; sleap-nn's, then SLEAP's */
        float eff;
    } cases[] = {
        {{100, 80},
         {0, 0},
         0,
         1,
         {{100, 80}, {100, 80}},
         {100, 80},
         {{100, 80}, {100, 80}},
         {{100, 80}, {100, 80}},
         1},
        {{100, 80},
         {80, 100},
         1,
         0,
         {{100, 80}, {100, 80}},
         {100, 80},
         {{100, 80}, {100, 80}},
         {{100, 80}, {100, 80}},
         1},
        {{100, 80},
         {50, 100},
         16,
         1,
         {{62, 50}, {62, 50}},
         {100, 50},
         {{100, 50}, {100, 50}},
         {{112, 64}, {112, 64}},
         0.625f},
        {{100, 80},
         {160, 50},
         16,
         1,
         {{50, 40}, {50, 40}},
         {50, 160},
         {{50, 160}, {50, 160}},
         {{64, 160}, {64, 160}},
         0.5f},
        {{100, 80},
         {40, 0},
         2,
         -1,
         {{50, 40}, {50, 40}},
         {100, 40},
         {{100, 40}, {100, 40}},
         {{100, 40}, {100, 40}},
         0.5f},
        {{100, 80},
         {0, 200},
         1,
         1,
         {{100, 80}, {100, 80}},
         {200, 80},
         {{200, 80}, {200, 80}},
         {{200, 80}, {200, 80}},
         1},
        {{100, 80},
         {40, 50},
         1,
         1,
         {{50, 40}, {50, 40}},
         {50, 40},
         {{50, 40}, {50, 40}},
         {{50, 40}, {50, 40}},
         0.5f},
        {{100, 80},
         {160, 200},
         1,
         0.5f,
         {{200, 160}, {200, 160}},
         {200, 160},
         {{100, 80}, {100, 80}},
         {{100, 80}, {100, 80}},
         2},
        /* of 33.67: the nearest, and what is whole of it */
        {{101, 81},
         {27, 0},
         1,
         1,
         {{34, 27}, {33, 27}},
         {101, 27},
         {{101, 27}, {101, 27}},
         {{101, 27}, {101, 27}},
         1.0f / 3},
        {{101, 81},
         {0, 0},
         16,
         0.5f,
         {{101, 81}, {101, 81}},
         {101, 81},
         {{50, 40}, {50, 40}},
         {{64, 48}, {64, 48}},
         1},
        /* 0.29 of 100: in double precision below 29, in single precision 29 */
        {{100, 100},
         {0, 0},
         1,
         0.29f,
         {{100, 100}, {100, 100}},
         {100, 100},
         {{28, 28}, {29, 29}},
         {{28, 28}, {29, 29}},
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int legacy = 0; legacy < 2; legacy++) {
            const sk_sleap_spec spec = {.legacy = legacy,
                                        .input_scale = cases[i].scale,
                                        .pad_to_stride = cases[i].pad,
                                        .target_size = {cases[i].target[0], cases[i].target[1]}};
            sk_sleap_geometry g;
            assert_ok(sk_sleap_sizes(&spec, cases[i].frame[0], cases[i].frame[1], &g, &err), &err);
            const int32_t got[] = {g.frame_width, g.frame_height, g.fitted_width, g.fitted_height,
                                   g.sized_width, g.sized_height, g.scaled_width, g.scaled_height,
                                   g.width,       g.height};
            const int32_t *const wanted[] = {cases[i].frame, cases[i].fitted[legacy], cases[i].sized,
                                             cases[i].scaled[legacy], cases[i].input[legacy]};
            for (int k = 0; k < 10; k++)
                if (got[k] != wanted[k / 2][k % 2])
                    fail_msg("case %zu, legacy %d: number %d is %d, not %d", i, legacy, k, (int)got[k],
                             (int)wanted[k / 2][k % 2]);
            assert_true(fabsf(g.eff_scale - cases[i].eff) < 1e-6f);
            assert_true(g.input_scale == (cases[i].scale > 0 ? cases[i].scale : 1));
        }
}

/* Frames that cannot be, and those of which nothing is left, on one side or the other. */
static void sizes_that_are_refused(void **state)
{
    (void)state;
    enum { MOST = 65536 };
    static const struct {
        int32_t frame[2], target[2], pad;
        float scale;
        const char *why; /* null: taken */
    } cases[] = {
        {{1, 1}, {0, 0}, 1, 1, NULL},
        {{MOST, MOST}, {0, 0}, 1, 1, NULL},
        {{0, 1}, {0, 0}, 1, 1, "a frame of 0x1 pixels is not possible; sides from 1 to 65536 are"},
        {{1, 0}, {0, 0}, 1, 1, "a frame of 1x0 pixels is not possible"},
        {{MOST + 1, 1}, {0, 0}, 1, 1, "a frame of 65537x1 pixels is not possible"},
        {{1, MOST + 1}, {0, 0}, 1, 1, "a frame of 1x65537 pixels is not possible"},
        {{1, 100},
         {0, 0},
         1,
         0.5f,
         "a frame of 1x100 pixels becomes a network input of 0x50, which cannot be run"},
        {{100, 1}, {0, 0}, 1, 0.5f, "becomes a network input of 50x0"},
        {{1000, 1}, {1, 1}, 1, 1, "becomes a network input of 1x1"},
        {{1, 1000}, {1, 1}, 1, 1, "becomes a network input of 1x1"},
        {{MOST, 10}, {0, 0}, 1, 2, "becomes a network input of 131072x20"},
        {{10, MOST}, {0, 0}, 1, 2, "becomes a network input of 20x131072"},
        {{10, 10}, {0, 0}, MOST, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int legacy = 0; legacy < 2; legacy++) {
            const sk_sleap_spec spec = {.legacy = legacy,
                                        .input_scale = cases[i].scale,
                                        .pad_to_stride = cases[i].pad,
                                        .target_size = {cases[i].target[0], cases[i].target[1]}};
            sk_sleap_geometry g;
            const sk_status status = sk_sleap_sizes(&spec, cases[i].frame[0], cases[i].frame[1], &g, &err);
            if (cases[i].why)
                told(status, SK_ERR_ARG, cases[i].why);
            else
                assert_ok(status, &err);
        }
    static const int32_t sides[] = {0, 1, MOST, MOST + 1};
    for (int i = 0; i < 4; i++)
        for (int which = 0; which < 4; which++) {
            int32_t v[4] = {10, 10, 10, 10};
            sk_letterbox_geometry g;
            v[which] = sides[i];
            const sk_status status = sk_letterbox_fit(v[0], v[1], v[2], v[3], 0, &g, &err);
            if (i == 1 || i == 2)
                assert_ok(status, &err);
            else
                told(status, SK_ERR_ARG, which < 2 ? "a frame of" : "a network input of");
            assert_true(status != SK_OK || (g.width == v[2] && g.height == v[3] && g.resized_width >= 1 &&
                                            g.resized_height >= 1));
        }
    sk_letterbox_geometry g;
    told(sk_letterbox_fit(10, 10, 10, 10, -1, &g, &err), SK_ERR_ARG, "(stride -1) is not possible");
    assert_ok(sk_letterbox_fit(10, 10, 10, 10, 1, &g, &err), &err);
}

static void when_colours_become_grey(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        const sk_sleap_spec spec = {.legacy = i & 1, .ensure_grayscale = i >> 1 & 1};
        const int32_t channels = i & 4 ? 3 : 1;
        const sk_sleap_grey wanted = spec.legacy                              ? SK_SLEAP_GREY_FIRST
                                     : channels == 1 && spec.ensure_grayscale ? SK_SLEAP_GREY_FIRST
                                     : channels == 1                          ? SK_SLEAP_GREY_LAST
                                     : spec.ensure_grayscale                  ? SK_SLEAP_GREY_SPREAD
                                                                              : SK_SLEAP_GREY_FIRST;
        assert_int_equal(sk_sleap_grey_of(&spec, channels), wanted);
    }
}

/* What a stage takes: frames of one pixel, too. */
static void frames_of_stages(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height;
        bool taken;
    } cases[] = {{1, 1, true},      {0, 1, false},     {1, 0, false},    {65536, 1, true},
                 {65537, 1, false}, {1, 65537, false}, {1, 65536, true}, {-1, 5, false}};
    sk_model m = {.path = "m", .input = {.channels = 3, .height = 32, .width = 32, .stride = 32, .rgb = 1}};
    sk_model_set_task(&m, SK_TASK_DETECT);
    m.yolo = (sk_yolo_spec){.n_levels = 1, .stride = {32}, .reg_max = 1, .n_classes = 1};
    m.n_outputs = 1;
    m.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_task_stage *s = NULL;
        const sk_status status = sk_task_stage_open(&m, NULL, cases[i].width, cases[i].height, &s, &err);
        if (cases[i].taken)
            assert_ok(status, &err);
        else
            told(status, SK_ERR_ARG, "pixels is not possible");
        sk_task_stage_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_yolo),          cmocka_unit_test(sizes_of_sleap),
        cmocka_unit_test(sizes_that_are_refused), cmocka_unit_test(when_colours_become_grey),
        cmocka_unit_test(frames_of_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
