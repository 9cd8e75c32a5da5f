/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background_internal.h"

#include "base/memory.h"
#include "base/text.h"
#include "support/fault.h"
#include "support/known.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

/* Bodies drawn with whole numbers, the same on every machine, under settings of every kind: where they are found, how large, how
 * turned and how certain is known, and so is the background that was learned meanwhile. Below: the parts, worked out by hand. */

enum { W = 160, H = 120, BODIES = 7, FRAMES = 24 };

static uint8_t greys[W * H], pixels[3 * W * H];
static uint32_t seed;

static int dice(int n)
{
    seed = 1664525u * seed + 1013904223u;
    return (int)((seed >> 8) % (uint32_t)n);
}

static void draw_ground(int level, int noise)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            greys[y * W + x] = (uint8_t)(level + x / 8 + y / 16 + (noise ? dice(2 * noise + 1) - noise : 0));
}

/* Half axes a, b; turned by one of eight pythagorean turns, so that every product is whole. */
static void draw_body(int cx, int cy, int64_t a, int64_t b, int turn, int grey)
{
    static const int turns[8][3] = {{1, 0, 1}, {4, 3, 5},  {3, 4, 5},  {5, 12, 13},
                                    {0, 1, 1}, {-3, 4, 5}, {-4, 3, 5}, {-12, 5, 13}};
    const int64_t c = turns[turn][0], s = turns[turn][1], r = turns[turn][2];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const int64_t u = (x - cx) * c + (y - cy) * s, v = (y - cy) * c - (x - cx) * s;
            if (u * u * b * b + v * v * a * a <= a * a * b * b * r * r)
                greys[y * W + x] = (uint8_t)grey;
        }
}

static void make_frame(sk_pixel_format format, sk_frame *f)
{
    *f = (sk_frame)SK_FRAME_INIT;
    const bool colours = format == SK_PIXEL_RGB || format == SK_PIXEL_BGR;
    f->format = format, f->width = W, f->height = H, f->stride = colours ? 3 * W : W, f->data = pixels;
    for (int i = 0; i < W * H; i++)
        if (colours) { /* reddish: the weights of the colours count */
            pixels[3 * i + (format == SK_PIXEL_BGR ? 2 : 0)] =
                (uint8_t)(greys[i] > 235 ? 255 : greys[i] + 20);
            pixels[3 * i + 1] = greys[i];
            pixels[3 * i + (format == SK_PIXEL_BGR ? 0 : 2)] = (uint8_t)(greys[i] / 2);
        } else {
            pixels[i] = greys[i];
        }
}

typedef struct scene {
    const char *name;
    sk_background_settings settings;
    sk_pixel_format format;
    int primed, level, flicker, noise, dark, light; /* light: every second body's grey */
    uint64_t hash;
} scene;

#define PLAIN .contrast = 1, .gamma = 1, .most_found = 4096

static const scene scenes[] = {
    {"plain",
     {PLAIN, .following = 0.02, .steady_light = true, .smallest_feature = 3, .least_area = 20, .split = true},
     SK_PIXEL_RGB,
     5,
     150,
     6,
     3,
     60,
     60,
     0xcbb2f83c7b17e793},
    {"dark",
     {PLAIN, .ground = SK_GROUND_DARK, .threshold = 30.5, .least_area = 12, .split = true},
     SK_PIXEL_GRAY,
     3,
     60,
     2,
     4,
     40,
     200,
     0x3fc51ccf0e80eabf},
    {"either",
     {.ground = SK_GROUND_EITHER,
      .contrast = 1.5,
      .brightness = -40,
      .gamma = 0.75,
      .following = 3,
      .steady_light = true,
      .smallest_feature = 4,
      .grow = 2,
      .least_area = 30,
      .split = true,
      .most_found = 50},
     SK_PIXEL_BGR,
     4,
     110,
     3,
     2,
     50,
     190,
     0x5c91778818e14eba},
    {"split",
     {PLAIN, .following = 0.5, .smallest_feature = 2, .least_area = 20, .body_area = 150, .split = true},
     SK_PIXEL_NV12,
     9,
     170,
     0,
     7,
     40,
     40,
     0xb3c21b2fa334a5be},
    {"unprimed",
     {PLAIN, .following = 0.002, .threshold = 20, .least_area = 5, .split = false},
     SK_PIXEL_I420,
     0,
     170,
     0,
     0,
     40,
     40,
     0xce6d37d220a92627},
    {"none at all",
     {PLAIN, .following = 0.02, .steady_light = true, .smallest_feature = 3, .least_area = 20, .split = true},
     SK_PIXEL_GRAY,
     3,
     0,
     0,
     0,
     0,
     0,
     0xdb99363d79b029fb},
};

