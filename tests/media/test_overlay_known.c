/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "base/memory.h"
#include "media/draw.h"
#include "media/overlay.h"
#include "media/shrink.h"
#include "support/fault.h"
#include "support/known.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pictures of everything that is drawn, known to the last pixel, in all formats it is drawn into. */

enum { W = 240, H = 180 };

static uint8_t pixels[4 * W * 2 * H * 2];

static sk_frame canvas(sk_pixel_format format, int width, int height)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = format, f.width = width, f.height = height;
    f.stride = (ptrdiff_t)sk_frame_row_bytes(format, width) + 4, f.data = pixels;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(90 + i % 13 * 8);
    return f;
}

static bool known(const char *name, const sk_frame *f, uint64_t hash)
{
    return test_known(name, f->data, (size_t)f->stride * (size_t)f->height, hash);
}

static void strokes_are_known(void **state)
{
    (void)state;
    static const struct {
        sk_pixel_format format;
        const char *name;
        uint64_t hash;
    } formats[] = {{SK_PIXEL_RGB, "strokes.rgb", 0xe58378bd74890cf7},
                   {SK_PIXEL_BGR, "strokes.bgr", 0x55bf9f4a64713145},
                   {SK_PIXEL_RGBA, "strokes.rgba", 0x544b23db8eab2e84},
                   {SK_PIXEL_BGRA, "strokes.bgra", 0xdd2f05af225465cd},
                   {SK_PIXEL_GRAY, "strokes.gray", 0x03969816a8a3edbf}};
    bool same = true;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        sk_frame f = canvas(formats[i].format, W, H);
        sk_draw_line(&f, 10, 10, 200, 60.5f, 1, 0xFF8040);
        sk_draw_line(&f, 30.2f, 170.7f, 33.9f, -20, 4.5f, 0x40FF80);
        sk_draw_line(&f, 300, 100, 150, 101, 3, 0x8040FF);
        sk_draw_line(&f, 5, 90, 80, 90.0005f, 2, 0x102030);
        sk_draw_line(&f, NAN, 90, 80, 90, 2, 0);
        sk_draw_line(&f, -50, -50, -40, -1.5f, 2, 0);
        sk_draw_disc(&f, 120.5f, 90, 17.25f, 0xABCDEF);
        sk_draw_disc(&f, W, H, 9, 0x010203);
        sk_draw_polygon(&f, (const float[]){150, 20, 190, 30, 170, 80}, 3, 2, 0xFFFF00);
        sk_draw_fill(&f, -5, 140, 40, 30, 0x00FFFF, 0.5f);
        sk_draw_fill(&f, 200, 150, 90, 90, 0xFF00FF, 7);
        sk_draw_fill(&f, 100, 150, 10, 10, 0xFF00FF, -1);
        sk_draw_text(&f, 3, 100, 1, 0xFFFFFF, " !\"#$%&'()*+,-./0123456789:;<=>?@");
        sk_draw_text(&f, 3, 110, 1, 0x000000, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`");
        sk_draw_text(&f, 3, 120, 1, 0xFF0000, "abcdefghijklmnopqrstuvwxyz{|}~\x7f\t鼠é");
        sk_draw_text(&f, 180, 72, 3, 0x0000FF, "edge");
        same = known(formats[i].name, &f, formats[i].hash) && same;
    }
    assert_true(same);
    assert_int_equal(sk_draw_text_width(3, "aé鼠"), 54);
    assert_int_equal(sk_draw_text_height(3), 21);
    for (int i = -40; i < 40; i++) {
        assert_int_equal(sk_draw_palette(i), sk_draw_palette(i + 20));
        assert_int_equal(sk_draw_identity(i), sk_draw_identity(i + 12));
    }
    /* a class keeps its colour from one version to the next */
    static const uint32_t classes[] = {0xFF3838, 0x2C99A8, 0xFFB21D, 0x48F90A, 0x3DDB86, 0x00D4BB, 0xFF9D97,
                                       0x00C2FF, 0x6473FF, 0xFF701F, 0x8438FF, 0xCB38FF, 0xFF95C8, 0xCFD231,
                                       0x92CC17, 0x1A9334, 0x344593, 0x0018EC, 0x520085, 0xFF37C7};
    for (int i = 0; i < 20; i++)
        assert_int_equal(sk_draw_palette(i), classes[i]);
    assert_int_equal(sk_draw_identity(0), 0xE69F00);
    assert_int_equal(sk_draw_identity(11), 0x332288);
}

static const char *const names[] = {
    "mouse", "", "a name that is longer than sixty letters, which is where it is cut off, at the end"};
static const int32_t edges[][2] = {{0, 1}, {1, 2}, {2, 7}, {7, 0}};
static const sk_keypoint at_first[] = {{60, 30, 0.9f},         {90, 50, 0.3f},   {100, 20, 0.29f},
                                       {20, 150, 1},           {NAN, NAN, 1},    {60, 160, 1},
                                       {200.5f, 100.5f, 0.5f}, {210, 120, 0.5f}, {NAN, 3, NAN}};

typedef struct show {
    const char *name;
    uint32_t what;
    bool tracks;
    int32_t trail;
    float line_width;
    int scale;
    uint64_t hash;
} show;

static const show shows[] = {
    {"all", SK_DRAW_ALL, false, 30, 0, 1, 0x004d0001d5f1cd53},
    {"tracks", SK_DRAW_ALL, true, 5, 0, 1, 0xb1ab3ac161bae678},
    {"boxes", SK_DRAW_BOXES, false, 30, 2.5f, 1, 0x455725f4f32c178d},
    {"boxes of tracks", SK_DRAW_BOXES, true, 30, 1, 1, 0xb0fd97e15c55ed28},
    {"labels", SK_DRAW_LABELS, false, 30, 0, 1, 0xb952e6abc9f0a2e9},
    {"scores", SK_DRAW_SCORES, false, 30, 0, 1, 0x42507cf1c172c97b},
    {"keypoints", SK_DRAW_KEYPOINTS, false, 30, 2, 1, 0x8e075d190693b665},
    {"skeleton", SK_DRAW_SKELETON, false, 30, 0, 1, 0x73918e2e5f132e08},
    {"trails", SK_DRAW_TRAILS, false, 4, 0, 1, 0x512a62ced488870c},
    {"long trails", SK_DRAW_TRAILS, false, 1000, 0, 1, 0x731145434609d42c},
    {"no trails", SK_DRAW_TRAILS, false, 1, 0, 1, 0x7d06d672a6a49789},
    {"large", SK_DRAW_ALL, true, 30, 0, 2, 0xcb191e5e06bf7f71},
    {"thin boxes", SK_DRAW_BOXES, false, 30, 0.6f, 2, 0x4fc9fc55fef1c354},
    {"thick boxes of tracks", SK_DRAW_BOXES, true, 30, 3, 1, 0xdd9f11ffd736cadc},
};

/* Instances of every kind; some move from frame to frame, one is away for a while. */
static int32_t instances_at(int t, float k, sk_found *items, sk_keypoint *points, sk_overlay_track *tracks)
{
    const float d = (float)t;
    const sk_found all[] = {
        {.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
         .score = 0.871f,
         .box = {40 + d, 15, 110 + d, 70},
         .track_id = 3},
        {.has = SK_HAS_BOX | SK_HAS_OBB,
         .score = 0.5f,
         .class_id = 1,
         .track_id = 1027,
         .box = {120, 60 - d, 200, 150},
         .obb = {160, 105 - d, 90, 30, 0.6f}},
        {.has = SK_HAS_KEYPOINTS, .score = 1, .class_id = 2, .track_id = -1, .first_keypoint = 3},
        {.has = SK_HAS_KEYPOINTS, .score = 0.004f, .class_id = -1, .track_id = 7, .first_keypoint = 6},
        {.has = SK_HAS_BOX, .score = 0.25f, .class_id = 2, .track_id = -1, .box = {190, 4, 236, 40}},
        {.has = SK_HAS_OBB, .score = 0.75f, .class_id = -1, .track_id = -1, .obb = {20, 100, 30, 10, -0.4f}},
        {.has = 0, .score = 0.75f, .class_id = 0, .track_id = 9},
        {.has = SK_HAS_BOX,
         .score = 0.99f,
         .class_id = 0,
         .track_id = 16,
         .box = {-20, 90 + 2 * d, 35, 130 + 2 * d}},
    };
    int32_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (i == 7 && t > 2 && t < 9)
            continue;
        sk_found *one = &items[n];
        *one = all[i];
        for (int c = 0; c < 4; c++)
            one->box[c] *= k, one->obb[c] *= k;
        tracks[n] = (sk_overlay_track){.track = (int32_t)i + 2,
                                       .covered = i % 2,
                                       .x = 100 * k,
                                       .y = (50 + 9 * (float)i) * k,
                                       .heading = 0.7f * (float)i,
                                       .reach = i == 4   ? 0
                                                : i == 5 ? INFINITY
                                                         : 20 * k};
        n++;
    }
    for (size_t i = 0; i < sizeof at_first / sizeof *at_first; i++)
        points[i] = (sk_keypoint){at_first[i].x * k + d, at_first[i].y * k, at_first[i].score};
    return n;
}

static void overlays_are_known(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < sizeof shows / sizeof *shows; i++) {
        const show *s = &shows[i];
        sk_overlay_settings settings;
        sk_overlay *overlay = NULL;
        sk_error err = {0};
        sk_overlay_defaults(&settings);
        assert_true(settings.min_keypoint_score == 0.3f && settings.line_width == 0);
        assert_int_equal(settings.trail, 30);
        assert_int_equal(settings.what, SK_DRAW_ALL);
        settings.n_classes = 3, settings.class_names = names, settings.n_edges = 4, settings.edges = edges;
        settings.what = s->what, settings.trail = s->trail, settings.line_width = s->line_width;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame f = canvas(SK_PIXEL_RGB, W * s->scale, H * s->scale);
        for (int t = 0; t < 80; t += t < 12 ? 1 : 3) {
            sk_found items[8];
            sk_keypoint points[9];
            sk_overlay_track tracks[8];
            sk_instances all = {.items = items, .capacity = 8, .n_keypoints = 3, .keypoints = points};
            all.count = instances_at(t, (float)s->scale, items, points, tracks);
            if (t == 0 || t == 11 || t > 70)
                f = canvas(SK_PIXEL_RGB, W * s->scale, H * s->scale);
            if (s->tracks)
                sk_overlay_draw_tracks(overlay, &f, &all, tracks);
            else
                sk_overlay_draw(overlay, &f, &all);
        }
        same = known(s->name, &f, s->hash) && same;
        sk_overlay_close(&overlay);
    }
    assert_true(same);
}

/* One size more for every 480 pixels of the shorter side; nothing else is drawn, and nothing else changes. */
static void labels_grow_with_the_picture(void **state)
{
    (void)state;
    static const struct {
        int width, height, scale;
    } cases[] = {{479, 500, 1}, {500, 479, 1}, {480, 480, 2}, {480, 959, 2}, {959, 960, 2}, {960, 960, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int w = cases[i].width, h = cases[i].height, scale = cases[i].scale;
        sk_overlay_settings settings;
        sk_overlay *overlay = NULL;
        sk_error err = {0};
        sk_overlay_defaults(&settings);
        settings.what = SK_DRAW_LABELS;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        sk_frame f = {.format = SK_PIXEL_GRAY, .width = w, .height = h, .stride = w};
        f.data = sk_calloc((size_t)w, (size_t)h);
        sk_found one = {.has = SK_HAS_BOX, .class_id = -1, .track_id = 12, .box = {100, 200, 300, 300}};
        const sk_instances all = {.items = &one, .capacity = 1, .count = 1};
        sk_overlay_draw(overlay, &f, &all);
        int left = w, right = -1, top = h, bottom = -1;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                if (f.data[y * w + x]) {
                    left = x < left ? x : left, right = x > right ? x : right;
                    top = y < top ? y : top, bottom = y;
                }
        assert_int_equal(left, 100);
        assert_int_equal(bottom, 199);
        assert_int_equal(right - left + 1, sk_draw_text_width(scale, "#12") + 2 * scale);
        assert_int_equal(bottom - top + 1, sk_draw_text_height(scale) + 2 * scale);
        sk_free(f.data);
        sk_overlay_close(&overlay);
    }
}

/* Without a track an animal has its class's colour, the first class, too; without either that of its place in the list. */
static void colours_are_of_tracks_classes_and_places(void **state)
{
    (void)state;
    static const struct {
        int32_t track, class_id, colour;
    } cases[] = {{5, 1, 5}, {0, 3, 0}, {-1, 4, 4}, {-1, 0, 0}, {-1, -1, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static uint8_t black[60 * 60 * 3];
        sk_overlay_settings settings;
        sk_overlay *overlay = NULL;
        sk_error err = {0};
        sk_overlay_defaults(&settings);
        settings.what = SK_DRAW_BOXES, settings.line_width = 5;
        assert_ok(sk_overlay_open(&settings, &overlay, &err), &err);
        memset(black, 0, sizeof black);
        sk_frame f = {.format = SK_PIXEL_RGB, .width = 60, .height = 60, .stride = 180, .data = black};
        sk_found three[3] = {{.has = 0, .track_id = -1}, {.has = 0, .track_id = -1}};
        three[2] = (sk_found){.has = SK_HAS_BOX,
                              .class_id = cases[i].class_id,
                              .track_id = cases[i].track,
                              .box = {10, 10, 50, 50}};
        const sk_instances all = {.items = three, .capacity = 3, .count = 3};
        sk_overlay_draw(overlay, &f, &all);
        const uint8_t *p = &black[30 * 180 + 10 * 3];
        assert_int_equal(p[0] << 16 | p[1] << 8 | p[2], sk_draw_palette(cases[i].colour));
        sk_overlay_close(&overlay);
    }
}

static void what_is_drawn_has_names(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        uint32_t what; /* 0: refused */
        const char *why;
    } cases[] = {{"boxes", SK_DRAW_BOXES, NULL},
                 {"labels", SK_DRAW_LABELS, NULL},
                 {"scores", SK_DRAW_SCORES, NULL},
                 {"keypoints", SK_DRAW_KEYPOINTS, NULL},
                 {"skeleton", SK_DRAW_SKELETON, NULL},
                 {"trails", SK_DRAW_TRAILS, NULL},
                 {"trails,boxes,", SK_DRAW_BOXES | SK_DRAW_TRAILS, NULL},
                 {"", SK_DRAW_ALL, NULL},
                 {"no-scores", SK_DRAW_ALL & ~SK_DRAW_SCORES, NULL},
                 {"no-boxes,no-trails", SK_DRAW_ALL & ~(SK_DRAW_BOXES | SK_DRAW_TRAILS), NULL},
                 {"boxes,no-scores", 0, "name what to draw"},
                 {"box", 0, "'box'"},
                 {"no-", 0, "'no-'"},
                 {"labels,,boxes", 0, "''"},
                 {"boxes, labels", 0, "' labels'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t what = 77;
        sk_error err = {0};
        const sk_status status = sk_overlay_parse_what(cases[i].list, &what, &err);
        assert_int_equal(status, cases[i].why ? SK_ERR_ARG : SK_OK);
        if (cases[i].why)
            assert_non_null(strstr(err.message, cases[i].why));
        else
            assert_int_equal(what, cases[i].what);
    }
}

/* Means of whole pixels, by hand: of 4 x 4 to 2 x 2, of three columns to two, and larger than it was. */
static void shrinking_takes_means(void **state)
{
    (void)state;
    uint8_t grey[] = {0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150};
    sk_frame f = SK_FRAME_INIT, out;
    sk_error err = {0};
    f.format = SK_PIXEL_GRAY, f.width = 4, f.height = 4, f.stride = 4, f.data = grey;
    static const struct {
        int part[4], width, height;
        uint8_t expected[9];
    } cases[] = {{{0, 0, 4, 4}, 2, 2, {25, 45, 105, 125}},
                 {{1, 1, 4, 3}, 2, 1, {70, 85}},
                 {{0, 0, 4, 4}, 1, 1, {75}},
                 {{2, 2, 3, 3}, 2, 2, {100, 100, 100, 100}},
                 {{0, 0, 4, 2}, 3, 1, {20, 30, 45}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_frame_shrink(&f, cases[i].part, cases[i].width, cases[i].height, &out, &err), &err);
        assert_int_equal(out.width, cases[i].width);
        assert_int_equal(out.height, cases[i].height);
        for (int k = 0; k < cases[i].width * cases[i].height; k++)
            for (int c = 0; c < 3; c++)
                assert_int_equal(out.data[3 * k + c], cases[i].expected[k]);
        sk_free(out.data);
    }
    uint8_t bgr[] = {1, 2, 3, 5, 6, 7, 0, 0, 11, 12, 13, 15, 16, 17, 0, 0};
    f.format = SK_PIXEL_BGR, f.width = 2, f.height = 2, f.stride = 8, f.data = bgr;
    assert_ok(sk_frame_shrink(&f, (const int[]){0, 0, 2, 2}, 1, 1, &out, &err), &err);
    assert_memory_equal(out.data, ((const uint8_t[]){10, 9, 8}), 3);
    sk_free(out.data);
    f.format = SK_PIXEL_RGB;
    assert_ok(sk_frame_shrink(&f, (const int[]){1, 0, 2, 2}, 1, 2, &out, &err), &err);
    assert_memory_equal(out.data, ((const uint8_t[]){5, 6, 7, 15, 16, 17}), 6);
    sk_free(out.data);
    f.format = SK_PIXEL_NV12;
    assert_int_equal(sk_frame_shrink(&f, (const int[]){0, 0, 2, 2}, 1, 1, &out, &err), SK_ERR_ARG);
}

static sk_status open_and_shrink(void *context, sk_error *err)
{
    sk_overlay_settings settings;
    sk_overlay *overlay = NULL;
    sk_frame out = SK_FRAME_INIT, f = canvas(SK_PIXEL_RGB, 8, 8);
    (void)context;
    sk_overlay_defaults(&settings);
    SK_TRY(sk_overlay_open(&settings, &overlay, err));
    sk_overlay_close(&overlay);
    SK_TRY(sk_frame_shrink(&f, (const int[]){0, 0, 8, 8}, 4, 4, &out, err));
    sk_free(out.data);
    return SK_OK;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(open_and_shrink, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strokes_are_known),
        cmocka_unit_test(overlays_are_known),
        cmocka_unit_test(labels_grow_with_the_picture),
        cmocka_unit_test(colours_are_of_tracks_classes_and_places),
        cmocka_unit_test(what_is_drawn_has_names),
        cmocka_unit_test(shrinking_takes_means),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
