/* SPDX-License-Identifier: Apache-2.0 */
/* What is drawn into a caller's picture: which pictures are taken, and which instances with whose numbers the overlay is given. The
 * overlay is this test's own. */
#include "support/fault.h"
#include "support/test.h"

#include "base/instances.h"
#include "base/memory.h"
#include "media/overlay.h"
#include "skitter/draw.h"

#include <string.h>

static sk_error err;
static sk_overlay_settings opened;
static sk_frame drawn_on;
static const sk_instances *drawn;
static sk_found drawn_items[4];
static int times;

void sk_overlay_defaults(sk_overlay_settings *settings)
{
    *settings = (sk_overlay_settings){.what = 11, .trail = 30};
}

sk_status sk_overlay_open(const sk_overlay_settings *settings, sk_overlay **out, sk_error *error)
{
    opened = *settings;
    *out = sk_calloc(1, 1);
    return *out ? SK_OK : sk_fail_memory(error, 1);
}

void sk_overlay_close(sk_overlay **overlay)
{
    sk_free(*overlay);
    *overlay = NULL;
}

void sk_overlay_draw(sk_overlay *overlay, sk_frame *frame, const sk_instances *instances)
{
    assert_non_null(overlay);
    times++;
    drawn = instances;
    drawn_on = *frame;
    assert_true(instances->count <= 4);
    memcpy(drawn_items, instances->items, (size_t)instances->count * sizeof *drawn_items);
}

static const char *const names[] = {"fly", "bee"};
static const int32_t edges[][2] = {{0, 1}};
static const sk_pipeline_info about = {.n_classes = 2, .class_names = names, .n_edges = 1, .edges = edges};
static uint8_t pixels[3 * 8 * 4];
static sk_found items[3];
static sk_keypoint points[6];
static sk_instances list = {.items = items, .count = 3, .capacity = 3, .n_keypoints = 2, .keypoints = points};

static sk_frame canvas_of(void)
{
    for (int i = 0; i < 3; i++)
        items[i] = (sk_found){.class_id = i, .score = 0.5F, .first_keypoint = 2 * i, .track_id = -1};
    times = 0;
    return (sk_frame){.size = sizeof(sk_frame),
                      .format = SK_PIXEL_RGB,
                      .width = 8,
                      .height = 4,
                      .stride = 24,
                      .data = pixels};
}

static void whose_numbers(void **state)
{
    (void)state;
    static const int32_t ids[] = {40, -1, 42};
    sk_frame canvas = canvas_of();
    assert_ok(sk_draw_instances(&about, &list, NULL, &canvas, &err), &err);
    assert_true(times == 1 && drawn == &list && drawn_on.data == pixels && drawn_on.width == 8);
    assert_true(opened.n_classes == 2 && opened.class_names == names && opened.n_edges == 1 &&
                opened.edges == edges && opened.what == 11);
    for (int32_t n = 0; n < 4; n++) { /* so many of them */
        list.count = n;
        assert_ok(sk_draw_instances(&about, &list, ids, &canvas, &err), &err);
        assert_true(times == 2 + n && drawn != &list);
        for (int32_t i = 0; i < n; i++)
            assert_true(drawn_items[i].track_id == ids[i] && drawn_items[i].class_id == i &&
                        drawn_items[i].score == 0.5F && drawn_items[i].first_keypoint == 2 * i);
        for (int i = 0; i < 3; i++) /* the caller's stay as they were */
            assert_int_equal(items[i].track_id, -1);
    }
    list.count = 3;
    assert_ok(sk_draw_instances(&about, NULL, ids, &canvas, &err), &err); /* a frame that failed */
    assert_int_equal(times, 5);
}

static void which_pictures(void **state)
{
    (void)state;
    static const struct {
        sk_pixel_format format;
        int32_t width, height;
        ptrdiff_t stride;
        bool device, taken;
    } rows[] = {{SK_PIXEL_RGB, 8, 4, 24, false, true},   {SK_PIXEL_BGR, 8, 4, 24, false, true},
                {SK_PIXEL_GRAY, 8, 4, 24, false, false}, {SK_PIXEL_NV12, 8, 4, 24, false, false},
                {SK_PIXEL_RGB, 8, 4, 24, true, false},   {SK_PIXEL_RGB, 8, 4, 23, false, false},
                {SK_PIXEL_RGB, 7, 4, 24, false, true},   {SK_PIXEL_RGB, 1, 1, 3, false, true},
                {SK_PIXEL_RGB, 0, 4, 24, false, false},  {SK_PIXEL_RGB, 8, 0, 24, false, false},
                {SK_PIXEL_RGB, 0, 0, 24, false, false},  {SK_PIXEL_RGB, 8, 4, -24, false, false},
                {SK_PIXEL_BGR, -1, 4, 24, false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_frame canvas = canvas_of();
        canvas.format = rows[i].format;
        canvas.width = rows[i].width, canvas.height = rows[i].height, canvas.stride = rows[i].stride;
        canvas.place = rows[i].device ? SK_PLACE_CUDA : SK_PLACE_HOST;
        const sk_status status = sk_draw_instances(&about, &list, NULL, &canvas, &err);
        if (status != (rows[i].taken ? SK_OK : SK_ERR_ARG) || times != rows[i].taken)
            fail_msg("row %zu", i);
        if (!rows[i].taken)
            assert_string_equal(err.message, "drawing needs a picture of RGB or BGR in ordinary memory");
    }
    sk_frame canvas = canvas_of();
    assert_int_equal(sk_draw_instances(NULL, &list, NULL, &canvas, &err), SK_ERR_ARG);
    assert_int_equal(sk_draw_instances(&about, &list, NULL, NULL, &err), SK_ERR_ARG);
    canvas.data = NULL;
    assert_int_equal(sk_draw_instances(&about, &list, NULL, &canvas, &err), SK_ERR_ARG);
    assert_int_equal(times, 0);
}

static sk_status draw(void *context, sk_error *error)
{
    static const int32_t ids[] = {1, 2, 3};
    return sk_draw_instances(&about, &list, ids, context, error);
}

static void without_memory(void **state)
{
    (void)state;
    sk_frame canvas = canvas_of();
    assert_int_equal(test_every_allocation(draw, &canvas), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_numbers), cmocka_unit_test(which_pictures),
                                       cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