typedef struct body {
    int x, y, dx, dy, turn;
} body;

static void move(body *b, int k)
{
    b->x += b->dx, b->y += b->dy;
    b->dx = b->x < -2 || b->x > W + 1 ? -b->dx : b->dx;
    b->dy = b->y < -2 || b->y > H + 1 ? -b->dy : b->dy;
    b->turn = (b->turn + (dice(3 + k) == 0)) % 8;
}

static void tell(const sk_instances *found, const sk_background *b, sk_text *out)
{
    sk_text_appendf(out, "%d above %.3f:\n", found->count, sk_background_threshold(b));
    for (int32_t i = 0; i < found->count; i++) {
        const sk_found *f = &found->items[i];
        sk_text_appendf(out, "  %u %d %.3f at %.2f %.2f, %.2f x %.2f turned %.3f in %.2f %.2f %.2f %.2f\n",
                        f->has, f->class_id, (double)f->score, (double)f->obb[0], (double)f->obb[1],
                        (double)f->obb[2], (double)f->obb[3], (double)f->obb[4], (double)f->box[0],
                        (double)f->box[1], (double)f->box[2], (double)f->box[3]);
    }
}

static void what_is_found_is_known(void **state)
{
    (void)state;
    bool same = true;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        const scene *s = &scenes[i];
        sk_background *b = NULL;
        sk_instances found;
        sk_frame f;
        sk_error err = {0};
        sk_text told = {0};
        seed = 91u + (uint32_t)i;
        body bodies[BODIES];
        for (int k = 0; k < BODIES; k++)
            bodies[k] = (body){20 * k + 15, 30 + 37 * k % 60, dice(9) - 4, dice(7) - 3, dice(8)};
        assert_ok(sk_background_open(&s->settings, W, H, &b, &err), &err);
        assert_ok(sk_instances_alloc(40, 0, &found, &err), &err);
        for (int t = -s->primed; t < FRAMES; t++) {
            draw_ground(s->level + (s->flicker ? dice(2 * s->flicker + 1) - s->flicker : 0), s->noise);
            for (int k = 0; k < BODIES && (t >= 0 || k < 2); k++) {
                draw_body(bodies[k].x, bodies[k].y, 11 + k % 3, 4 + k % 2, bodies[k].turn,
                          k % 2 ? s->light : s->dark);
                for (int m = 0; m < (t < 0 ? 7 : 1); m++)
                    move(&bodies[k], k);
            }
            make_frame(s->format, &f);
            f.index = t;
            if (t < 0) {
                assert_ok(sk_background_prime(b, &f, &err), &err);
                continue;
            }
            assert_ok(sk_background_find(b, &f, &found, &err), &err);
            tell(&found, b, &told);
        }
        sk_text_append_bytes(&told, (const char *)sk_background_picture(b), W * H);
        same = test_known(s->name, sk_text_get(&told), told.length, s->hash) && same;
        assert_int_equal(sk_background_prime(b, &f, &err), SK_ERR_ARG);
        sk_text_free(&told);
        sk_instances_free(&found);
        sk_background_close(&b);
    }
    assert_true(same);
}

/* --- parts --- */

