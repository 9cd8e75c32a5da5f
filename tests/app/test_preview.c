/* SPDX-License-Identifier: Apache-2.0 */
/* The small picture of a run as it goes: which frame becomes one, how large it is, and what of a frame is copied. */
#include "support/test.h"

#include "app/preview.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/instances.h"
#include "base/memory.h"
#include "skitter/source.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static atomic_int made_count;
static _Atomic int64_t made_frame;

static char context_word[] = "context";

static void made(void *context, int64_t frame)
{
    assert_ptr_equal(context, context_word);
    made_frame = frame;
    made_count++;
}

static const char *const classes[] = {"fly"};
static const int32_t edges[1][2] = {{0, 1}};
static const sk_run_header header = {
    .source_kind = "video", .n_classes = 1, .class_names = classes, .n_edges = 1, .edges = edges};

static sk_consumer *open_preview(const char *path)
{
    const sk_preview_wish wish = {.path = path, .made = made, .context = context_word};
    sk_consumer *p = sk_consumer_preview(&wish);
    assert_non_null(p);
    assert_string_equal(p->kind->name, "preview");
    assert_ok(p->kind->begin(p, &header, NULL, &err), &err);
    made_count = 0;
    made_frame = -1;
    return p;
}

static void close_preview(sk_consumer *p)
{
    p->kind->close(p);
    sk_free(p);
}

static void take(sk_consumer *p, int64_t index, const sk_instances *found, const char *problem)
{
    static const sk_instances nobody = {0};
    const sk_result_frame r = {
        .source = "v.mp4", .index = index, .instances = found ? found : &nobody, .problem = problem};
    sk_passing passing = {.result = &r};
    assert_ok(p->kind->take(p, &passing, &err), &err);
}

static bool wait_for(int count)
{
    for (int i = 0; i < 20000 && made_count < count; i++)
        sk_clock_sleep_ns(1000000);
    return made_count == count;
}

typedef struct decoded {
    int32_t width, height;
    uint8_t *rgb;
} decoded;

static decoded decode(const char *path)
{
    decoded d = {0};
    sk_source *source = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    const sk_frame *f = NULL;
    sk_source_defaults(&s);
    assert_ok(sk_source_open(path, &s, &source, &err), &err);
    assert_ok(sk_source_next(source, &f, &err), &err);
    d = (decoded){f->width, f->height, sk_malloc((size_t)f->width * (size_t)f->height * 3)};
    for (int y = 0; y < f->height; y++)
        memcpy(d.rgb + (size_t)y * 3 * (size_t)f->width, f->data + y * f->stride, 3 * (size_t)f->width);
    sk_source_release(source, f);
    sk_source_close(&source);
    return d;
}

static int grey_at(const decoded *d, int x, int y)
{
    const uint8_t *p = d->rgb + ((size_t)y * (size_t)d->width + (size_t)x) * 3;
    return (p[0] + p[1] + p[2]) / 3;
}

static uint8_t memory[1300 * 730 * 3];

static sk_frame grey_frame(int32_t width, int32_t height, int64_t index, int level)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = SK_PIXEL_RGB;
    f.width = width;
    f.height = height;
    f.stride = 3 * (ptrdiff_t)width;
    f.data = memory;
    f.index = index;
    memset(memory, level, sizeof memory);
    return f;
}

static void sizes(void **state)
{
    (void)state;
    static const struct {
        int32_t width, height, wanted_width, wanted_height;
    } cases[] = {
        {640, 48, 640, 48}, {641, 50, 640, 49}, {1280, 720, 640, 360}, {1290, 2, 640, 1}, {64, 48, 64, 48}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_consumer *p = open_preview("p.jpg");
        const sk_frame f = grey_frame(cases[i].width, cases[i].height, 5, 90);
        sk_preview_look(p, &f);
        memset(memory, 0, sizeof memory); /* it has its own copy */
        take(p, 5, NULL, NULL);
        assert_true(wait_for(1));
        assert_int_equal(made_frame, 5);
        decoded d = decode("p.jpg");
        assert_int_equal(d.width, cases[i].wanted_width);
        assert_int_equal(d.height, cases[i].wanted_height);
        assert_true(abs(grey_at(&d, d.width - 1, d.height - 1) - 90) < 6);
        sk_free(d.rgb);
        close_preview(p);
        assert_false(sk_file_exists("p.jpg.half"));
        assert_true(sk_file_exists("p.jpg"));
        assert_int_equal(unlink("p.jpg"), 0);
    }
}

