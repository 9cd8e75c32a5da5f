/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn is what looking at every pixel gives, and nothing outside the picture is touched. */
#include "base/frame.h"
#include "media/draw.h"
#include "media/overlay.h"
#include "support/recorded.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 61, H = 37, ROOM = 9, STRIDE = 3 * (W + 2 * ROOM), BYTES = STRIDE * (H + 2 * ROOM) };

static uint8_t memory[BYTES], before[BYTES];

static sk_frame canvas(void)
{
    for (size_t i = 0; i < BYTES; i++)
        before[i] = memory[i] = (uint8_t)(60 + i % 7 * 20);
    return (sk_frame){.format = SK_PIXEL_RGB,
                      .width = W,
                      .height = H,
                      .stride = STRIDE,
                      .data = memory + ROOM * STRIDE + 3 * ROOM};
}

/* Of the pixel at (x, y) of the picture, or beside it. */
static int change(int x, int y, int c)
{
    const int at = (y + ROOM) * STRIDE + 3 * (x + ROOM) + c;
    return memory[at] - before[at];
}

static void nothing_is_touched_beside(const char *what, int number)
{
    for (int y = -ROOM; y < H + ROOM; y++)
        for (int x = -ROOM; x < W + ROOM; x++)
            for (int c = 0; c < 3; c++)
                if ((x < 0 || y < 0 || x >= W || y >= H) && change(x, y, c))
                    fail_msg("%s %d: %d, %d lies beside the picture", what, number, x, y);
}

/* A pixel is as far covered as its middle lies within the line, half a pixel softened on each side. */
static void line_is_right(int number, double x0, double y0, double x1, double y1, double thickness)
{
    sk_frame f = canvas();
    sk_draw_line(&f, (float)x0, (float)y0, (float)x1, (float)y1, (float)thickness, 0xFFFFFF);
    nothing_is_touched_beside("line", number);
    const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const double px = x + 0.5 - x0, py = y + 0.5 - y0;
            const double t = length2 > 0 ? fmin(fmax((px * dx + py * dy) / length2, 0), 1) : 0;
            const double covers = fmin(fmax(thickness / 2 + 0.5 - hypot(px - t * dx, py - t * dy), 0), 1);
            for (int c = 0; c < 3; c++) {
                const int had = before[(y + ROOM) * STRIDE + 3 * (x + ROOM) + c];
                if (fabs(change(x, y, c) - covers * (255 - had)) > 1.1)
                    fail_msg("line %d (%g, %g to %g, %g, %g thick): %d, %d became %d lighter, not %g", number,
                             x0, y0, x1, y1, thickness, x, y, change(x, y, c), covers * (255 - had));
            }
        }
}

