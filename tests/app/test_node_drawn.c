/* SPDX-License-Identifier: Apache-2.0 */
/* What a node draws: the picture as it came, in whatever form, pixel by pixel; and over it what the overlay draws of the same animals. Who
 * is told of many, of whom some cannot be followed; and what is told where memory ends. */
#include "node_fixture.h"
#include "support/fault.h"
#include "support/frame_formats.h"

#include "app/overlay_run.h"
#include "base/instances.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define SECOND ((int64_t)1000000000)
#define MANY   9 /* one more than the smallest block has room for */

static sk_found items[MANY];
static sk_keypoint points[3 * MANY];
static sk_instances all = {.items = items, .capacity = MANY, .keypoints = points, .n_keypoints = 3};
static sk_result found = {.instances = &all, .width = 640, .height = 480};

/* A result that was made by hand instead of found. */
static void put_out(sk_node_core *c, const sk_frame *frame, int64_t number)
{
    found.frame = frame;
    found.width = frame->width;
    found.height = frame->height;
    c->out.of = &found;
    c->out.told = (sk_node_result){.size = sizeof c->out.told, .stamp_ns = SECOND + number * SECOND / 25};
    assert_ok(sk_node_follow(c, &err), &err);
}

static void take_away(sk_node_core **core)
{
    (*core)->out.of = NULL; /* it was not the pipeline's */
    sk_node_core_close(core);
}

/* As a picture that people look at. */
static uint8_t *rgb_of(const sk_frame *plain)
{
    const size_t n = (size_t)plain->width * (size_t)plain->height;
    uint8_t *out = malloc(3 * n);
    assert_non_null(out);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            out[3 * i + k] = plain->format == SK_PIXEL_GRAY  ? plain->data[i]
                             : plain->format == SK_PIXEL_BGR ? plain->data[3 * i + 2 - k]
                                                             : plain->data[3 * i + k];
    return out;
}

static void a_picture_stays_what_it_is(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{8, 6}, {64, 3}, {2, 1}, {30, 20}};
    sk_node_core *core = open_core("Detect", false);
    all.count = 0;
    for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_YUYV; format++)
        for (uint32_t i = 0; i < 4; i++) {
            any_frame any = any_frame_make((sk_pixel_format)format, sizes[i][0], sizes[i][1], 3 * i + 1);
            const size_t bytes = 3 * (size_t)sizes[i][0] * (size_t)sizes[i][1];
            uint8_t *wanted = rgb_of(&any.plain), *drawn = malloc(bytes);
            assert_non_null(drawn);
            for (int nobody = 0; nobody < 2; nobody++) {
                put_out(core, &any.frame, 0);
                if (nobody)
                    core->out.told.instances = NULL;
                memset(drawn, 0x55, bytes);
                assert_ok(sk_node_core_draw(core, &core->out.told, drawn, bytes, &err), &err);
                assert_memory_equal(drawn, wanted, bytes);
            }
            free(drawn);
            free(wanted);
            any_frame_free(&any);
        }
    take_away(&core);
}

/* --- animals on it --- */

static void put_animals(int32_t count, int64_t frame)
{
    for (int32_t i = 0; i < count; i++) {
        const float x = 10 + 62 * (float)(i % 5) + (float)frame, y = 20 + 80 * (float)(i / 5);
        items[i] = (sk_found){.score = 0.9F,
                              .class_id = i % 2,
                              .track_id = -1,
                              .has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .first_keypoint = 3 * i,
                              .box = {x, y, x + 40, y + 30}};
        for (int k = 0; k < 3; k++)
            points[3 * i + k] = (sk_keypoint){x + 15 * (float)k, y + 10, 1};
    }
    all.count = count;
}

static void compare(const uint8_t *drawn, const uint8_t *wanted, const uint8_t *plain, size_t bytes)
{
    size_t changed = 0;
    for (size_t i = 0; i < bytes; i++)
        changed += drawn[i] != plain[i];
    assert_true(changed > 1000);
    assert_memory_equal(drawn, wanted, bytes);
}