/* Every setting at both of its ends, and a little beyond. */
static void settings_have_ends(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t offset;
        bool whole;
        double least, most;
    } ends[] = {
#define REAL(name, least, most) {#name, offsetof(sk_background_settings, name), false, least, most}
#define WHOLE(name, least, most)                                                                             \
    {                                                                                                        \
#name, offsetof(sk_background_settings, name), true, least, most                                     \
    }
        REAL(contrast, 0.01, 100), REAL(brightness, -255, 255), REAL(gamma, 0.01, 100),
        REAL(threshold, 0, 254),   REAL(following, 0, 255),     WHOLE(smallest_feature, 0, 255),
        WHOLE(grow, 0, 127),       REAL(least_area, 0, 1e9),    REAL(body_area, 0, 1e9),
        WHOLE(most_found, 1, 1e6)};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (int k = 0; k < 4; k++) {
            sk_background_settings s;
            sk_background *b = NULL;
            sk_error err = {0};
            sk_background_defaults(&s);
            const double beyond = ends[i].whole ? 1 : 0.001;
            const double value = (const double[]){ends[i].least, ends[i].most, ends[i].least - beyond,
                                                  ends[i].most + beyond}[k];
            if (ends[i].whole)
                *(int32_t *)(void *)((char *)&s + ends[i].offset) = (int32_t)value;
            else
                *(double *)(void *)((char *)&s + ends[i].offset) = value;
            assert_int_equal(sk_background_open(&s, 8, 8, &b, &err), k < 2 ? SK_OK : SK_ERR_ARG);
            if (k >= 2)
                assert_non_null(strstr(err.message, ends[i].name));
            sk_background_close(&b);
        }
}

static void sizes_have_ends(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height, wanted; /* 0: refused */
    } sizes[] = {{0, 9, 0},       {9, 0, 0},       {65536, 1, 0},    {1, 65536, 0},    {65535, 1, 31},
                 {1, 65535, 31},  {1, 1, 31},      {2048, 1057, 31}, {2048, 1130, 28}, {2560, 1920, 13},
                 {4096, 1820, 9}, {4096, 2048, 9}, {4096, 1638, 10}, {4096, 4096, 9}};
    sk_background_settings s;
    sk_background_defaults(&s);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sk_background *b = NULL;
        sk_error err = {0};
        const sk_status status = sk_background_open(&s, sizes[i].width, sizes[i].height, &b, &err);
        assert_int_equal(status, sizes[i].wanted ? SK_OK : SK_ERR_ARG);
        if (b)
            assert_int_equal(sk_background_wanted(b), sizes[i].wanted);
        sk_background_close(&b);
    }
}

/* A rectangle, a diagonal and a single pixel: moments by hand. */
static void moments_are_worked_out(void **state)
{
    (void)state;
    uint8_t mask[10 * 12] = {0}, difference[10 * 12];
    for (int i = 0; i < 120; i++)
        difference[i] = (uint8_t)i;
    for (int y = 2; y < 4; y++)
        memset(mask + 12 * y + 1, 255, 6);                         /* 6 x 2 from (1, 2) */
    mask[12 * 6 + 2] = mask[12 * 7 + 3] = mask[12 * 8 + 4] = 255;  /* touching by corners */
    mask[12 * 9 + 11] = 255;                                       /* the last pixel of all */
    mask[12 * 6 + 8] = mask[12 * 6 + 10] = mask[12 * 7 + 9] = 255; /* two arms that meet below */
    blob_list list = {0};
    bool too_many = true;
    sk_error err = {0};
    assert_ok(blobs_find(mask, difference, 12, 10, 4, &list, &too_many, &err), &err);
    assert_false(too_many);
    assert_int_equal(list.count, 4);
    double obb[5];
    blob_box(&list.items[0].sums, obb);
    assert_true(obb[0] == 4 && obb[1] == 3);
    assert_true(fabs(obb[2] - 4 * sqrt(36.0 / 12)) < 1e-12 && fabs(obb[3] - 4 * sqrt(4.0 / 12)) < 1e-12);
    assert_true(obb[4] == 0);
    assert_int_equal(list.items[0].contrast, 6 * 24 + 21 + 6 * 36 + 21);
    blob_box(&list.items[1].sums, obb);
    assert_true(obb[0] == 3.5 && obb[1] == 7.5 && fabs(obb[4] - M_PI / 4) < 1e-12);
    assert_true(fabs(obb[2] - 4 * sqrt(2.0 / 3 + 1.0 / 12 + 2.0 / 3)) < 1e-12);
    assert_true(fabs(obb[3] - 4 * sqrt(1.0 / 12)) < 1e-12);
    assert_true(list.items[2].sums.n == 3);
    blob_box(&list.items[3].sums, obb);
    assert_true(obb[0] == 11.5 && obb[1] == 9.5 && fabs(obb[2] - 4 * sqrt(1.0 / 12)) < 1e-12);
    assert_ok(blobs_find(mask, difference, 12, 10, 3, &list, &too_many, &err), &err);
    assert_true(too_many);
    assert_int_equal(list.count, 0);
    blobs_free(&list);
}

