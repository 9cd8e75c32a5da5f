/* SPDX-License-Identifier: Apache-2.0 */
/* So many animals are there: one that is suddenly elsewhere is who is missing, and never where another one is seen. */
#include "support/test.h"

#include "track/track.h"

static sk_detection at(double x, double y)
{
    sk_detection d = {.x = x, .y = y, .score = 0.9, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, 40, 10, 0);
    sk_detection_set_box(&d);
    return d;
}

static void who_is_missing_is_who_is_seen_far_away(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) /* which of the two is detected first */
        for (int jumper = 0; jumper < 2; jumper++) {
            sk_error err;
            sk_track_settings settings;
            sk_tracker *tracker;
            sk_track_defaults(&settings);
            settings.fps = 25;
            settings.animals = 2;
            assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
            int32_t track_of[2] = {-1, -1};
            for (int frame = 0; frame < 130; frame++) {
                const bool away = frame >= 100; /* they have been counted for long enough */
                const sk_detection animals[2] = {at(jumper == 0 && away ? 900 : 100, 100),
                                                 at(jumper == 1 && away ? 900 : 200, 100)};
                const sk_detection found[2] = {animals[order], animals[!order]};
                const sk_sighting *seen;
                int32_t n;
                assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, found, 2, &seen, &n, &err), &err);
                if (frame < 20)
                    continue;
                assert_int_equal(n, 2);
                for (int i = 0; i < 2; i++) {
                    assert_in_range(seen[i].detection, 0, 1);
                    const int who = seen[i].detection ^ order;
                    assert_true(track_of[who] < 0 || track_of[who] == seen[i].track);
                    track_of[who] = seen[i].track;
                }
                assert_true(seen[0].detection != seen[1].detection);
            }
            sk_tracker_close(&tracker);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_missing_is_who_is_seen_far_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
