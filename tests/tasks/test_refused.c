/* SPDX-License-Identifier: Apache-2.0 */
/* Callers' mistakes, each by itself: what is missing, too small or too large is refused, and what is just possible is not. */
#include "support/test.h"

#include "base/instances.h"
#include "base/memory.h"
#include "tasks/arrange.h"
#include "tasks/assignment.h"
#include "tasks/classify.h"
#include "tasks/identity.h"
#include "tasks/nms.h"
#include "tasks/overlap.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"
#include "tasks/resize_linear.h"
#include "tasks/resize_planar.h"
#include "tasks/stage.h"
#include "tasks/turned.h"

#include <math.h>
#include <string.h>

static sk_error err;

#define REFUSED(call) assert_int_equal(call, SK_ERR_ARG)
/* Opens, and is closed again. */
#define OPENS(type, open, close)                                                                             \
    do {                                                                                                     \
        type *made_ = NULL;                                                                                  \
        type **made = &made_;                                                                                \
        assert_ok(open, &err);                                                                               \
        assert_non_null(made_);                                                                              \
        close(made);                                                                                         \
        assert_null(made_);                                                                                  \
        close(made);                                                                                         \
    } while (0)
#define NEVER(type, open)                                                                                    \
    do {                                                                                                     \
        type *made_ = NULL;                                                                                  \
        type **made = &made_;                                                                                \
        REFUSED(open);                                                                                       \
        assert_null(made_);                                                                                  \
    } while (0)

static void work_spaces(void **state)
{
    (void)state;
    OPENS(sk_assignment, sk_assignment_open(1, 1, made, &err), sk_assignment_close);
    OPENS(sk_assignment, sk_assignment_open(16384, 1, made, &err), sk_assignment_close);
    OPENS(sk_assignment, sk_assignment_open(1, 16384, made, &err), sk_assignment_close);
    NEVER(sk_assignment, sk_assignment_open(0, 1, made, &err));
    NEVER(sk_assignment, sk_assignment_open(1, 0, made, &err));
    NEVER(sk_assignment, sk_assignment_open(16385, 1, made, &err));
    NEVER(sk_assignment, sk_assignment_open(1, 16385, made, &err));
    REFUSED(sk_assignment_open(1, 1, NULL, &err));
    OPENS(sk_identity, sk_identity_open(1, 1, made, &err), sk_identity_close);
    OPENS(sk_identity, sk_identity_open(3, 4096, made, &err), sk_identity_close);
    NEVER(sk_identity, sk_identity_open(0, 1, made, &err));
    NEVER(sk_identity, sk_identity_open(1, 0, made, &err));
    NEVER(sk_identity, sk_identity_open(1, 4097, made, &err));
    REFUSED(sk_identity_open(1, 1, NULL, &err));
    OPENS(sk_nms, sk_nms_open(1, 1, made, &err), sk_nms_close);
    OPENS(sk_nms, sk_nms_open(1, 1 << 20, made, &err), sk_nms_close);
    NEVER(sk_nms, sk_nms_open(0, 1, made, &err));
    NEVER(sk_nms, sk_nms_open(1, 0, made, &err));
    NEVER(sk_nms, sk_nms_open(1, (1 << 20) + 1, made, &err));
    REFUSED(sk_nms_open(1, 1, NULL, &err));
    sk_candidates list;
    REFUSED(sk_candidates_alloc(0, &list, &err));
    REFUSED(sk_candidates_alloc(1, NULL, &err));
    assert_ok(sk_candidates_alloc(1, &list, &err), &err);
    sk_candidates_free(&list);
}

