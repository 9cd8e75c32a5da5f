/* SPDX-License-Identifier: Apache-2.0 */
/* Every method and every way to make whole tracks where one allocation after another fails: the answer says so, nothing is left
 * behind, nothing is used that is not there. */
#include "support/fault.h"

#include "recorded_world.h"
#include "track/offline.h"

typedef struct trial {
    sk_offline_settings settings;
    scene_kind kind;
    int frames;
} trial;

static sk_status follow(void *context, sk_error *err)
{
    const trial *t = context;
    static world w;
    static seen_frame seen;
    sk_tracker *tracker = NULL;
    make_world(&w, 30 + (unsigned)t->kind, t->frames);
    sk_status status = sk_tracker_open(&t->settings.track, &tracker, err);
    for (int frame = 0; frame < t->frames && status == SK_OK; frame++) {
        const sk_sighting *out;
        int32_t n;
        look(&w, &seen);
        status = sk_tracker_step(tracker, frame, frame / 25.0, seen.found, seen.n, &out, &n, err);
    }
    if (status != SK_OK && tracker) { /* it can be asked again, and closed */
        const sk_sighting *out;
        int32_t n;
        sk_error other;
        (void)!sk_tracker_step(tracker, 1000, NAN, seen.found, seen.n, &out, &n, &other);
    }
    sk_tracker_close(&tracker);
    assert_null(tracker);
    return status;
}

static sk_status decide(void *context, sk_error *err)
{
    const trial *t = context;
    static world w;
    static seen_frame seen;
    sk_offline *offline = NULL;
    make_world(&w, 60 + (unsigned)t->kind, t->frames);
    sk_status status = sk_offline_open(&t->settings, NULL, &offline, err);
    for (int frame = 0; frame < t->frames && status == SK_OK; frame++) {
        look(&w, &seen);
        status = sk_offline_add(offline, frame, frame / 25.0, seen.found, seen.n, err);
    }
    if (status == SK_OK)
        status = sk_offline_finish(offline, err);
    for (int64_t at = 0; status == SK_OK && at < sk_offline_frames(offline); at++) {
        const sk_sighting *out;
        int32_t n;
        int64_t frame;
        status = sk_offline_read(offline, at, &frame, &out, &n, err);
    }
    sk_offline_close(&offline);
    assert_null(offline);
    return status;
}

static void every_method(void **state)
{
    (void)state;
    for (const char *const *method = sk_track_methods(); *method; method++)
        for (int kind = 0; kind < SCENE_KINDS; kind += 1 + (*method)[0] % 3) {
            trial t = {.kind = (scene_kind)kind, .frames = 12};
            sk_offline_defaults(&t.settings);
            t.settings.track.method = *method;
            t.settings.track.fps = 25;
            t.settings.track.animals = kind % 2 ? 4 : 0;
            assert_true(test_every_allocation(follow, &t) > 10);
        }
}

static void every_way_to_whole_tracks(void **state)
{
    (void)state;
    for (int way = 0; way < 6; way++) {
        trial t = {.kind = (scene_kind)way, .frames = 16};
        sk_offline_defaults(&t.settings);
        t.settings.track.fps = 25;
        t.settings.shortest = 0.1;
        t.settings.upstream = way == 1 || way == 4;
        t.settings.backward = way != 2;
        t.settings.method = way % 2 ? SK_INTERPOLATION_CUBIC : SK_INTERPOLATION_LINEAR;
        t.settings.smoothing = way == 3 ? 0.3 : 0;
        t.settings.track.animals = way == 5 ? 3 : 0;
        assert_true(test_every_allocation(decide, &t) > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_method),
                                       cmocka_unit_test(every_way_to_whole_tracks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