/* Planes of all formats, one behind the other or apart: luma 90 with chroma that is red in NV12 and I420. */
static void formats(void **state)
{
    (void)state;
    static uint8_t luma[32 * 18], u[32 * 9], v[32 * 9], behind[32 * 18 + 32 * 9 * 2];
    for (int i = 0; i < 5; i++) {
        sk_consumer *p = open_preview("f.jpg");
        sk_frame f = SK_FRAME_INIT;
        f.width = 16;
        f.height = 17; /* an odd one: chroma has nine rows */
        f.index = i;
        f.stride = 32;
        f.data = luma;
        memset(luma, 90, sizeof luma);
        for (size_t k = 0; k < sizeof u; k++)
            u[k] = i == 0 && k % 2 ? 200 : 100; /* NV12: U, V */
        memset(v, 200, sizeof v);
        f.format = i == 0 || i == 2 ? SK_PIXEL_NV12 : i == 4 ? SK_PIXEL_GRAY : SK_PIXEL_I420;
        if (i == 0 || i == 1)
            f.chroma = u;
        if (i == 1)
            f.chroma_v = v, f.chroma_stride = 16;
        if (i == 2) { /* no chroma given: it lies behind the luma */
            memset(behind, 90, (size_t)32 * 17);
            for (size_t k = 0; k < 32 * 9; k++)
                behind[32 * 17 + k] = k % 2 ? 200 : 100;
            f.data = behind;
        }
        if (i == 3) {
            f.chroma = u;
            f.chroma_v = v;
            f.chroma_stride = 32;
        }
        sk_preview_look(p, &f);
        memset(luma, 0, sizeof luma);
        memset(u, 0, sizeof u);
        memset(v, 0, sizeof v);
        memset(behind, 0, sizeof behind);
        take(p, i, NULL, NULL);
        assert_true(wait_for(1));
        decoded d = decode("f.jpg");
        assert_true(d.width == 16 && d.height == 17);
        for (int y = 0; y < 17; y += 4)
            for (int x = 0; x < 16; x += 5) {
                const uint8_t *c = d.rgb + ((size_t)y * 16 + (size_t)x) * 3;
                if (i == 4)
                    assert_true(abs(c[0] - 90) < 6 && abs(c[2] - 90) < 6);
                else /* red; the same of every layout */
                    assert_true(c[0] > 150 && c[1] < 90 && c[2] < 90);
            }
        sk_free(d.rgb);
        close_preview(p);
    }
}

/* What was found is drawn where it is, points wherever they lie in the list. */
static void what_was_found(void **state)
{
    (void)state;
    sk_instances found = {0};
    assert_ok(sk_instances_alloc(3, 2, &found, &err), &err);
    for (int i = 0; i < 2; i++) {
        sk_found *one = sk_instances_add(&found);
        one->has = SK_HAS_KEYPOINTS;
        one->class_id = 0;
        one->score = 1;
    }
    /* the second's points lie before the first's */
    found.items[0].first_keypoint = 2;
    found.items[1].first_keypoint = 0;
    found.keypoints[0] = (sk_keypoint){20, 80, 1};
    found.keypoints[1] = (sk_keypoint){100, 80, 1};
    found.keypoints[2] = (sk_keypoint){20, 30, 1};
    found.keypoints[3] = (sk_keypoint){100, 30, 1};
    for (int twice = 0; twice < 2; twice++) {
        sk_consumer *p = open_preview("found.jpg");
        sk_frame f = grey_frame(128, 96, 0, 128);
        if (twice) /* only one of them */
            found.count = 1;
        sk_preview_look(p, &f);
        take(p, 0, &found, NULL);
        assert_true(wait_for(1));
        decoded d = decode("found.jpg");
        int upper = 0, lower = 0, between = 0;
        for (int x = 0; x < 128; x++)
            for (int y = -1; y <= 1; y++) {
                upper += abs(grey_at(&d, x, 30 + y) - 128) > 25;
                lower += abs(grey_at(&d, x, 80 + y) - 128) > 25;
                between += abs(grey_at(&d, x, 55 + y) - 128) > 25;
            }
        assert_true(upper > 60 && between == 0);
        assert_true(twice ? lower == 0 : lower > 60);
        sk_free(d.rgb);
        close_preview(p);
    }
    sk_instances_free(&found);
}