static void resizing(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int far = 0; far < 2; far++) {
            int32_t s[4] = {4, 4, 4, 4};
            s[i] = far ? 65537 : 0;
            NEVER(sk_resize_linear, sk_resize_linear_open(s[0], s[1], s[2], s[3], 1, 1, made, &err));
            NEVER(sk_resize_antialias, sk_resize_antialias_open(s[0], s[1], s[2], s[3], 1, made, &err));
            if (!far)
                NEVER(sk_resize_float, sk_resize_float_open(s[0], s[1], s[2], s[3], 1, made, &err));
            s[i] = far ? 65536 : 1;
            OPENS(sk_resize_linear, sk_resize_linear_open(s[0], s[1], s[2], s[3], 1, 1, made, &err),
                  sk_resize_linear_close);
            OPENS(sk_resize_antialias, sk_resize_antialias_open(s[0], s[1], s[2], s[3], 1, made, &err),
                  sk_resize_antialias_close);
            OPENS(sk_resize_float, sk_resize_float_open(s[0], s[1], s[2], s[3], 1, made, &err),
                  sk_resize_float_close);
        }
    static const struct {
        int32_t channels, slices;
        bool linear, antialias;
    } forms[] = {{0, 1, false, false}, {1, 1, true, true},   {2, 1, false, true},
                 {3, 1, true, true},   {4, 1, false, true},  {5, 1, false, false},
                 {1, 0, false, true},  {3, 256, true, true}, {1, 257, false, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const int32_t c = forms[i].channels, n = forms[i].slices;
        if (forms[i].linear)
            OPENS(sk_resize_linear, sk_resize_linear_open(4, 4, 4, 4, c, n, made, &err),
                  sk_resize_linear_close);
        else
            NEVER(sk_resize_linear, sk_resize_linear_open(4, 4, 4, 4, c, n, made, &err));
        if (forms[i].antialias)
            OPENS(sk_resize_antialias, sk_resize_antialias_open(4, 4, 4, 4, c, made, &err),
                  sk_resize_antialias_close);
        else
            NEVER(sk_resize_antialias, sk_resize_antialias_open(4, 4, 4, 4, c, made, &err));
    }
    NEVER(sk_resize_float, sk_resize_float_open(4, 4, 4, 4, 0, made, &err));
    REFUSED(sk_resize_linear_open(4, 4, 4, 4, 1, 1, NULL, &err));
    REFUSED(sk_resize_antialias_open(4, 4, 4, 4, 1, NULL, &err));
    REFUSED(sk_resize_float_open(4, 4, 4, 4, 1, NULL, &err));
    static const int32_t planar[][3] = {{1, 1, 1}, {65536, 1, 1}, {1, 65536, 1}, {0, 1, 0},
                                        {1, 0, 0}, {65537, 1, 0}, {1, 65537, 0}};
    for (int i = 0; i < 7; i++) {
        if (planar[i][2])
            OPENS(sk_resize_planar, sk_resize_planar_open(planar[i][0], planar[i][1], made, &err),
                  sk_resize_planar_close);
        else
            NEVER(sk_resize_planar, sk_resize_planar_open(planar[i][0], planar[i][1], made, &err));
    }
    REFUSED(sk_resize_planar_open(1, 1, NULL, &err));
    /* other sizes later: no larger than those it was opened for */
    sk_resize_linear *r = NULL;
    assert_ok(sk_resize_linear_open(10, 10, 8, 6, 1, 1, &r, &err), &err);
    static const int32_t later[][6] = {{20, 20, 8, 6, 1, 1},   {65536, 1, 1, 1, 1, 1}, {1, 65536, 8, 6, 1, 1},
                                       {20, 20, 9, 6, 1, 0},   {20, 20, 8, 7, 1, 0},   {20, 20, 8, 6, 3, 0},
                                       {0, 20, 8, 6, 1, 0},    {20, 0, 8, 6, 1, 0},    {65537, 2, 8, 6, 1, 0},
                                       {2, 65537, 8, 6, 1, 0}, {20, 20, 0, 6, 1, 0},   {20, 20, 8, 0, 1, 0},
                                       {20, 20, 8, 6, 2, 0}};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        const sk_status status =
            sk_resize_linear_refit(r, later[i][0], later[i][1], later[i][2], later[i][3], later[i][4], &err);
        if ((status == SK_OK) != (later[i][5] != 0))
            fail_msg("refit %zu: %s", i, sk_status_text(status));
    }
    REFUSED(sk_resize_linear_refit(NULL, 1, 1, 1, 1, 1, &err));
    sk_resize_linear_close(&r);
}

static void letterboxes_and_pixels(void **state)
{
    (void)state;
    sk_letterbox_geometry g;
    sk_letterbox *box = NULL;
    static uint8_t data[64 * 64 * 3], picture[64 * 64 * 3];
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB;
    f.width = 40;
    f.height = 20;
    f.stride = 120;
    f.data = data;
    static const int32_t sizes[][5] = {
        {1, 1, 1, 1, 1}, {0, 1, 1, 1, 0}, {1, 0, 1, 1, 0}, {1, 1, 0, 1, 0}, {1, 1, 1, 0, 0}};
    for (int i = 0; i < 5; i++)
        assert_int_equal(sk_letterbox_fit(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], 0, &g, &err) ==
                             SK_OK,
                         sizes[i][4]);
    REFUSED(sk_letterbox_fit(1, 1, 1, 1, 0, NULL, &err));
    assert_ok(sk_letterbox_fit(40, 20, 64, 64, 0, &g, &err), &err);
    REFUSED(sk_letterbox_open(&g, SK_PIXEL_RGB, 0, &box, &err));
    REFUSED(sk_letterbox_open(NULL, SK_PIXEL_RGB, 1, &box, &err));
    REFUSED(sk_letterbox_open(&g, SK_PIXEL_RGB, 1, NULL, &err));
    assert_ok(sk_letterbox_open(&g, SK_PIXEL_RGB, 2, &box, &err), &err);
    REFUSED(sk_letterbox_refit(NULL, &g, SK_PIXEL_RGB, &err));
    REFUSED(sk_letterbox_refit(box, NULL, SK_PIXEL_RGB, &err));
    assert_ok(sk_letterbox_refit(box, &g, SK_PIXEL_BGR, &err), &err);
    assert_ok(sk_letterbox_refit(box, &g, SK_PIXEL_RGB, &err), &err);
    static const int32_t slices[][3] = {{0, 1, 1},  {0, 2, 1}, {1, 2, 1}, {2, 2, 0},
                                        {-1, 2, 0}, {0, 3, 0}, {1, 1, 0}};
    for (int i = 0; i < 7; i++)
        assert_int_equal(sk_letterbox_run_slice(box, &f, picture, slices[i][0], slices[i][1], &err) == SK_OK,
                         slices[i][2]);
    REFUSED(sk_letterbox_run(NULL, &f, picture, &err));
    REFUSED(sk_letterbox_run(box, NULL, picture, &err));
    REFUSED(sk_letterbox_run(box, &f, NULL, &err));
    f.data = NULL;
    REFUSED(sk_letterbox_run(box, &f, picture, &err));
    f.data = data;
    f.format = SK_PIXEL_I420;
    REFUSED(sk_letterbox_run(box, &f, picture, &err)); /* no chroma */
    f.chroma = data;
    REFUSED(sk_letterbox_run(box, &f, picture, &err));
    sk_letterbox_close(&box);
    sk_letterbox_close(&box);
    f.format = SK_PIXEL_RGB;
    for (int32_t c = 0; c < 5; c++)
        assert_int_equal(sk_pixels_convert(&f, c, SK_GRAY_TORCH, picture, &err) == SK_OK, c == 1 || c == 3);
    REFUSED(sk_pixels_convert(NULL, 1, SK_GRAY_TORCH, picture, &err));
    REFUSED(sk_pixels_convert(&f, 1, SK_GRAY_TORCH, NULL, &err));
    f.data = NULL;
    REFUSED(sk_pixels_convert(&f, 1, SK_GRAY_TORCH, picture, &err));
    f.data = data;
    f.format = SK_PIXEL_I420;
    assert_int_equal(sk_pixels_convert(&f, 1, SK_GRAY_TORCH, picture, &err), SK_ERR_UNSUPPORTED);
    float scores[4] = {0};
    sk_tensor t = {SK_DTYPE_F32, sk_shape_of(2, (int64_t)1, (int64_t)4), scores};
    sk_map map;
    REFUSED(sk_map_of_tensor(NULL, 0, false, &map, &err));
    REFUSED(sk_map_of_tensor(&t, 0, false, NULL, &err));
    assert_ok(sk_map_of_tensor(&t, 0, false, &map, &err), &err);
    assert_true(map.channels == 4 && map.width == 1 && map.height == 1);
    assert_int_not_equal(sk_map_of_tensor(&t, 1, false, &map, &err), SK_OK);
    assert_int_not_equal(sk_map_of_tensor(&t, -1, false, &map, &err), SK_OK);
    t.data = NULL;
    REFUSED(sk_map_of_tensor(&t, 0, false, &map, &err));
}