/* By the definition: the least or the most of a square, what lies outside left out. */
static void slowly(const uint8_t *from, uint8_t *to, int32_t width, int32_t height, int32_t size, bool most)
{
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++) {
            uint8_t value = most ? 0 : 255;
            for (int32_t v = y - size / 2; v <= y + size / 2; v++)
                for (int32_t u = x - size / 2; u <= x + size / 2; u++)
                    if (u >= 0 && u < width && v >= 0 && v < height && (from[v * width + u] == 255) == most)
                        value = most ? 255 : 0;
            to[y * width + x] = value;
        }
}

static void masks_are_cleaned_by_the_definition(void **state)
{
    (void)state;
    enum { MOST = 24 * 17 };
    for (int trial = 0; trial < 200; trial++) {
        uint8_t mask[MOST], expected[MOST], spare[MOST];
        seed = 5u + (uint32_t)trial;
        const int32_t width = 1 + dice(24), height = 1 + dice(17), size = dice(8), grow = dice(4),
                      density = 1 + dice(9);
        for (int32_t i = 0; i < width * height; i++)
            mask[i] = dice(10) < density ? 255 : 0;
        memcpy(expected, mask, sizeof mask);
        if (size >= 2)
            for (int k = 0; k < 4; k++) {
                slowly(expected, spare, width, height, size | 1, k == 1 || k == 2);
                memcpy(expected, spare, (size_t)(width * height));
            }
        mask_clean(mask, spare, width, height, size);
        assert_memory_equal(mask, expected, (size_t)(width * height));
        mask_grow(mask, spare, width, height, grow);
        slowly(expected, spare, width, height, 2 * grow + 1, true);
        if (grow)
            assert_memory_equal(mask, spare, (size_t)(width * height));
    }
}

static void greys_are_worked_out(void **state)
{
    (void)state;
    static const uint8_t values[] = {10, 200, 40, 30, 20, 60, 50, 0};
    assert_true(fabs(grey_middle(values, 8) - (20 + 30 + 40 + 50) / 4.0) < 1e-12);
    assert_true(fabs(grey_middle((const uint8_t[]){0, 0, 0, 100}, 4) - 0) < 1e-12);
    assert_true(fabs(grey_middle((const uint8_t[]){7}, 1) - 7) < 1e-12);
    const uint8_t *const pictures[] = {(const uint8_t[]){9, 1, 5}, (const uint8_t[]){3, 2, 5},
                                       (const uint8_t[]){6, 9, 4}, (const uint8_t[]){8, 9, 0}};
    uint8_t out[3];
    grey_median(pictures, 3, 3, out);
    assert_memory_equal(out, ((const uint8_t[]){6, 2, 5}), 3);
    grey_median(pictures, 4, 3, out);
    assert_memory_equal(out, ((const uint8_t[]){8, 9, 5}), 3);
    sk_background_settings s;
    uint8_t table[256];
    memset(table, 0x55, sizeof table);
    sk_background_defaults(&s);
    grey_table(&s, table);
    for (int i = 0; i < 256; i++)
        assert_int_equal(table[i], i);
    s.contrast = 2, s.brightness = -30, s.gamma = 2;
    grey_table(&s, table);
    for (int i = 0; i < 256; i++)
        assert_int_equal(table[i], lrint(sqrt(fmin(fmax(2 * i - 30, 0), 255) / 255) * 255));
    s.contrast = 3, s.brightness = 20, s.gamma = 1; /* more than white is white */
    grey_table(&s, table);
    for (int i = 0; i < 256; i++)
        assert_int_equal(table[i], 3 * i + 20 < 255 ? 3 * i + 20 : 255);
    sk_frame f = SK_FRAME_INIT;
    uint8_t rgb[] = {200, 100, 50, 0, 0, 255, 0, 0, 0, 255, 255, 255, 10, 20, 30, 0, 0, 0};
    f.format = SK_PIXEL_RGB, f.width = 2, f.height = 2, f.stride = 9, f.data = rgb;
    sk_background_defaults(&s);
    grey_table(&s, table);
    uint8_t grey[4];
    grey_of_frame(&f, table, grey);
    assert_memory_equal(grey,
                        ((const uint8_t[]){(77 * 200 + 150 * 100 + 29 * 50 + 128) >> 8, (29 * 255 + 128) >> 8,
                                           255, (77 * 10 + 150 * 20 + 29 * 30 + 128) >> 8}),
                        4);
}

