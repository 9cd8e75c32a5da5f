/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/offline.h"

#include <math.h>

/* Gaps of the offline chain: straight, or on the spline that the whole track's positions give. */

enum { FRAMES = 300 };

static bool is_hidden(int frame)
{
    return frame % 29 > 22 || (frame > 3 && frame < 8) || (frame > 290 && frame < 297);
}

static sk_detection animal(int frame)
{
    const double t = 0.05 * frame;
    sk_detection d = {.x = 300 + 150 * cos(t), .y = 240 + 120 * sin(1.3 * t), .score = 0.9};
    d.class_id = d.identity = -1;
    sk_detection_set_oriented(&d, 40, 12, fmod(t + 1.57, 3.14));
    sk_detection_set_box(&d);
    return d;
}

static sk_offline *track(sk_interpolation method)
{
    sk_error err;
    sk_offline *o;
    sk_offline_settings s;
    sk_offline_defaults(&s);
    s.track.fps = 25;
    s.track.animals = 1;
    s.method = method;
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    for (int f = 0; f < FRAMES; f++) {
        const sk_detection d = animal(f);
        assert_ok(sk_offline_add(o, f, f / 25.0, &d, !is_hidden(f), &err), &err);
    }
    assert_ok(sk_offline_finish(o, &err), &err);
    assert_int_equal(sk_offline_tracks(o), 1);
    return o;
}

static void gaps_are_filled_as_one_tracklet_would_be(void **state)
{
    (void)state;
    const sk_interpolation methods[] = {SK_INTERPOLATION_LINEAR, SK_INTERPOLATION_CUBIC};
    for (int m = 0; m < 2; m++) {
        sk_error err;
        sk_interpolate_settings s;
        sk_interpolate_defaults(&s);
        s.method = methods[m];
        s.gap = 12;
        sk_tracklet whole = {0};
        for (int f = 0; f < FRAMES; f++) {
            const sk_detection d = animal(f);
            const sk_seen seen = {.frame = f, .x = d.x, .y = d.y, .heading = d.angle};
            if (!is_hidden(f))
                assert_ok(sk_tracklet_append(&whole, &seen, &err), &err);
        }
        assert_ok(sk_tracklet_interpolate(&whole, &s, &err), &err);
        sk_offline *o = track(methods[m]);
        double farthest = 0;
        int filled = 0;
        for (int f = 0; f < FRAMES; f++) {
            const sk_sighting *seen;
            int64_t frame;
            int32_t n;
            assert_ok(sk_offline_read(o, f, &frame, &seen, &n, &err), &err);
            assert_int_equal(n, 1);
            filled += seen->detection < 0;
            const double off = hypot(seen->x - whole.items[f].x, seen->y - whole.items[f].y);
            if (!(off < 1e-6))
                fail_msg("method %d, frame %d: %g pixels off", m, f, off);
            const sk_detection d = animal(f);
            farthest = fmax(farthest, hypot(seen->x - d.x, seen->y - d.y));
        }
        assert_true(filled > 60);
        if (m ? farthest > 1 : farthest < 3) /* a curve is followed by the one, cut by the other */
            fail_msg("method %d: %g pixels from the animal", m, farthest);
        sk_offline_close(&o);
        sk_tracklet_free(&whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps_are_filled_as_one_tracklet_would_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