/* Shapes without an area share nothing with anybody, and neither do those that lie apart or touch. */
static void shapes_that_share_nothing(void **state)
{
    (void)state;
    const double whole[5] = {5, 5, 4, 2, 0.3};
    for (int i = 2; i < 4; i++) {
        double flat[5] = {5, 5, 4, 2, 0.3};
        flat[i] = 0;
        assert_true(sk_overlap_oriented(flat, whole, false) == 0 &&
                    sk_overlap_oriented(whole, flat, false) == 0);
        assert_true(sk_overlap_boxes(flat, whole, false) == 0 && sk_overlap_boxes(whole, flat, true) == 0);
        flat[i] = -3;
        assert_true(sk_overlap_oriented(flat, whole, false) == 0 &&
                    sk_overlap_oriented(whole, flat, true) == 0);
    }
    const double a[5] = {0, 0, 2, 2, 0}, beside[5] = {2, 0, 2, 2, 0}, far[5] = {50, 0, 2, 2, 0},
                 corner[5] = {2, 2, 2, 2, 0};
    assert_true(sk_overlap_oriented(a, beside, false) == 0 && sk_overlap_oriented(a, far, false) == 0 &&
                sk_overlap_oriented(a, corner, false) == 0);
    assert_true(fabs(sk_overlap_oriented(a, a, false) - 1) < 1e-12 &&
                fabs(sk_overlap_oriented(a, a, true) - 1) < 1e-12);
    const double p[4] = {0, 0, 4, 2}, q[4] = {2, 1, 4, 2};
    assert_true(fabs(sk_overlap_boxes(p, q, false) - 2.0 / 14) < 1e-12 &&
                fabs(sk_overlap_boxes(p, q, true) - 0.25) < 1e-12);
}

/* A box has two sides, however short they are. */
static void boxes_without_sides(void **state)
{
    (void)state;
    static const struct {
        float w, h;
        bool there;
    } sides[] = {{4, 0.5f, true}, {0.5f, 4, true}, {4, 0, false},  {0, 4, false},
                 {-1, 4, false},  {4, -1, false},  {4, NAN, false}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        sk_turned_box box;
        const sk_found turned = {.has = SK_HAS_OBB, .obb = {5, 5, sides[i].w, sides[i].h, 0.2f}},
                       upright = {.has = SK_HAS_BOX, .box = {1, 2, 1 + sides[i].w, 2 + sides[i].h}},
                       none = {.has = SK_HAS_KEYPOINTS};
        assert_int_equal(sk_turned_box_of(&turned, &box), sides[i].there);
        assert_int_equal(sk_turned_box_of(&upright, &box), sides[i].there);
        assert_false(sk_turned_box_of(&none, &box));
    }
}