/* The largest first; of equal ones the upper, then the left one; no more than there is room for. */
static void order_of_the_found(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background *b = NULL;
    sk_instances found;
    sk_frame f;
    sk_error err = {0};
    sk_background_defaults(&s);
    s.split = false;
    assert_ok(sk_background_open(&s, W, H, &b, &err), &err);
    assert_ok(sk_instances_alloc(5, 0, &found, &err), &err);
    memset(greys, 100, sizeof greys);
    make_frame(SK_PIXEL_GRAY, &f);
    assert_ok(sk_background_prime(b, &f, &err), &err);
    static const int at[][3] = {{120, 20, 6}, {20, 20, 6}, {70, 60, 8}, {20, 90, 6}, {120, 90, 9}};
    for (int k = 0; k < 5; k++)
        for (int y = -at[k][2]; y < at[k][2]; y++)
            memset(greys + W * (at[k][1] + y) + at[k][0] - at[k][2], 40, (size_t)(2 * at[k][2]));
    make_frame(SK_PIXEL_GRAY, &f);
    assert_ok(sk_background_find(b, &f, &found, &err), &err);
    assert_int_equal(found.count, 5);
    static const int order[] = {4, 2, 1, 0, 3};
    for (int k = 0; k < 5; k++)
        assert_true(found.items[k].obb[0] == (float)at[order[k]][0] &&
                    found.items[k].obb[1] == (float)at[order[k]][1]);
    /* all of one contrast, 60 above a threshold of 12 */
    assert_true(fabs((double)found.items[0].score - 60.0 / 72) < 1e-6);
    assert_true(fabs((double)found.items[0].box[0] - (120 - 2 * sqrt(18.0 * 18 / 12))) < 1e-4);
    /* one that lies and one that stands are as large as each other: the left one first, though the other begins higher up */
    memset(greys, 100, sizeof greys);
    for (int y = 0; y < 10; y++)
        memset(greys + W * (55 + y) + 10, 40, 30);
    for (int y = 0; y < 30; y++)
        memset(greys + W * (45 + y) + 100, 40, 10);
    make_frame(SK_PIXEL_GRAY, &f);
    assert_ok(sk_background_find(b, &f, &found, &err), &err);
    assert_int_equal(found.count, 2);
    assert_true(found.items[0].obb[0] == 25 && found.items[1].obb[0] == 105);
    sk_instances_free(&found);
    sk_background_close(&b);
}

static void defaults_are_those_of_the_documentation(void **state)
{
    (void)state;
    sk_background_settings s;
    memset(&s, 0x55, sizeof s);
    sk_background_defaults(&s);
    assert_int_equal(s.ground, SK_GROUND_LIGHT);
    assert_true(s.contrast == 1 && s.brightness == 0 && s.gamma == 1 && s.threshold == 0 &&
                s.following == 0.02);
    assert_true(s.least_area == 20 && s.body_area == 0 && s.steady_light && s.split);
    assert_int_equal(s.smallest_feature, 3);
    assert_int_equal(s.grow, 0);
    assert_int_equal(s.most_found, 4096);
}