static void every_line(void **state)
{
    (void)state;
    static const double ways[][5] = {
        {5, 5, 50, 5, 1},         {5, 5, 50, 5.3, 1},          {5, 5.2, 50, 5.2004, 2},
        {7, 2, 7, 30, 3},         {7, 30, 7.4, 2, 1},          {0, 0, W, H, 1},
        {W, 0, 0, H, 2},          {-20, 10, 80, 12, 1},        {10, -30, 12, 70, 1},
        {-5, -5, -1, -1, 4},      {W, H, W + 5, H + 5, 4},     {W + 0.5, 3, W + 0.5, 9, 2},
        {-0.5, 3, -0.5, 9, 2},    {3, -0.5, 9, -0.5, 2},       {3, H + 0.5, 9, H + 0.5, 2},
        {20, 20, 20, 20, 9},      {20.5, 20.5, 20.5, 20.5, 1}, {0, 0, 0, 0, 3},
        {1, 10.4, 60, 10.9, 1},   {60, 10.9, 1, 10.4, 1},      {-1000, 3, 1000, 33, 3},
        {30, -1000, 31, 1000, 3}, {30, 18, 31, 18.5, 0.2},     {30, 18, 40, 25, 60}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        line_is_right((int)i, ways[i][0], ways[i][1], ways[i][2], ways[i][3], ways[i][4]);
    unsigned chance = 5;
    for (int i = 0; i < 200; i++) {
        double at[5];
        for (int k = 0; k < 4; k++)
            at[k] = (float)recorded_between(&chance, -20, 80);
        at[4] = (float)recorded_between(&chance, 0.2, i % 3 ? 3 : 12);
        if (i % 4 == 0)
            at[3] = (float)(at[1] + recorded_between(&chance, -0.5, 0.5)); /* nearly level */
        line_is_right(100 + i, at[0], at[1], at[2], at[3], at[4]);
    }
}

/* What no picture reaches, and what is no number, is not drawn, and costs no time. */
static void nowhere(void **state)
{
    (void)state;
    static const float ends[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int k = 1; k < 16; k++) { /* which of the four */
            const float at[4] = {k & 1 ? ends[i] : 20, k & 2 ? ends[i] : 10, k & 4 ? ends[i] : 40,
                                 k & 8 ? ends[i] : 30};
            sk_frame f = canvas();
            sk_draw_line(&f, at[0], at[1], at[2], at[3], 3, 0xFFFFFF);
            assert_memory_equal(memory, before, BYTES);
        }
    sk_frame f = canvas();
    sk_draw_line(&f, 1e8f, 10, 1e8f, 11, 3, 0xFFFFFF); /* far, but somewhere */
    sk_draw_line(&f, 10, 1e8f, 20, 1e8f, 3, 0xFFFFFF);
    sk_draw_line(&f, -1e8f, 10, -1e8f, 11, 3, 0xFFFFFF);
    sk_draw_line(&f, 10, -1e8f, 20, -1e8f, 3, 0xFFFFFF);
    sk_draw_line(&f, 30, 10, 40, 10, -4, 0xFFFFFF); /* thinner than nothing */
    assert_memory_equal(memory, before, BYTES);
    sk_draw_line(&f, -1e5f, 10.5f, 1e5f, 10.5f, 1, 0xFFFFFF); /* and right across */
    nothing_is_touched_beside("line", 0);
    for (int x = 0; x < W; x++)
        assert_true(change(x, 10, 0) > 0 && change(x, 8, 0) == 0 && change(x, 12, 0) == 0);
}

/* Fills end where they are said to and at the picture's edges. */
static void every_fill(void **state)
{
    (void)state;
    static const int parts[][4] = {
        {5, 6, 7, 8}, {0, 0, W, H},  {-4, -3, 6, 5},       {W - 3, H - 2, 9, 9}, {-9, -9, W + 18, H + 18},
        {W, 0, 4, 4}, {0, H, 4, 4},  {-4, 0, 4, 4},        {0, -4, 4, 4},        {3, 3, 0, 5},
        {3, 3, 5, 0}, {3, 3, -2, 5}, {W - 1, H - 1, 1, 1}, {0, 0, 1, 1}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int half = 0; half < 2; half++) {
            const int *p = parts[i];
            sk_frame f = canvas();
            sk_draw_fill(&f, p[0], p[1], p[2], p[3], 0x804020, half ? 0.5f : 1);
            nothing_is_touched_beside("fill", (int)i);
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++)
                    for (int c = 0; c < 3; c++) {
                        const bool inside = x >= p[0] && y >= p[1] && x < p[0] + p[2] && y < p[1] + p[3];
                        const int had = before[(y + ROOM) * STRIDE + 3 * (x + ROOM) + c];
                        const int colour = c == 0 ? 0x80 : c == 1 ? 0x40 : 0x20;
                        const double by = inside ? (colour - had) * (half ? 0.5 : 1) : 0;
                        if (fabs(change(x, y, c) - by) > 0.51)
                            fail_msg("fill %zu: %d, %d changed by %d, not %g", i, x, y, change(x, y, c), by);
                    }
        }
    sk_frame f = canvas();
    sk_draw_fill(&f, 1, 1, 9, 9, 0xFFFFFF, 0);
    sk_draw_fill(&f, 1, 1, 9, 9, 0xFFFFFF, -3);
    sk_draw_fill(&f, 1, 1, 9, 9, 0xFFFFFF, NAN);
    assert_memory_equal(memory, before, BYTES);
    sk_draw_fill(&f, 1, 1, 1, 1, 0xFFFFFF, 5);
    assert_int_equal(change(1, 1, 0), 255 - before[(1 + ROOM) * STRIDE + 3 * (1 + ROOM)]);
}

/* --- overlays --- */

static sk_overlay *overlay_of(uint32_t what, int32_t trail)
{
    static const int32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}};
    sk_overlay_settings s;
    sk_overlay *o = NULL;
    sk_error err = {0};
    sk_overlay_defaults(&s);
    s.what = what, s.trail = trail, s.line_width = 1, s.edges = edges, s.n_edges = 3;
    assert_ok(sk_overlay_open(&s, &o, &err), &err);
    return o;
}

static int changed_pixels(void)
{
    int n = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            n += change(x, y, 0) || change(x, y, 1) || change(x, y, 2);
    return n;
}

/* A side of any length has two hundred dashes and gaps at most. */
static void dashes_have_a_number(void **state)
{
    (void)state;
    enum { LONG = 2600 };
    static const struct {
        float width;
        int dashes;
    } sides[] = {{2400, 100}, {1800, 100}, {900, 75}, {600, 50}, {60, 5}, {12, 2}};
    static uint8_t grey[12 * LONG];
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        memset(grey, 128, sizeof grey);
        sk_frame f = {.format = SK_PIXEL_GRAY, .width = LONG, .height = 12, .stride = LONG, .data = grey};
        sk_found one = {.has = SK_HAS_BOX, .track_id = 7, .box = {20, 5.5f, 20 + sides[i].width, 60}};
        const sk_instances all = {.count = 1, .items = &one};
        const sk_overlay_track track = {.track = 7, .covered = true};
        sk_overlay *o = overlay_of(SK_DRAW_BOXES, 0);
        sk_overlay_draw_tracks(o, &f, &all, &track);
        sk_overlay_close(&o);
        int begins = 0; /* along the middle of the upper side, bright between dark rims, up to its corner */
        for (int x = 1; x < 18 + (int)sides[i].width; x++)
            begins += grey[5 * LONG + x] > 128 && grey[5 * LONG + x - 1] <= 128;
        assert_int_equal(begins, sides[i].dashes);
    }
}