static void groups_of_peaks(void **state)
{
    (void)state;
    static const int32_t edges[1][2] = {{0, 1}}, round_[2][2] = {{0, 1}, {1, 0}}, far[1][2] = {{0, 1024}};
    static int32_t many[4097][2];
    sk_paf_settings s = sk_paf_settings_defaults();
    for (int i = 0; i < 4097; i++)
        many[i][1] = 1;
    OPENS(sk_paf_grouping, sk_paf_grouping_open(2, edges, 1, &s, made, &err), sk_paf_grouping_close);
    OPENS(sk_paf_grouping, sk_paf_grouping_open(1024, edges, 1, &s, made, &err), sk_paf_grouping_close);
    s.max_peaks_per_node = 1; /* small, as there are many */
    OPENS(sk_paf_grouping, sk_paf_grouping_open(2, (const int32_t(*)[2])many, 4096, &s, made, &err),
          sk_paf_grouping_close);
    NEVER(sk_paf_grouping, sk_paf_grouping_open(2, (const int32_t(*)[2])many, 4097, &s, made, &err));
    NEVER(sk_paf_grouping, sk_paf_grouping_open(0, edges, 1, &s, made, &err));
    NEVER(sk_paf_grouping, sk_paf_grouping_open(1025, edges, 1, &s, made, &err));
    NEVER(sk_paf_grouping, sk_paf_grouping_open(2, edges, 0, &s, made, &err));
    NEVER(sk_paf_grouping, sk_paf_grouping_open(2, NULL, 1, &s, made, &err));
    REFUSED(sk_paf_grouping_open(2, edges, 1, &s, NULL, &err));
    sk_paf_grouping *g = NULL;
    assert_int_not_equal(sk_paf_grouping_open(2, far, 1, &s, &g, &err), SK_OK);
    assert_int_equal(sk_paf_grouping_open(2, round_, 2, &s, &g, &err), SK_ERR_UNSUPPORTED);
    static const int32_t bounds[][3] = {{2, 1, 1},  {1, 1, 0},     {1000, 1, 1}, {1001, 1, 0},
                                        {10, 0, 0}, {10, 4096, 1}, {10, 4097, 0}};
    for (int i = 0; i < 7; i++) {
        s.n_points = bounds[i][0];
        s.max_peaks_per_node = bounds[i][1];
        if (bounds[i][2])
            OPENS(sk_paf_grouping, sk_paf_grouping_open(2, edges, 1, &s, made, &err), sk_paf_grouping_close);
        else
            NEVER(sk_paf_grouping, sk_paf_grouping_open(2, edges, 1, &s, made, &err));
    }
    static float field[2 * 4 * 4], line[1];
    const sk_map fields = sk_map_planar(field, 2, 4, 4);
    const sk_peak peaks[2] = {{0, 0, 1, 0}, {4, 4, 1, 1}};
    const sk_paf_instance *found;
    int32_t count = 9;
    assert_ok(sk_paf_grouping_open(2, edges, 1, NULL, &g, &err), &err);
    assert_ok(sk_paf_group(g, NULL, 0, &fields, 2, &found, &count, &err), &err);
    assert_int_equal(count, 0);
    REFUSED(sk_paf_group(NULL, peaks, 2, &fields, 2, &found, &count, &err));
    REFUSED(sk_paf_group(g, NULL, 2, &fields, 2, &found, &count, &err));
    REFUSED(sk_paf_group(g, peaks, 2, NULL, 2, &found, &count, &err));
    REFUSED(sk_paf_group(g, peaks, 2, &fields, 0, &found, &count, &err));
    REFUSED(sk_paf_group(g, peaks, 2, &fields, 2, NULL, &count, &err));
    REFUSED(sk_paf_group(g, peaks, 2, &fields, 2, &found, NULL, &err));
    const sk_map small = sk_map_planar(field, 1, 4, 4);
    assert_int_not_equal(sk_paf_group(g, peaks, 2, &small, 2, &found, &count, &err), SK_OK);
    const int32_t zero[2] = {0};
    const sk_paf_lines lines = {line, zero, (const int32_t[]){1}, zero};
    line[0] = 0.9f;
    assert_ok(sk_paf_group_lines(g, peaks, 2, &lines, &found, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_true(found[0].n_peaks == 2 && found[0].peak_of[0] == 0 && found[0].peak_of[1] == 1);
    assert_true(fabsf(found[0].score - 0.9f) < 1e-6f);
    assert_ok(sk_paf_group_lines(g, NULL, 0, &lines, &found, &count, &err), &err);
    REFUSED(sk_paf_group_lines(NULL, peaks, 2, &lines, &found, &count, &err));
    REFUSED(sk_paf_group_lines(g, NULL, 2, &lines, &found, &count, &err));
    REFUSED(sk_paf_group_lines(g, peaks, 2, NULL, &found, &count, &err));
    REFUSED(sk_paf_group_lines(g, peaks, 2, &lines, NULL, &count, &err));
    REFUSED(sk_paf_group_lines(g, peaks, 2, &lines, &found, NULL, &err));
    sk_paf_grouping_close(&g);
}

static void yolo(void **state)
{
    (void)state;
    sk_yolo_spec spec = {.n_levels = 1, .stride = {8}, .reg_max = 1, .n_classes = 2, .n_heads = 2};
    spec.heads[0] = (sk_head_spec){SK_HEAD_BOX, 0};
    spec.heads[1] = (sk_head_spec){SK_HEAD_CLASS, 0};
    sk_yolo_settings s = sk_yolo_settings_defaults();
    sk_yolo_post *post = NULL;
    sk_yolo_decoder *decoder = NULL;
    sk_candidates list;
    sk_instances out;
    sk_letterbox_geometry g;
    static float values[6 * 16];
    const sk_map dense = sk_map_planar(values, 6, 1, 16);
    NEVER(sk_yolo_decoder, sk_yolo_decoder_open(&spec, SK_TASK_DETECT, 0, made, &err));
    NEVER(sk_yolo_decoder, sk_yolo_decoder_open(NULL, SK_TASK_DETECT, 1, made, &err));
    NEVER(sk_yolo_decoder, sk_yolo_decoder_open(&spec, SK_TASK_DETECT, INT32_MAX, made, &err));
    REFUSED(sk_yolo_decoder_open(&spec, SK_TASK_DETECT, 1, NULL, &err));
    OPENS(sk_yolo_decoder, sk_yolo_decoder_open(&spec, SK_TASK_DETECT, 1, made, &err), sk_yolo_decoder_close);
    assert_ok(sk_yolo_decoder_open(&spec, SK_TASK_DETECT, 16, &decoder, &err), &err);
    const int32_t room = sk_yolo_decoder_capacity(decoder);
    assert_true(room >= 16);
    assert_ok(sk_candidates_alloc(room, &list, &err), &err);
    REFUSED(sk_yolo_decode(NULL, SK_YOLO_DENSE, &dense, 1, 0.5f, NULL, &list, &err));
    REFUSED(sk_yolo_decode(decoder, SK_YOLO_DENSE, NULL, 1, 0.5f, NULL, &list, &err));
    REFUSED(sk_yolo_decode(decoder, SK_YOLO_DENSE, &dense, 0, 0.5f, NULL, &list, &err));
    REFUSED(sk_yolo_decode(decoder, SK_YOLO_DENSE, &dense, 1, 0.5f, NULL, NULL, &err));
    list.capacity = room - 1;
    REFUSED(sk_yolo_decode(decoder, SK_YOLO_DENSE, &dense, 1, 0.5f, NULL, &list, &err));
    list.capacity = room;
    assert_ok(sk_yolo_decode(decoder, SK_YOLO_DENSE, &dense, 1, 0.5f, NULL, &list, &err), &err);
    sk_candidates_free(&list);
    sk_yolo_decoder_close(&decoder);
    NEVER(sk_yolo_post, sk_yolo_post_open(NULL, SK_TASK_DETECT, &s, 32, 32, made, &err));
    NEVER(sk_yolo_post, sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 0, 32, made, &err));
    NEVER(sk_yolo_post, sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 32, 0, made, &err));
    REFUSED(sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 32, 32, NULL, &err));
    const int32_t wrong[] = {2}, below[] = {-1}, good[] = {1};
    const int32_t *const chosen[] = {wrong, below, good};
    for (int i = 0; i < 3; i++) {
        s.classes = chosen[i];
        s.n_classes = 1;
        assert_int_equal(sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 32, 32, &post, &err) == SK_OK, i == 2);
        sk_yolo_post_close(&post);
    }
    s.classes = NULL;
    s.n_classes = 0;
    s.max_det = 3;
    assert_ok(sk_yolo_post_open(&spec, SK_TASK_DETECT, &s, 32, 32, &post, &err), &err);
    assert_ok(sk_letterbox_fit(32, 32, 32, 32, 0, &g, &err), &err);
    assert_ok(sk_instances_alloc(3, 0, &out, &err), &err);
    /* three boxes that are far apart, two of them not finite: one is left */
    for (int i = 0; i < 3; i++) {
        values[i] = 4 + 10 * (float)i, values[16 + i] = 4 + 10 * (float)i, values[32 + i] = 4,
        values[48 + i] = 4;
        values[64 + i] = 0.9f;
    }
    assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &out, &err), &err);
    assert_int_equal(out.count, 3);
    for (int broken = 0; broken < 4; broken++) { /* x, y, w, h of the first, each by itself */
        const float kept = values[16 * broken];
        values[16 * broken] = broken % 2 ? NAN : INFINITY;
        assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &out, &err), &err);
        assert_int_equal(out.count, 2);
        values[16 * broken] = kept;
    }
    REFUSED(sk_yolo_post_run(NULL, SK_YOLO_DENSE, &dense, 1, &g, &out, &err));
    REFUSED(sk_yolo_post_run(post, SK_YOLO_DENSE, NULL, 1, &g, &out, &err));
    REFUSED(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, NULL, &out, &err));
    REFUSED(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, NULL, &err));
    out.capacity = 2;
    REFUSED(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &out, &err));
    out.capacity = 3, out.n_keypoints = 1;
    REFUSED(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &out, &err));
    out.n_keypoints = 0;
    sk_instances_free(&out);
    sk_yolo_post_close(&post);
    for (int i = 0; i < 4; i++) {
        int32_t size[4] = {8, 8, 4, 4};
        OPENS(sk_classify, sk_classify_open(size[0], size[1], size[2], size[3], made, &err),
              sk_classify_close);
        size[i] = 0;
        NEVER(sk_classify, sk_classify_open(size[0], size[1], size[2], size[3], made, &err));
    }
}