/* Light that is hardly another is left alone, more is made up for; the background here follows at once. */
static void light_is_made_steady(void **state)
{
    (void)state;
    static const struct {
        int other;     /* of a hundred pixels … */
        uint8_t level; /* … are of this grey, the rest of 20 */
        uint8_t white;
    } cases[] = {{35, 21, 255}, {40, 21, 251}, {100, 21, 243}, {100, 16, 255}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s;
        sk_background *b = NULL;
        sk_instances found;
        sk_frame f;
        sk_error err = {0};
        sk_background_defaults(&s);
        s.following = 255;
        s.threshold = 254;
        assert_ok(sk_background_open(&s, W, H, &b, &err), &err);
        assert_ok(sk_instances_alloc(5, 0, &found, &err), &err);
        memset(greys, 20, sizeof greys);
        for (int t = 0; t < 2; t++) {
            make_frame(SK_PIXEL_GRAY, &f);
            assert_ok(sk_background_find(b, &f, &found, &err), &err);
            for (int k = 0; k < W * H; k++)
                greys[k] = k % 100 < cases[i].other ? cases[i].level : 20;
            greys[99] = 255;
        }
        assert_int_equal(sk_background_picture(b)[99], cases[i].white);
        sk_instances_free(&found);
        sk_background_close(&b);
    }
}

/* The median of 31 frames; what comes after is left out, also where it would tip the balance. */
static void only_so_many_frames_prime(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background *b = NULL;
    sk_instances found;
    sk_frame f;
    sk_error err = {0};
    sk_background_defaults(&s);
    s.steady_light = false;
    s.following = 0;
    assert_ok(sk_background_open(&s, W, H, &b, &err), &err);
    assert_ok(sk_instances_alloc(5, 0, &found, &err), &err);
    for (int i = 0; i < 33; i++) {
        memset(greys, i < 16 ? 100 : 200, sizeof greys);
        make_frame(SK_PIXEL_GRAY, &f);
        assert_ok(sk_background_prime(b, &f, &err), &err);
    }
    assert_ok(sk_background_find(b, &f, &found, &err), &err);
    assert_int_equal(sk_background_picture(b)[0], 100);
    sk_instances_free(&found);
    sk_background_close(&b);
}

static sk_status find_something(void *context, sk_error *err)
{
    sk_status status = SK_OK;
    sk_background_settings s;
    sk_background *b = NULL;
    sk_instances found = {0};
    sk_frame f;
    (void)context;
    sk_background_defaults(&s);
    SK_TRY_GOTO(sk_background_open(&s, W, H, &b, err));
    SK_TRY_GOTO(sk_instances_alloc(5, 0, &found, err));
    memset(greys, 100, sizeof greys);
    make_frame(SK_PIXEL_GRAY, &f);
    for (int i = 0; i < 3; i++)
        SK_TRY_GOTO(sk_background_prime(b, &f, err));
    draw_body(40, 40, 12, 5, 1, 30);
    make_frame(SK_PIXEL_GRAY, &f);
    SK_TRY_GOTO(sk_background_find(b, &f, &found, err));
done:
    sk_instances_free(&found);
    sk_background_close(&b);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(find_something, NULL), 12, 20);
}

static void frames_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background *b = NULL;
    sk_frame f;
    sk_error err = {0};
    sk_background_defaults(&s);
    assert_ok(sk_background_open(&s, W, H, &b, &err), &err);
    make_frame(SK_PIXEL_GRAY, &f);
    f.width = W - 1;
    assert_int_equal(sk_background_prime(b, &f, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "159x120"));
    make_frame(SK_PIXEL_GRAY, &f);
    f.format = SK_PIXEL_RGBA;
    assert_int_equal(sk_background_prime(b, &f, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "NV12"));
    make_frame(SK_PIXEL_GRAY, &f);
    f.place = SK_PLACE_CUDA;
    assert_int_equal(sk_background_prime(b, &f, &err), SK_ERR_ARG);
    sk_background_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_found_is_known),
        cmocka_unit_test(settings_have_ends),
        cmocka_unit_test(sizes_have_ends),
        cmocka_unit_test(moments_are_worked_out),
        cmocka_unit_test(masks_are_cleaned_by_the_definition),
        cmocka_unit_test(greys_are_worked_out),
        cmocka_unit_test(order_of_the_found),
        cmocka_unit_test(defaults_are_those_of_the_documentation),
        cmocka_unit_test(light_is_made_steady),
        cmocka_unit_test(only_so_many_frames_prime),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(frames_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
