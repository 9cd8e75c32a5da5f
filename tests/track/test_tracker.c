/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/track.h"

#include <string.h>

static sk_detection at(double x, double y, double angle)
{
    sk_detection d = {.x = x, .y = y, .score = 0.9, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, 40, 10, angle);
    return d;
}

/* Two animals pass each other on crossing ways. */
static void crossing_animals_keep_their_identities(void **state)
{
    (void)state;
    sk_error err;
    sk_track_settings settings;
    sk_track_defaults(&settings);
    sk_tracker *tracker;
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    int32_t first[2] = {-1, -1};
    for (int frame = 0; frame < 60; frame++) {
        const sk_detection found[2] = {at(100 + 4 * frame, 100 + 4 * frame, 0.785398),
                                       at(100 + 4 * frame, 336 - 4 * frame, 2.356194)};
        const sk_sighting *seen;
        int32_t n;
        assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, found, 2, &seen, &n, &err), &err);
        assert_int_equal(n, 2);
        for (int i = 0; i < n; i++) {
            if (frame == 0)
                first[seen[i].detection] = seen[i].track;
            assert_int_equal(seen[i].track, first[seen[i].detection]);
            assert_int_equal(seen[i].frame, frame);
            assert_int_equal(seen[i].state, SK_TRACK_ACTIVE);
        }
    }
    sk_tracker_close(&tracker);
    assert_null(tracker);
}

static void settings_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    sk_error err;
    sk_track_settings settings;
    sk_tracker *tracker;
    sk_track_defaults(&settings);
    settings.motion.damping = 2;
    assert_int_equal(sk_tracker_open(&settings, &tracker, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "motion.damping"));
    assert_null(tracker);
    sk_track_defaults(&settings);
    settings.method = "hope";
    assert_int_equal(sk_tracker_open(&settings, &tracker, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "hope"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crossing_animals_keep_their_identities),
                                       cmocka_unit_test(settings_that_make_no_sense_are_refused_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