static void sleap(void **state)
{
    (void)state;
    static float maps[2 * 8 * 8];
    sk_model m = {.n_keypoints = 2, .n_outputs = 1};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    m.sleap = (sk_sleap_spec){.input_scale = 1, .crop_size = {16, 16}};
    const sk_map map = sk_map_planar(maps, 2, 8, 8);
    sk_sleap_settings s = sk_sleap_settings_defaults();
    sk_sleap_geometry g;
    sk_sleap_crop_geometry cg;
    sk_instances out;
    sk_sleap_post *post = NULL;
    sk_sleap_pre *pre = NULL;
    sk_sleap_crop *crop = NULL;
    REFUSED(sk_sleap_sizes(NULL, 16, 16, &g, &err));
    REFUSED(sk_sleap_sizes(&m.sleap, 16, 16, NULL, &err));
    assert_ok(sk_sleap_sizes(&m.sleap, 16, 16, &g, &err), &err);
    REFUSED(sk_sleap_crop_sizes(NULL, 0, &cg, &err));
    REFUSED(sk_sleap_crop_sizes(&m.sleap, 0, NULL, &err));
    assert_ok(sk_sleap_crop_sizes(&m.sleap, 0, &cg, &err), &err);
    for (int32_t c = 0; c < 5; c++) {
        assert_int_equal(sk_sleap_pre_open(&m.sleap, c, &g, &pre, &err) == SK_OK, c == 1 || c == 3);
        sk_sleap_pre_close(&pre);
        for (int32_t d = 0; d < 5; d++) {
            assert_int_equal(sk_sleap_crop_open(&m.sleap, &cg, c, 16, 16, d, &crop, &err) == SK_OK,
                             (c == 1 || c == 3) && (d == 1 || d == 3));
            sk_sleap_crop_close(&crop);
        }
    }
    REFUSED(sk_sleap_pre_open(NULL, 1, &g, &pre, &err));
    REFUSED(sk_sleap_pre_open(&m.sleap, 1, NULL, &pre, &err));
    REFUSED(sk_sleap_pre_open(&m.sleap, 1, &g, NULL, &err));
    REFUSED(sk_sleap_crop_open(NULL, &cg, 1, 16, 16, 1, &crop, &err));
    REFUSED(sk_sleap_crop_open(&m.sleap, NULL, 1, 16, 16, 1, &crop, &err));
    REFUSED(sk_sleap_crop_open(&m.sleap, &cg, 1, 0, 16, 1, &crop, &err));
    REFUSED(sk_sleap_crop_open(&m.sleap, &cg, 1, 16, 0, 1, &crop, &err));
    REFUSED(sk_sleap_crop_open(&m.sleap, &cg, 1, 16, 16, 1, NULL, &err));
    assert_ok(sk_sleap_pre_open(&m.sleap, 1, &g, &pre, &err), &err);
    static uint8_t data[256], bytes[256];
    static float planes[256];
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_GRAY;
    f.width = f.height = f.stride = 16;
    f.data = data;
    REFUSED(sk_sleap_pre_u8(pre, bytes, &err)); /* no frame yet */
    REFUSED(sk_sleap_pre_f32(pre, planes, &err));
    REFUSED(sk_sleap_pre_size(NULL, &f, NULL, &err));
    REFUSED(sk_sleap_pre_size(pre, NULL, NULL, &err));
    f.data = NULL;
    REFUSED(sk_sleap_pre_size(pre, &f, NULL, &err));
    f.data = data;
    assert_ok(sk_sleap_pre_size(pre, &f, NULL, &err), &err);
    REFUSED(sk_sleap_pre_u8(NULL, bytes, &err));
    REFUSED(sk_sleap_pre_u8(pre, NULL, &err));
    REFUSED(sk_sleap_pre_f32(NULL, planes, &err));
    REFUSED(sk_sleap_pre_f32(pre, NULL, &err));
    f.height = 15;
    assert_int_equal(sk_sleap_pre_size(pre, &f, NULL, &err), SK_ERR_MISMATCH);
    f.height = 16, f.width = 15;
    assert_int_equal(sk_sleap_pre_size(pre, &f, NULL, &err), SK_ERR_MISMATCH);
    sk_sleap_pre_close(&pre);
    sk_model_set_task(&m, SK_TASK_SINGLE_INSTANCE);
    REFUSED(sk_sleap_post_open(NULL, &s, &post, &err));
    REFUSED(sk_sleap_post_open(&m, &s, NULL, &err));
    static const int32_t settings[][4] = {{0, 256, 5, 1},   {-1, 256, 5, 0}, {0, 0, 5, 0},    {0, 1, 5, 1},
                                          {0, 4096, 5, 1},  {0, 4097, 5, 0}, {0, 256, 3, 1},  {0, 256, 2, 0},
                                          {0, 256, 4, 0},   {0, 256, 15, 1}, {0, 256, 17, 0}, {0, 256, 1, 0},
                                          {2000, 256, 5, 1}};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        s = sk_sleap_settings_defaults();
        s.max_instances = settings[i][0];
        s.paf.max_peaks_per_node = settings[i][1];
        s.patch = settings[i][2];
        const sk_status status = sk_sleap_post_open(&m, &s, &post, &err);
        if ((status == SK_OK) != (settings[i][3] != 0))
            fail_msg("settings %zu: %s", i, sk_status_text(status));
        sk_sleap_post_close(&post);
    }
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    assert_ok(sk_instances_alloc(1, 2, &out, &err), &err);
    assert_ok(sk_sleap_post_run(post, &map, 1, &g, &out, &err), &err);
    REFUSED(sk_sleap_post_run(NULL, &map, 1, &g, &out, &err));
    REFUSED(sk_sleap_post_run(post, NULL, 1, &g, &out, &err));
    REFUSED(sk_sleap_post_run(post, &map, 1, NULL, &out, &err));
    REFUSED(sk_sleap_post_run(post, &map, 1, &g, NULL, &err));
    /* one animal, however many are wanted */
    sk_sleap_post *wanted = NULL;
    s = sk_sleap_settings_defaults();
    s.max_instances = 2;
    maps[9] = maps[64 + 30] = 0.9f;
    assert_ok(sk_sleap_post_open(&m, &s, &wanted, &err), &err);
    assert_ok(sk_sleap_post_run(wanted, &map, 1, &g, &out, &err), &err);
    assert_int_equal(out.count, 1);
    assert_true(out.keypoints[0].x == 2 && out.keypoints[0].y == 2 && out.keypoints[1].x == 12);
    sk_sleap_post_close(&wanted);
    memset(maps, 0, sizeof maps);
    const sk_sleap_centroid at = {.x = 8, .y = 8};
    assert_ok(sk_sleap_crop_open(&m.sleap, &cg, 1, 16, 16, 1, &crop, &err), &err);
    REFUSED(sk_sleap_post_crop(post, &map, 1, crop, &at, 1, &out, &err)); /* it takes whole frames */
    sk_sleap_post_close(&post);
    sk_instances_free(&out);
    sk_model_set_task(&m, SK_TASK_CENTERED_INSTANCE);
    assert_ok(sk_sleap_post_open(&m, NULL, &post, &err), &err);
    assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), 2, &out, &err), &err);
    sk_sleap_post_begin(post, &out);
    assert_ok(sk_sleap_post_crop(post, &map, 1, crop, &at, 1, &out, &err), &err);
    REFUSED(sk_sleap_post_crop(NULL, &map, 1, crop, &at, 1, &out, &err));
    REFUSED(sk_sleap_post_crop(post, NULL, 1, crop, &at, 1, &out, &err));
    REFUSED(sk_sleap_post_crop(post, &map, 1, NULL, &at, 1, &out, &err));
    REFUSED(sk_sleap_post_crop(post, &map, 1, crop, NULL, 1, &out, &err));
    REFUSED(sk_sleap_post_crop(post, &map, 1, crop, &at, 0, &out, &err));
    REFUSED(sk_sleap_post_crop(post, &map, 1, crop, &at, 1, NULL, &err));
    REFUSED(sk_sleap_post_run(post, &map, 1, &g, &out, &err)); /* it takes crops */
    sk_sleap_crop_close(&crop);
    sk_sleap_post_close(&post);
    sk_instances_free(&out);
}

