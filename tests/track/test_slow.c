/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/track.h"

#include <math.h>
#include <string.h>

/* Cameras and bags that give an image every second or two: life times are in seconds, and animals keep their identities all the same. */

enum { ANIMALS = 4, LOOKS = 40 };

static int32_t see(sk_detection *out, int look, int without)
{
    int32_t n = 0;
    for (int i = 0; i < ANIMALS; i++) {
        if (i == without)
            continue;
        const double x = 100 + 150 * i + 3 * sin(look * 0.7 + i), y = 200 + 3 * cos(look * 0.9 + i);
        sk_detection *d = &out[n++];
        *d = (sk_detection){.x = x, .y = y, .score = 0.9, .class_id = 0, .identity = -1};
        d->box[0] = x - 25;
        d->box[1] = y - 10;
        d->box[2] = x + 25;
        d->box[3] = y + 10;
        sk_detection_set_oriented(d, 50, 20, 0);
        d->upright = true;
    }
    return n;
}

/* Every animal has one number from the look at which all are told of; one is not seen in every eighth look. */
static void follow(const char *method, double fps, double seconds)
{
    sk_error err = {0};
    sk_track_settings settings;
    sk_tracker *tracker = NULL;
    int32_t number[ANIMALS], told = 0;
    memset(number, -1, sizeof number);
    sk_track_defaults(&settings);
    settings.method = method;
    settings.fps = fps;
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    for (int look = 0; look < LOOKS; look++) {
        const int without = look >= 8 && look % 8 == 0 ? (look / 8) % ANIMALS : -1;
        sk_detection seen[ANIMALS];
        const sk_sighting *out = NULL;
        int32_t n_out = 0, n = see(seen, look, without);
        assert_ok(sk_tracker_step(tracker, look, look * seconds, seen, n, &out, &n_out, &err), &err);
        for (int32_t i = 0; i < n_out; i++) {
            if (out[i].detection < 0)
                continue;
            const int animal = (int)((seen[out[i].detection].x - 25) / 150);
            if (number[animal] >= 0 && number[animal] != out[i].track)
                fail_msg("%s at %g fps, a look every %g s: animal %d was %d and is %d at look %d", method,
                         fps, seconds, animal, number[animal], out[i].track, look);
            number[animal] = out[i].track;
            told++;
        }
    }
    if (told < (LOOKS - 8) * ANIMALS - LOOKS / 8)
        fail_msg("%s at %g fps, a look every %g s: only %d were told of", method, fps, seconds, told);
    sk_tracker_close(&tracker);
}

static void identities_last(void **state)
{
    static const char *const methods[] = {"skitter", "bytetrack", "ocsort"};
    static const double seconds[] = {0.04, 0.5, 1, 2, 10, 60};
    (void)state;
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 6; i++) {
            follow(methods[m], 0, seconds[i]); /* a node: nobody knows how fast the camera will be */
            follow(methods[m], 1 / seconds[i], seconds[i]); /* a bag: its rate is known */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(identities_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