/* The head is shown as soon as it is known, however near; not where it is nowhere. */
static void heads_are_shown(void **state)
{
    (void)state;
    static const struct {
        float x, y, heading, reach;
        bool shown;
    } heads[] = {{30, 18, 0, 0.25f, true},    {30, 18, 0, 1, true},    {30, 18, 1, 9, true},
                 {30, 18, 0, 0, false},       {30, 18, 0, -2, false},  {NAN, 18, 0, 5, false},
                 {30, NAN, 0, 5, false},      {30, 18, NAN, 5, false}, {30, 18, 0, NAN, false},
                 {30, 18, 0, INFINITY, false}};
    sk_found one = {.has = 0};
    const sk_instances all = {.count = 1, .items = &one};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        sk_frame f = canvas();
        const sk_overlay_track track = {
            .x = heads[i].x, .y = heads[i].y, .heading = heads[i].heading, .reach = heads[i].reach};
        sk_overlay *o = overlay_of(SK_DRAW_BOXES, 0);
        sk_overlay_draw_tracks(o, &f, &all, &track);
        sk_overlay_close(&o);
        if ((changed_pixels() > 0) != heads[i].shown)
            fail_msg("head %zu", i);
    }
}

/* Lines of a skeleton end at points that this instance has, not at those of the next one. */
static void skeletons_stay_their_own(void **state)
{
    (void)state;
    const sk_keypoint points[] = {{10, 10, 1}, {50, 10, 1}, {30, 30, 1}, {30, 30, 1}};
    sk_found one = {.has = SK_HAS_KEYPOINTS};
    for (int n = 0; n < 4; n++) { /* points an instance */
        const sk_instances all = {
            .count = 1, .items = &one, .n_keypoints = n, .keypoints = (sk_keypoint *)points};
        sk_frame f = canvas();
        sk_overlay *o = overlay_of(SK_DRAW_SKELETON, 0);
        sk_overlay_draw(o, &f, &all);
        sk_overlay_close(&o);
        assert_int_equal(change(30, 9, 0) != 0, n >= 2);  /* 0 to 1 */
        assert_int_equal(change(40, 20, 0) != 0, n >= 3); /* 1 to 2 */
        assert_int_equal(change(20, 20, 0) != 0, n >= 3); /* 2 to 0 */
    }
}

/* What a label hides, x from and to, y from and to; all 0: there is none. */
static void label_at(float x, float y, int *out)
{
    sk_frame f = canvas();
    sk_found one = {.has = SK_HAS_BOX, .score = 0.5f, .track_id = -1, .box = {x, y, x + 9, y + 9}};
    const sk_instances all = {.count = 1, .items = &one};
    sk_overlay *o = overlay_of(SK_DRAW_SCORES, 0);
    sk_overlay_draw(o, &f, &all);
    sk_overlay_close(&o);
    nothing_is_touched_beside("label", (int)x);
    memset(out, 0, 4 * sizeof *out);
    for (int v = 0; v < H; v++)
        for (int u = 0; u < W; u++)
            if (change(u, v, 0) || change(u, v, 1) || change(u, v, 2)) {
                out[0] = out[1] && out[0] < u ? out[0] : u;
                out[2] = out[3] ? out[2] : v;
                out[1] = u + 1 > out[1] ? u + 1 : out[1];
                out[3] = v + 1;
            }
}

/* "0.50" is 26 pixels wide and 9 high with its margin: above the box's corner, as far as the picture goes. */
static void labels_stay_inside(void **state)
{
    (void)state;
    static const struct {
        float x, y;
        int left, top;
    } places[] = {{10, 20, 10, 11},
                  {10.9f, 20.9f, 10, 11},
                  {0, 9, 0, 0},
                  {0, 8, 0, 0},
                  {-7, -7, 0, 0},
                  {W - 26, 20, W - 26, 11},
                  {W - 25, 20, W - 26, 11},
                  {W + 90, 20, W - 26, 11},
                  {1e30f, 20, W - 26, 11},
                  {-1e30f, -1e30f, 0, 0},
                  {10, H, 10, H - 9}};
    int at[4];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        label_at(places[i].x, places[i].y, at);
        if (at[0] != places[i].left || at[1] != places[i].left + 26 || at[2] != places[i].top ||
            at[3] != places[i].top + 9)
            fail_msg("label %zu lies from %d, %d to %d, %d", i, at[0], at[2], at[1], at[3]);
    }
    const float nowhere_at[][2] = {{NAN, 20}, {20, NAN}, {20, H + 9}, {20, 1e30f}};
    for (size_t i = 0; i < 4; i++) {
        label_at(nowhere_at[i][0], nowhere_at[i][1], at);
        assert_int_equal(at[1], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line),         cmocka_unit_test(nowhere),
        cmocka_unit_test(every_fill),         cmocka_unit_test(dashes_have_a_number),
        cmocka_unit_test(heads_are_shown),    cmocka_unit_test(skeletons_stay_their_own),
        cmocka_unit_test(labels_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