static void stages(void **state)
{
    (void)state;
    sk_model find = {.n_classes = 1,
                     .n_outputs = 1,
                     .input = {.channels = 3, .height = 64, .width = 64, .rgb = 1}},
             look;
    find.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 1};
    find.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
    look = find;
    sk_model_set_task(&find, SK_TASK_DETECT);
    sk_model_set_task(&look, SK_TASK_POSE);
    look.n_keypoints = look.yolo.n_keypoints = 2, look.yolo.keypoint_dims = 3;
    sk_task_stage *first = NULL, *second = NULL;
    REFUSED(sk_task_stage_open(NULL, NULL, 32, 32, &first, &err));
    REFUSED(sk_task_stage_open(&find, NULL, 32, 32, NULL, &err));
    assert_ok(sk_task_stage_open(&find, NULL, 32, 32, &first, &err), &err);
    REFUSED(sk_task_stage_open_second(NULL, first, NULL, &second, &err));
    REFUSED(sk_task_stage_open_second(&look, NULL, NULL, &second, &err));
    REFUSED(sk_task_stage_open_second(&look, first, NULL, NULL, &err));
    assert_ok(sk_task_stage_open_second(&look, first, NULL, &second, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(second);
    sk_instances found, out, small;
    sk_crop_list list;
    static uint8_t data[32 * 32 * 3], input[64 * 64 * 3];
    static float table[12];
    const sk_tensor t = {SK_DTYPE_F32, sk_shape_of(3, (int64_t)1, (int64_t)1, (int64_t)12), table};
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB;
    f.width = f.height = 32;
    f.stride = 96;
    f.data = data;
    int32_t n = 0;
    assert_ok(sk_instances_alloc(4, 0, &found, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &out, &err), &err);
    assert_ok(sk_instances_alloc(plan->capacity - 1, plan->n_keypoints, &small, &err), &err);
    for (int i = 0; i < 2; i++) {
        sk_found *item = sk_instances_add(&found);
        item->has = SK_HAS_BOX;
        item->box[0] = item->box[1] = 2 + 4 * (float)i;
        item->box[2] = item->box[3] = 20 + 4 * (float)i;
    }
    REFUSED(sk_task_stage_find_crops(NULL, &found, &out, &list, &err));
    REFUSED(sk_task_stage_find_crops(second, NULL, &out, &list, &err));
    REFUSED(sk_task_stage_find_crops(second, &found, NULL, &list, &err));
    REFUSED(sk_task_stage_find_crops(second, &found, &out, NULL, &err));
    REFUSED(sk_task_stage_find_crops(first, &found, &out, &list, &err));
    REFUSED(sk_task_stage_find_crops(second, &found, &small, &list, &err));
    small.capacity = plan->capacity, small.n_keypoints = plan->n_keypoints + 1;
    REFUSED(sk_task_stage_find_crops(second, &found, &small, &list, &err));
    small.n_keypoints = plan->n_keypoints;
    assert_ok(sk_task_stage_find_crops(second, &found, &out, &list, &err), &err);
    assert_int_equal(list.count, 2);
    REFUSED(sk_task_stage_crop_input(second, 0, SK_TASK_INPUT_U8, input, &err)); /* from which frame? */
    REFUSED(sk_task_stage_cut_from(NULL, &f, &err));
    REFUSED(sk_task_stage_cut_from(second, NULL, &err));
    REFUSED(sk_task_stage_cut_from(first, &f, &err));
    f.data = NULL;
    REFUSED(sk_task_stage_cut_from(second, &f, &err));
    f.data = data;
    REFUSED(sk_task_stage_crops(second, &f, &found, &out, NULL, &err));
    assert_ok(sk_task_stage_crops(second, &f, &found, &out, &n, &err), &err);
    assert_int_equal(n, 2);
    REFUSED(sk_task_stage_crop_input(NULL, 0, SK_TASK_INPUT_U8, input, &err));
    REFUSED(sk_task_stage_crop_input(second, 0, SK_TASK_INPUT_U8, NULL, &err));
    REFUSED(sk_task_stage_crop_input(second, 2, SK_TASK_INPUT_U8, input, &err));
    REFUSED(sk_task_stage_crop_input(second, -1, SK_TASK_INPUT_U8, input, &err));
    REFUSED(sk_task_stage_crop_input(first, 0, SK_TASK_INPUT_U8, input, &err));
    REFUSED(sk_task_stage_crop_result(second, 1, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err)); /* not in order */
    REFUSED(sk_task_stage_crop_result(NULL, 0, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    REFUSED(sk_task_stage_crop_result(second, 0, NULL, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    REFUSED(sk_task_stage_crop_result(second, 0, &t, 1, 0, SK_OUTPUTS_FOUND, NULL, &err));
    REFUSED(sk_task_stage_crop_result(first, 0, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    assert_ok(sk_task_stage_crop_result(second, 0, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err), &err);
    assert_ok(sk_task_stage_crop_result(second, 1, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err), &err);
    REFUSED(sk_task_stage_crop_result(second, 2, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    REFUSED(sk_task_stage_crops_end(NULL, &out, &err));
    REFUSED(sk_task_stage_crops_end(second, NULL, &err));
    REFUSED(sk_task_stage_crops_end(first, &out, &err));
    assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
    assert_int_equal(out.count, 2);
    REFUSED(sk_task_stage_result(NULL, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    REFUSED(sk_task_stage_result(first, NULL, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    REFUSED(sk_task_stage_result(first, &t, 1, 0, SK_OUTPUTS_FOUND, NULL, &err));
    REFUSED(sk_task_stage_result(second, &t, 1, 0, SK_OUTPUTS_FOUND, &out, &err));
    sk_instances_free(&found);
    sk_instances_free(&out);
    sk_instances_free(&small);
    /* a third model cannot follow a second */
    sk_task_stage *third = NULL;
    assert_int_equal(sk_task_stage_open_second(&look, second, NULL, &third, &err), SK_ERR_UNSUPPORTED);
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    sk_model *models[3] = {&find, &look, &look};
    const sk_model *const *asked = (const sk_model *const *)models;
    const sk_task_settings s = sk_task_settings_defaults();
    sk_task_description d;
    for (int32_t count = 0; count < 4; count += 3) {
        REFUSED(sk_task_arrange(models, count, &err));
        REFUSED(sk_task_describe(asked, count, &s, &d, &err));
    }
    REFUSED(sk_task_arrange(NULL, 1, &err));
    REFUSED(sk_task_describe(NULL, 1, &s, &d, &err));
    REFUSED(sk_task_describe(asked, 1, NULL, &d, &err));
    REFUSED(sk_task_describe(asked, 1, &s, NULL, &err));
    REFUSED(sk_task_check_wishes(NULL, 1, SK_HEADS_AUTO, SK_RECT_AUTO, &err));
    REFUSED(sk_task_check_wishes(asked, 0, SK_HEADS_AUTO, SK_RECT_AUTO, &err));
    assert_ok(sk_task_describe(asked, 2, &s, &d, &err), &err);
    sk_task_description_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_spaces),
                                       cmocka_unit_test(resizing),
                                       cmocka_unit_test(letterboxes_and_pixels),
                                       cmocka_unit_test(groups_of_peaks),
                                       cmocka_unit_test(boxes_without_sides),
                                       cmocka_unit_test(shapes_that_share_nothing),
                                       cmocka_unit_test(yolo),
                                       cmocka_unit_test(sleap),
                                       cmocka_unit_test(stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
