/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of many small worlds, frame by frame and of whole videos: in a few numbers each, it stays what it is. */
#include "support/test.h"

#include "recorded_world.h"
#include "track/offline.h"

#include <stdlib.h>

/* What was told of a world. Places and sizes count from what was found there: a small difference shows in a small sum. */
typedef struct world_told {
    recorded_sum who, place, guessed, axes, sizes, sure, uncertain, box;
    int count;
} world_told;

static void note(world_told *t, const sk_sighting *s, const sk_detection *found)
{
    static const sk_detection nobody;
    const sk_detection *d = s->detection >= 0 ? &found[s->detection] : &nobody;
    recorded_sum *place = s->detection >= 0 ? &t->place : &t->guessed;
    t->count++;
    recorded_add(&t->who, (double)s->track + 0.1 * s->place + 0.01 * s->detection + 7 * (int)s->state +
                              0.37 * s->class_id + 0.001 * (double)s->frame);
    recorded_add(place, s->x - d->x);
    recorded_add(place, s->y - d->y);
    recorded_add(&t->axes, s->heading);
    recorded_add(&t->axes, s->angle);
    recorded_add(&t->sizes, s->major - d->major);
    recorded_add(&t->sizes, s->minor - d->minor);
    recorded_add(&t->sure, s->score);
    recorded_add(&t->sure, s->certainty);
    recorded_add(&t->uncertain, s->uncertainty);
    for (int i = 0; i < 4; i++)
        recorded_add(&t->box, s->box.upright[i] - d->box[i]);
    const double turned[] = {d->x, d->y, d->major, d->minor, 0};
    for (int i = 0; i < 5; i++)
        recorded_add(&t->box, s->box.turned[i] - turned[i]);
}

/* Each from 10 on, so that what is 0 but for rounding is the same everywhere. */
static void say(const world_told *t, const char *what)
{
    recorded_say("%s: %d %.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g", what, t->count, 10 + t->who.sum,
                 10 + t->place.sum, 10 + t->guessed.sum, 10 + t->axes.sum, 10 + t->sizes.sum,
                 10 + t->sure.sum, 10 + t->uncertain.sum, 10 + t->box.sum);
}

static void frame_by_frame(void **state)
{
    (void)state;
    const char *const *methods = sk_track_methods();
    for (unsigned seed = 0; seed < 240; seed++) {
        static world w;
        static seen_frame seen;
        sk_error err;
        sk_tracker *tracker;
        sk_track_settings settings;
        world_told told = {0};
        char what[80];
        make_world(&w, seed, 90);
        sk_track_defaults(&settings);
        choose_settings(&w, &settings, seed % 4 * 0.1);
        settings.method = methods[seed % 5 < 3 ? 0 : seed % 5 - 2];
        assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
        int64_t frame = -1;
        double time = 0;
        while (frame < w.frames) {
            const sk_sighting *out;
            int32_t n;
            look(&w, &seen);
            if (!next_moment(&w, &frame, &time))
                continue;
            assert_ok(sk_tracker_step(tracker, frame, time, seen.found, seen.n, &out, &n, &err), &err);
            for (int32_t i = 0; i < n; i++)
                note(&told, &out[i], seen.found);
        }
        sk_tracker_close(&tracker);
        snprintf(what, sizeof what, "%u %s %s", seed, settings.method, scene_names[w.kind]);
        say(&told, what);
    }
    recorded_check("tests/fixtures/track/recorded/worlds.txt");
}

static void whole_videos(void **state)
{
    (void)state;
    enum { LONGEST = 900 };
    sk_detection(*found)[MOST_FOUND] = malloc(LONGEST * sizeof *found);
    assert_non_null(found);
    for (unsigned seed = 1000; seed < 1072; seed++) {
        static world w;
        static seen_frame seen;
        sk_error err;
        sk_offline *offline;
        sk_offline_settings settings;
        world_told told = {0};
        char what[80];
        make_world(&w, seed, seed % 24 == 5 ? LONGEST : 140);
        sk_offline_defaults(&settings);
        choose_settings(&w, &settings.track, seed % 4 * 0.06);
        settings.track.method = sk_track_methods()[seed % 7 < 5 ? 0 : seed % 7 - 4];
        settings.backward = recorded_chance(&w.dice) < 0.85;
        settings.upstream = recorded_chance(&w.dice) < 0.2;
        settings.stitch_gap = one_of(&w.dice, 4, 0, 0.6);
        settings.method = (sk_interpolation)(int)one_of(&w.dice, SK_INTERPOLATION_LINEAR,
                                                        SK_INTERPOLATION_CUBIC, SK_INTERPOLATION_LINEAR);
        settings.interpolate_gap = one_of(&w.dice, 0.5, 2, 0.1);
        settings.flip_burst = (int32_t)one_of(&w.dice, 5, 1, 20);
        settings.shortest = one_of(&w.dice, 0.33, 0, 1);
        settings.velocity_limit = one_of(&w.dice, 0, 0, 12);
        settings.smoothing = one_of(&w.dice, 0, 0, 0.5);
        assert_ok(sk_offline_open(&settings, NULL, &offline, &err), &err);
        int64_t frame = 6;
        double time = 3;
        while (frame < w.frames) {
            look(&w, &seen);
            if (!next_moment(&w, &frame, &time))
                continue;
            memcpy(found[sk_offline_frames(offline)], seen.found, sizeof seen.found);
            assert_ok(sk_offline_add(offline, frame, time, seen.found, seen.n, &err), &err);
        }
        assert_ok(sk_offline_finish(offline, &err), &err);
        for (int64_t at = 0; at < sk_offline_frames(offline); at++) {
            const sk_sighting *out;
            int32_t n;
            assert_ok(sk_offline_read(offline, at, &frame, &out, &n, &err), &err);
            for (int32_t i = 0; i < n; i++)
                note(&told, &out[i], found[at]);
        }
        snprintf(what, sizeof what, "%u %s %s: %d tracks", seed, settings.track.method, scene_names[w.kind],
                 sk_offline_tracks(offline));
        sk_offline_close(&offline);
        say(&told, what);
    }
    free(found);
    recorded_check("tests/fixtures/track/recorded/worlds_whole.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frame_by_frame), cmocka_unit_test(whole_videos)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