/* Only the frame that was looked at, only when what was found in it comes, and not again at once. */
static void whose_turn_it_is(void **state)
{
    (void)state;
    sk_consumer *p = open_preview("turn.jpg");
    sk_preview_look(NULL, NULL); /* there is none */
    take(p, 0, NULL, NULL);      /* nobody looked yet */
    sk_frame f = grey_frame(64, 48, 7, 50);
    f.stride = -f.stride; /* upside down: passed over */
    sk_preview_look(p, &f);
    take(p, 7, NULL, NULL);
    f = grey_frame(64, 48, 8, 60);
    f.place = SK_PLACE_CUDA;
    sk_preview_look(p, &f); /* in a GPU's memory */
    take(p, 8, NULL, NULL);
    assert_int_equal(made_count, 0);
    f = grey_frame(64, 48, 10, 70);
    sk_preview_look(p, &f);
    f = grey_frame(64, 48, 11, 80);
    sk_preview_look(p, &f);  /* the other is waited for */
    take(p, 9, NULL, NULL);  /* an earlier one */
    take(p, 11, NULL, NULL); /* it was left out: wait for another */
    f = grey_frame(64, 48, 12, 90);
    sk_preview_look(p, &f);
    take(p, 12, NULL, "no picture");
    f = grey_frame(64, 48, 13, 100);
    sk_preview_look(p, &f);
    take(p, 12, NULL, NULL);
    assert_int_equal(made_count, 0);
    take(p, 13, NULL, NULL);
    assert_true(wait_for(1));
    assert_int_equal(made_frame, 13);
    decoded d = decode("turn.jpg");
    assert_true(abs(grey_at(&d, 30, 20) - 100) < 6);
    sk_free(d.rgb);
    f = grey_frame(64, 48, 14, 110); /* too early for the next */
    sk_preview_look(p, &f);
    take(p, 14, NULL, NULL);
    close_preview(p);
    assert_int_equal(made_count, 1);
    /* where nobody waits for the painter, the last picture is drawn at the end */
    p = open_preview("last.jpg");
    f = grey_frame(64, 48, 20, 120);
    sk_preview_look(p, &f);
    take(p, 20, NULL, NULL);
    close_preview(p);
    assert_int_equal(made_count, 1);
    assert_int_equal(made_frame, 20);
    assert_true(sk_file_exists("last.jpg"));
}

static void a_place_that_cannot_be_written(void **state)
{
    (void)state;
    sk_consumer *p = open_preview("nowhere/p.jpg");
    const sk_frame f = grey_frame(64, 48, 0, 50);
    sk_preview_look(p, &f);
    take(p, 0, NULL, NULL);
    close_preview(p);
    assert_int_equal(made_count, 0);
    assert_false(sk_file_exists("nowhere"));
    const sk_preview_wish wish = {.path = "silent.jpg"}; /* nobody wants to be told */
    p = sk_consumer_preview(&wish);
    assert_ok(p->kind->begin(p, &header, NULL, &err), &err);
    sk_preview_look(p, &f);
    take(p, 0, NULL, NULL);
    close_preview(p);
    assert_true(sk_file_exists("silent.jpg"));
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(formats),
        cmocka_unit_test(what_was_found),
        cmocka_unit_test(whose_turn_it_is),
        cmocka_unit_test(a_place_that_cannot_be_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