/* An overlay of its own that draws on a copy: the same, with tracks where they are followed. */
static void animals_are_drawn_on_it(void **state)
{
    (void)state;
    for (int follow = 0; follow < 2; follow++) {
        sk_node_core *core = open_core("Pose", follow);
        const sk_pipeline_info *about = sk_node_core_about(core);
        sk_overlay_settings how;
        sk_overlay *overlay = NULL;
        any_frame any = any_frame_make(SK_PIXEL_RGB, 360, 200, 4);
        const size_t bytes = (size_t)3 * 360 * 200;
        uint8_t *plain = rgb_of(&any.plain), *wanted = malloc(bytes), *drawn = malloc(bytes);
        assert_true(wanted && drawn);
        sk_overlay_defaults(&how);
        how.n_classes = about->n_classes;
        how.class_names = about->class_names;
        how.n_edges = about->n_edges;
        how.edges = about->edges;
        assert_true(how.n_classes == 2);
        assert_ok(sk_overlay_open(&how, &overlay, &err), &err);
        for (int64_t f = 0; f < 6; f++) {
            put_animals(MANY, f);
            any.frame.index = f;
            put_out(core, &any.frame, f);
            memset(drawn, 0, bytes);
            assert_ok(sk_node_core_draw(core, &core->out.told, drawn, bytes, &err), &err);
            memcpy(wanted, plain, bytes);
            sk_frame canvas = any.plain;
            canvas.index = f;
            canvas.data = wanted;
            if (follow) {
                sk_overlay_track tracks[MANY];
                assert_in_range(core->out.told.n_tracks, 0, MANY);
                for (int32_t i = 0; i < core->out.told.n_tracks; i++)
                    tracks[i] = sk_overlay_track_of(&core->out.tracks.sightings[i]);
                sk_overlay_draw_tracks(overlay, &canvas, core->out.tracks.instances, tracks);
            } else {
                sk_overlay_draw(overlay, &canvas, &all);
            }
            if (!follow || f > 3)
                compare(drawn, wanted, plain, bytes);
            else
                assert_memory_equal(drawn, wanted, bytes);
        }
        assert_int_equal(core->out.told.n_tracks, follow ? MANY : 0);
        sk_overlay_close(&overlay);
        free(drawn);
        free(wanted);
        free(plain);
        any_frame_free(&any);
        take_away(&core);
    }
}

/* All of them are followed; then some have no shape any more, the first and the last too: those are nobody's. */
static void many_have_each_their_own(void **state)
{
    (void)state;
    sk_node_core *core = open_core("Detect", true);
    sk_frame frame = SK_FRAME_INIT;
    int32_t ids[MANY];
    frame.width = 640, frame.height = 480;
    for (int64_t f = 0; f < 12; f++) {
        put_animals(MANY, f);
        for (int32_t i = 0; i < MANY; i++)
            items[i].has = f == 11 && i % 4 == 0 ? 0 : SK_HAS_BOX;
        put_out(core, &frame, f);
        for (int32_t i = 0; i < MANY; i++) {
            sk_node_object o = SK_NODE_OBJECT_INIT;
            assert_true(sk_node_result_object(&core->out.told, i, &o));
            if (f == 10) {
                assert_true(o.track >= 0);
                ids[i] = o.track;
                for (int32_t k = 0; k < i; k++)
                    assert_int_not_equal(ids[k], ids[i]);
            } else if (f == 11) {
                assert_int_equal(o.track, i % 4 == 0 ? -1 : ids[i]);
            }
        }
    }
    take_away(&core);
}

/* --- without memory --- */

static sk_status open_again(void *context, sk_error *error)
{
    const sk_node_core *like = context;
    sk_node_core c = {.settings = like->settings, .pipeline = like->pipeline};
    const sk_status status = sk_node_open_told(&c, error);
    assert_int_equal(c.overlay && c.class_numbers && c.teller, status == SK_OK);
    sk_node_close_told(&c);
    return status;
}

static void without_memory(void **state)
{
    (void)state;
    sk_node_core *core = open_core("Detect", true);
    assert_true(test_every_allocation(open_again, core) >= 4);
    sk_node_core_close(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_stays_what_it_is),
        cmocka_unit_test(animals_are_drawn_on_it),
        cmocka_unit_test(many_have_each_their_own),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
